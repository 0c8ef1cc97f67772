//! The text between two normalizers of a sequence, with sources only if the result keeps them.

use crate::text::{Aligned, NormalizedSink};

/// The output of one normalizer and input of the next.
pub(super) trait Intermediate: NormalizedSink + Default {
    /// A sink that maps sources, which are spans of this text, to the original.
    type Traced<'a, S: NormalizedSink + 'a>: NormalizedSink
    where
        Self: 'a;

    /// Remove the text and keep its memory.
    fn clear(&mut self);

    /// Return the text.
    fn text(&self) -> &str;

    /// Return the sink for the next text; this text comes from byte `start` of the original on.
    fn traced<'a, S: NormalizedSink>(&'a self, start: u32, out: &'a mut S) -> Self::Traced<'a, S>;
}

impl Intermediate for String {
    type Traced<'a, S: NormalizedSink + 'a> = &'a mut S;

    fn clear(&mut self) {
        self.clear();
    }

    fn text(&self) -> &str {
        self
    }

    fn traced<'a, S: NormalizedSink>(&'a self, _start: u32, out: &'a mut S) -> &'a mut S {
        out
    }
}

impl Intermediate for Aligned {
    type Traced<'a, S: NormalizedSink + 'a> = SequenceSink<'a, S>;

    fn clear(&mut self) {
        self.clear();
    }

    fn text(&self) -> &str {
        self.text()
    }

    fn traced<'a, S: NormalizedSink>(&'a self, start: u32, out: &'a mut S) -> SequenceSink<'a, S> {
        SequenceSink { earlier: self, origin: start, out }
    }
}

/// Maps sources, which are spans of an earlier text, to the original.
pub(super) struct SequenceSink<'a, S> {
    earlier: &'a Aligned,
    origin: u32,
    out: &'a mut S,
}

impl<S: NormalizedSink> NormalizedSink for SequenceSink<'_, S> {
    fn push_from(&mut self, c: char, source: (u32, u32)) {
        let source = match source {
            // A character inserted before the first one has an empty source.
            (0, 0) => (self.origin, self.origin),
            // One inserted after the last one, too.
            (from, to) if from == to && from as usize == self.earlier.text().len() => {
                let end = self.earlier.source_of(from as usize - 1, from as usize).1;
                (end, end)
            }
            (from, to) => self.earlier.source_of(from as usize, to as usize),
        };
        self.out.push_from(c, source);
    }

    fn push_unchanged(&mut self, text: &str, start: u32) {
        let mut at = start;
        for c in text.chars() {
            let to = at + c.len_utf8() as u32;
            self.out.push_from(c, self.earlier.source_of(at as usize, to as usize));
            at = to;
        }
    }
}
