//! Vocabulary entries as models emit them, and byte fallback tokens: `<0x00>` to `<0xFF>`.

use crate::text::byte_entry;
use crate::vocab::Vocab;

/// A vocabulary entry with the byte span of the word that it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenSpan {
    /// Vocabulary id.
    pub id: u32,
    /// First byte.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
}

/// A word of a batch.
#[derive(Clone, Copy, Debug)]
pub struct BatchWord {
    /// The byte span of the word.
    pub bytes: (usize, usize),
    /// The span of its ids in the output.
    pub ids: (usize, usize),
}

/// Receives the output of a model: ids alone, or ids with spans.
pub trait TokenSink {
    /// Append one piece.
    fn push(&mut self, piece: TokenSpan);
    /// Return the number of pieces so far.
    fn checkpoint(&self) -> usize;
    /// Remove all pieces after a checkpoint.
    fn rollback(&mut self, checkpoint: usize);
}

impl TokenSink for Vec<u32> {
    #[inline]
    fn push(&mut self, piece: TokenSpan) {
        self.push(piece.id);
    }

    fn checkpoint(&self) -> usize {
        self.len()
    }

    fn rollback(&mut self, checkpoint: usize) {
        self.truncate(checkpoint);
    }
}

impl TokenSink for Vec<TokenSpan> {
    #[inline]
    fn push(&mut self, piece: TokenSpan) {
        self.push(piece);
    }

    fn checkpoint(&self) -> usize {
        self.len()
    }

    fn rollback(&mut self, checkpoint: usize) {
        self.truncate(checkpoint);
    }
}

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
