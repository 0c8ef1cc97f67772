//! The spans that the scanner finds.

/// A span of text without separators, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScannedSpan {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) preceding: Preceding,
    pub(super) kind: SpanKind,
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

/// Emits spans as the scanner finds their ends.
pub(super) struct SpanEmitter<V> {
    /// Where the open span begins.
    pub(super) start: usize,
    preceding: Preceding,
    /// Whether runs of single characters stay in the rest of the text up to the next separator.
    pub(super) is_unsplit: bool,
    visit: V,
}

impl<V: FnMut(ScannedSpan)> SpanEmitter<V> {
    /// Returns an emitter at the start of a text.
    pub(super) fn new(visit: V) -> Self {
        Self { start: 0, preceding: Preceding::Separator, is_unsplit: false, visit }
    }

    /// Begins a span after a separator.
    #[inline]
    pub(super) fn begin(&mut self, at: usize, preceding: Preceding) {
        (self.start, self.preceding, self.is_unsplit) = (at, preceding, false);
    }

    /// Ends the open span before a separator.
    #[inline]
    pub(super) fn end(&mut self, at: usize) {
        self.emit(at, SpanKind::Word);
    }

    /// Ends the open span and begins the next one at the same position.
    #[inline]
    pub(super) fn split(&mut self, at: usize) {
        self.emit(at, SpanKind::Word);
        (self.start, self.preceding) = (at, Preceding::Span);
    }

    /// Emits the text before a run, and the run.
    #[inline]
    pub(super) fn emit_run(&mut self, start: usize, end: usize, kind: SpanKind) {
        if self.start < start {
            self.split(start);
        }
        self.emit(end, kind);
        (self.start, self.preceding) = (end, Preceding::Span);
    }

    #[inline]
    fn emit(&mut self, end: usize, kind: SpanKind) {
        let Self { start, preceding, .. } = *self;
        if start < end {
            (self.visit)(ScannedSpan { start, end, preceding, kind });
        }
    }
}
