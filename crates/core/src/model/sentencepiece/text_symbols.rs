//! The characters, user-defined pieces and words of a text, and their ids.

use crate::spec::{PieceType, ScoredPiece};
use crate::text::{PrefixSet, METASPACE};
use crate::vocab::Vocab;

/// Divides texts into symbols and looks up their ids, by the types of the pieces.
#[derive(Clone, Debug)]
pub(super) struct TextSymbols {
    pub(super) unk_id: u32,
    /// By id.
    pub(super) kinds: Vec<PieceType>,
    /// User-defined pieces, which are never split.
    user_defined: Option<PrefixSet>,
}

impl TextSymbols {
    pub(super) fn of(pieces: &[ScoredPiece], unk_id: u32) -> Self {
        let user_defined = pieces.iter().filter(|piece| piece.kind == PieceType::UserDefined);
        Self {
            unk_id,
            kinds: pieces.iter().map(|piece| piece.kind).collect(),
            user_defined: PrefixSet::build(user_defined.map(|piece| piece.text.as_str())),
        }
    }

    /// Call `visit` with each character or user-defined piece of a text from a byte on, and whether it is the latter.
    pub(super) fn for_each_symbol(
        &self,
        text: &str,
        mut at: usize,
        mut visit: impl FnMut(usize, usize, bool),
    ) {
        while let Some(c) = text[at..].chars().next() {
            let symbol = self.user_defined.as_ref().and_then(|pieces| pieces.end_at(text, at));
            let end = symbol.unwrap_or(at + c.len_utf8());
            visit(at, end, symbol.is_some());
            at = end;
        }
    }

    /// The start and end of the next user-defined piece from a byte on; the end of the text twice without one.
    pub(super) fn next_symbol(&self, text: &str, from: usize) -> (usize, usize) {
        let end = (text.len(), text.len());
        let Some(pieces) = &self.user_defined else { return end };
        let begins = |at: &usize| pieces.begin_with(text.as_bytes()[*at]);
        let found = (from..text.len()).filter(begins).find_map(|at| Some((at, pieces.end_at(text, at)?)));
        found.unwrap_or(end)
    }

    /// Call `visit` with each word of a text, which begins with its metaspace.
    pub(super) fn for_each_word(&self, text: &str, mut visit: impl FnMut(usize, usize)) {
        let mut start = 0;
        for (at, _) in text.match_indices(METASPACE).filter(|&(at, _)| at > 0) {
            visit(start, at);
            start = at;
        }
        if start < text.len() {
            visit(start, text.len());
        }
    }

    /// The id of a text; the unknown id for control pieces.
    pub(super) fn id_of(&self, text: &str, vocab: &Vocab) -> u32 {
        let id = vocab.id_of(text).unwrap_or(self.unk_id);
        match self.kinds[id as usize] {
            PieceType::Control => self.unk_id,
            _ => id,
        }
    }

    pub(super) fn is_unused(&self, id: u32) -> bool {
        self.kinds[id as usize] == PieceType::Unused
    }
}
