//! Where a word is in its text, and the spans of text that words are made of.

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

/// A span of text without separators, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScannedSpan {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) preceding: Preceding,
    pub(super) kind: SpanKind,
}

/// What precedes a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Preceding {
    /// Another span, without a separator between them.
    Span,
    /// An ASCII separator, or the start of the text.
    Separator,
    /// A separator beyond ASCII.
    WideSeparator,
}

/// The span that is not at its end yet.
#[derive(Clone, Debug)]
pub(super) struct OpenSpan {
    /// Where it begins.
    pub(super) start: usize,
    preceding: Preceding,
    /// Whether runs of single characters stay in the rest of the text up to the next separator.
    pub(super) is_unsplit: bool,
}

impl Default for OpenSpan {
    fn default() -> Self {
        Self { start: 0, preceding: Preceding::Separator, is_unsplit: false }
    }
}

/// Writes spans as the scanner finds their ends.
pub(super) struct SpanWriter<'s, W> {
    pub(super) open: &'s mut OpenSpan,
    pub(super) words: &'s mut Vec<WordSpan>,
    /// Appends the words of a span.
    pub(super) write: W,
}

impl<W: FnMut(ScannedSpan, &mut Vec<WordSpan>)> SpanWriter<'_, W> {
    /// Begin a span after a separator.
    #[inline]
    pub(super) fn begin(&mut self, at: usize, preceding: Preceding) {
        *self.open = OpenSpan { start: at, preceding, is_unsplit: false };
    }

    /// End the open span before a separator.
    #[inline]
    pub(super) fn end(&mut self, at: usize) {
        self.emit(at, SpanKind::Word);
    }

    /// End the open span and begin the next one at the same position.
    #[inline]
    pub(super) fn split(&mut self, at: usize) {
        self.emit(at, SpanKind::Word);
        (self.open.start, self.open.preceding) = (at, Preceding::Span);
    }

    /// Write the text before a run, and the run.
    #[inline]
    pub(super) fn emit_run(&mut self, start: usize, end: usize, kind: SpanKind) {
        if self.open.start < start {
            self.split(start);
        }
        self.emit(end, kind);
        (self.open.start, self.open.preceding) = (end, Preceding::Span);
    }

    #[inline]
    fn emit(&mut self, end: usize, kind: SpanKind) {
        let OpenSpan { start, preceding, .. } = *self.open;
        if start < end {
            (self.write)(ScannedSpan { start, end, preceding, kind }, self.words);
        }
    }
}
