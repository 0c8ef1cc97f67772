//! Byte fallback tokens: `<0x00>` to `<0xFF>`.

use crate::text::byte_entry;
use crate::vocab::Vocab;

const NONE: u32 = u32::MAX;

/// The ids of the byte tokens in a vocabulary.
#[derive(Clone, Debug)]
pub(super) struct ByteTokens {
    ids: Vec<u32>,
}

impl ByteTokens {
    pub(super) fn collect(vocab: &Vocab) -> Self {
        let entry = |byte| vocab.id_of(&byte_entry(byte)).unwrap_or(NONE);
        Self { ids: (0..=u8::MAX).map(entry).collect() }
    }

    /// Return whether every byte of a text has a token.
    pub(super) fn has_all(&self, text: &str) -> bool {
        text.bytes().all(|byte| self.id(byte) != NONE)
    }

    /// Return the id of a byte that has a token.
    pub(super) fn id(&self, byte: u8) -> u32 {
        self.ids[usize::from(byte)]
    }
}
