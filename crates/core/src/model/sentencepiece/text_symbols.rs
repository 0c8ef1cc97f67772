//! The characters, user-defined pieces and words of a text, and their ids.

use super::SentencePiece;
use crate::spec::PieceType;
use crate::text::METASPACE;
use crate::vocab::Vocab;

impl SentencePiece {
    /// Call `visit` with each character or user-defined piece of a text from a byte on, and whether it is the latter.
    pub(super) fn for_each_symbol(
        &self,
        text: &str,
        mut at: usize,
        mut visit: impl FnMut(usize, usize, bool),
    ) {
        while let Some(c) = text[at..].chars().next() {
            let symbol = self.symbols.as_ref().and_then(|symbols| symbols.end_at(text, at));
            let end = symbol.unwrap_or(at + c.len_utf8());
            visit(at, end, symbol.is_some());
            at = end;
        }
    }

    /// The start and end of the next user-defined piece from a byte on; the end of the text twice without one.
    pub(super) fn next_symbol(&self, text: &str, from: usize) -> (usize, usize) {
        let end = (text.len(), text.len());
        let Some(symbols) = &self.symbols else { return end };
        let begins = |at: &usize| symbols.begin_with(text.as_bytes()[*at]);
        let found = (from..text.len()).filter(begins).find_map(|at| Some((at, symbols.end_at(text, at)?)));
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
