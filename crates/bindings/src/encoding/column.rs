//! The names of the columns of an `Encoding` other than its ids.

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
    Pieces,
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
            Self::Pieces => "pieces",
        }
    }
}
