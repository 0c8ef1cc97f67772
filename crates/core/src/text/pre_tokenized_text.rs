//! A normalized text and the spans of it that are still to become tokens.

use super::aligned::{Aligned, NormalizedSink};
use crate::error::Error;

/// A text with its pieces, in order; pre-tokenizers make them smaller and may rewrite the text.
#[derive(Clone, Debug, Default)]
pub struct PreTokenizedText {
    /// The text as normalized and rewritten so far.
    pub text: Aligned,
    /// Byte spans of the text, in order, none empty.
    pub spans: Vec<(usize, usize)>,
}

impl PreTokenizedText {
    /// Forget everything, keep the memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.spans.clear();
    }

    /// Make the whole text one piece.
    pub fn set_whole(&mut self) {
        self.spans.clear();
        if !self.text.text().is_empty() {
            self.spans.push((0, self.text.text().len()));
        }
    }

    /// Cut every piece: `split` gives the spans of the smaller pieces within the piece.
    pub fn split(&mut self, mut split: impl FnMut(&str, &mut dyn FnMut(usize, usize))) {
        let cut = self.try_split(|text, emit| {
            split(text, emit);
            Ok(())
        });
        debug_assert!(cut.is_ok());
    }

    /// Cut every piece by a function that may fail; the pieces are then of no more use.
    pub fn try_split(
        &mut self,
        mut split: impl FnMut(&str, &mut dyn FnMut(usize, usize)) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let old = std::mem::take(&mut self.spans);
        self.spans.reserve(old.len());
        let text = self.text.text();
        for (start, end) in old {
            split(&text[start..end], &mut |from, to| {
                if from < to {
                    self.spans.push((start + from, start + to));
                }
            })?;
        }
        Ok(())
    }

    /// Write every piece anew: `rewrite` gets the piece, whether it stands at the very beginning of the
    /// original text, and where to write; sources it gives are byte spans of the piece.
    pub fn rewrite(&mut self, mut rewrite: impl FnMut(&str, bool, &mut TracedSink<'_>)) {
        let old = std::mem::take(self);
        for &(start, end) in &old.spans {
            let from = self.text.text().len();
            let is_first = old.text.source_of(start, end).0 == 0;
            let mut out = TracedSink { old: &old.text, shift: start, out: &mut self.text };
            rewrite(&old.text.text()[start..end], is_first, &mut out);
            if from < self.text.text().len() {
                self.spans.push((from, self.text.text().len()));
            }
        }
    }
}

/// A sink that traces sources through an earlier text to the original.
pub struct TracedSink<'a> {
    old: &'a Aligned,
    shift: usize,
    out: &'a mut Aligned,
}

impl NormalizedSink for TracedSink<'_> {
    fn push_from(&mut self, c: char, source: (u32, u32)) {
        let (start, end) = (self.shift + source.0 as usize, self.shift + source.1 as usize);
        self.out.push_from(c, self.old.source_of(start, end));
    }

    fn push_unchanged(&mut self, text: &str, start: u32) {
        let mut at = start;
        for c in text.chars() {
            self.push_from(c, (at, at + c.len_utf8() as u32));
            at += c.len_utf8() as u32;
        }
    }
}
