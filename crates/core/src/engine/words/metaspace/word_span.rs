//! Where a word is in its text.

/// The byte span of a word in the raw text, including the spaces before it that belong to it.
#[derive(Clone, Copy, Debug)]
pub(in super::super::super) struct WordSpan {
    pub(in super::super::super) start: usize,
    pub(in super::super::super) end: usize,
    pub(super) prefix: WordPrefix,
    pub(super) kind: SpanKind,
}

/// The `▁` that a word begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum WordPrefix {
    /// None: the word continues another one, or its span is escaped as it is.
    #[default]
    None,
    /// The `▁` of the space that the span begins with.
    Space,
    /// A `▁` that the normalizer adds.
    Added,
}

impl WordSpan {
    /// Return a word of the bytes `start..end` without a prefix.
    pub(super) fn whole(start: usize, end: usize) -> Self {
        Self { start, end, prefix: WordPrefix::None, kind: SpanKind::Word }
    }

    /// Return whether it is a run of single characters.
    #[inline]
    pub(in super::super::super) fn is_single_chars(&self) -> bool {
        self.kind != SpanKind::Word
    }
}

/// What a span consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpanKind {
    /// Text that the model segments.
    Word,
    /// A run of single characters.
    SingleChars,
    /// A run of single characters that are all unknown, and their number.
    UnknownChars(u32),
}
