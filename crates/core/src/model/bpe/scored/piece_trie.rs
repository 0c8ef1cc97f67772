//! The pieces of a model with their texts, and those that match text, by their bytes.

use crate::double_array::Trie;
use crate::error::Error;
use crate::model::pieces::Pieces;
use crate::spec::PieceType;
use crate::vocab::Vocab;

/// A trie of the normal, user-defined and unused pieces.
#[derive(Clone, Debug)]
pub(super) struct PieceTrie {
    trie: Trie,
}

impl PieceTrie {
    /// Build the trie.
    pub(super) fn build(pieces: PieceTexts<'_>) -> Result<Self, Error> {
        let found = pieces.ids().filter(|&id| pieces.is_found(id));
        let keys = found.map(|id| (pieces.text(id).as_bytes(), id)).collect();
        Ok(Self { trie: Trie::build([keys])?.0 })
    }

    /// Return the id of the piece with this text.
    #[inline]
    pub(super) fn id_of(&self, text: &str) -> Option<u32> {
        let state = text.bytes().try_fold(0, |state, byte| self.trie.child(state, byte))?;
        self.trie.entry(state)
    }

    /// Call `visit` with the id and the length of every piece that a text begins with, the shortest first.
    pub(super) fn each_prefix(&self, text: &str, mut visit: impl FnMut(u32, usize)) {
        let mut state = 0;
        for (end, byte) in (1..).zip(text.bytes()) {
            let Some(next) = self.trie.child(state, byte) else { return };
            state = next;
            if let Some(id) = self.trie.entry(state) {
                visit(id, end);
            }
        }
    }
}

/// The texts and types of pieces, by id.
#[derive(Clone, Copy)]
pub(super) struct PieceTexts<'p> {
    pub(super) pieces: &'p Pieces,
    pub(super) vocab: &'p Vocab,
}

impl<'p> PieceTexts<'p> {
    /// Return the ids of all pieces.
    pub(super) fn ids(self) -> impl Iterator<Item = u32> {
        0..self.count()
    }

    /// Return the number of pieces.
    pub(super) fn count(self) -> u32 {
        self.pieces.count() as u32
    }

    pub(super) fn text(self, id: u32) -> &'p str {
        self.vocab.token_of(id).unwrap_or_default()
    }

    /// Return the first character of a piece, if it has only this one.
    pub(super) fn only_char(self, id: u32) -> Option<char> {
        let mut chars = self.text(id).chars();
        chars.next().filter(|_| chars.next().is_none())
    }

    pub(super) fn is_normal(self, id: u32) -> bool {
        self.pieces.kind(id) == Some(PieceType::Normal)
    }

    /// Return whether any piece has a type.
    pub(super) fn has(self, kind: PieceType) -> bool {
        self.ids().any(|id| self.pieces.kind(id) == Some(kind))
    }

    /// Return whether a piece matches text.
    pub(super) fn is_found(self, id: u32) -> bool {
        let kind = self.pieces.kind(id);
        kind.is_some_and(|kind| {
            matches!(kind, PieceType::Normal | PieceType::UserDefined | PieceType::Unused)
        })
    }

    /// Return the id of the piece that matches a text, by a lookup in the vocabulary.
    pub(super) fn id_of(self, text: &str) -> Option<u32> {
        self.vocab.id_of(text).filter(|&id| self.is_found(id))
    }
}
