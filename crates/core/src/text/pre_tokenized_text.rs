//! A normalized text with the spans of its words.

use super::aligned::{Aligned, NormalizedSink};
use crate::error::Error;

/// A text and its words; pre-tokenizers split the words and may rewrite the text.
#[derive(Clone, Debug, Default)]
pub struct PreTokenizedText {
    /// The text, as normalized and rewritten so far.
    pub text: Aligned,
    /// The byte spans of the words, in order, none empty.
    pub spans: Vec<(usize, usize)>,
}

impl PreTokenizedText {
    /// Remove the text and keep its memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.spans.clear();
    }

    /// Make the whole text one word.
    pub(crate) fn set_whole(&mut self) {
        self.spans.clear();
        if !self.text.text().is_empty() {
            self.spans.push((0, self.text.text().len()));
        }
    }

    /// Split every word; `split` emits spans within the word.
    pub fn split(&mut self, mut split: impl FnMut(&str, &mut dyn FnMut(usize, usize))) {
        let cut = self.try_split(|text, emit| {
            split(text, emit);
            Ok(())
        });
        debug_assert!(cut.is_ok());
    }

    /// Split every word by a function that may fail; after an error the words are incomplete.
    pub(crate) fn try_split(
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

    /// Rewrite every word: `rewrite` gets the word, whether it begins the original text, and a sink whose
    /// sources are byte spans of the word.
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

/// A sink that maps sources, which are spans of an earlier text, to the original.
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
}
