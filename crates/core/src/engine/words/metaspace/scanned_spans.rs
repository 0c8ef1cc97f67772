//! The spans that the scanner finds.

use super::word_span::{SpanKind, WordSpan};

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
