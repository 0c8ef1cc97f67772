//! The pieces that match text, by their bytes.

use super::piece_texts::PieceTexts;
use crate::double_array::Trie;
use crate::error::Error;

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
