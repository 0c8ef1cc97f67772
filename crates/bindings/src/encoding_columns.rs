//! The columns of an `Encoding` beside its ids, and the lists that are made of them.

use std::sync::OnceLock;

use pyo3::prelude::*;
use pyo3::types::PyList;

/// A column of an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Tokens,
    Offsets,
    WordIds,
    SequenceIds,
    TypeIds,
    SpecialTokensMask,
    AttentionMask,
    Overflowing,
    ByteOffsets,
    Utf16Offsets,
}

impl Column {
    /// The columns that are compared and pickled; the others are computed from these and the text.
    pub(crate) const STORED: [Self; 8] = [
        Self::Tokens,
        Self::Offsets,
        Self::WordIds,
        Self::SequenceIds,
        Self::TypeIds,
        Self::SpecialTokensMask,
        Self::AttentionMask,
        Self::Overflowing,
    ];

    /// The name of the attribute.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Offsets => "offsets",
            Self::WordIds => "word_ids",
            Self::SequenceIds => "sequence_ids",
            Self::TypeIds => "type_ids",
            Self::SpecialTokensMask => "special_tokens_mask",
            Self::AttentionMask => "attention_mask",
            Self::Overflowing => "overflowing",
            Self::ByteOffsets => "byte_offsets",
            Self::Utf16Offsets => "utf16_offsets",
        }
    }
}

/// Where a token comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// 0 for the text, 1 for its pair.
    pub(crate) sequence: usize,
    /// The index of the pre-tokenized word that the offsets count in, 0 for a text.
    pub(crate) word: usize,
    /// The characters that it covers, from the first to the one after the last.
    pub(crate) chars: (usize, usize),
}

/// The lists that have been made, by column.
#[derive(Default)]
pub(crate) struct Lists([OnceLock<Py<PyList>>; 10]);

impl Lists {
    /// The place of the list of a column.
    pub(crate) fn slot(&self, column: Column) -> &OnceLock<Py<PyList>> {
        &self.0[column as usize]
    }
}
