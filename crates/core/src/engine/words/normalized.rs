//! The words of normalized text.

use std::ops::Range;

use super::Words;
use crate::engine::misses::QueuedWords;
use crate::engine::word_cache::{CacheKey, Lookups, WordCache, WINDOW};
use crate::error::Error;
use crate::text::PreTokenizedText;
use crate::word_key::WordKey;

/// The longest cached word, in bytes.
const MAX_CACHED_BYTES: usize = 64;

/// The words of a text that is normalized and pre-tokenized.
pub(in super::super) struct NormalizedWords<'t> {
    text: &'t str,
    spans: &'t [(usize, usize)],
    /// The numbers of the words of the window.
    window: Range<usize>,
}

impl<'t> NormalizedWords<'t> {
    /// Begin at the first word of a text.
    pub(in super::super) fn new(PreTokenizedText { text, spans }: &'t PreTokenizedText) -> Self {
        Self { text: text.text(), spans, window: 0..0 }
    }
}

impl Words for NormalizedWords<'_> {
    fn fill(&mut self, lookups: &mut Lookups, cache: &WordCache) -> Result<usize, Error> {
        let start = self.window.end;
        self.window = start..self.spans.len().min(start + WINDOW);
        let (text, spans) = (self.text, &self.spans[self.window.clone()]);
        let keys = spans.iter().map(|&(start, end)| WordKey::at_or_none(text.as_bytes(), start, end));
        lookups.hash(keys, |number| CacheKey::at(text, spans[number], MAX_CACHED_BYTES), cache);
        Ok(spans.len())
    }

    fn key(&self, number: usize) -> CacheKey<'_> {
        CacheKey::at(self.text, self.spans[self.window.start + number], MAX_CACHED_BYTES)
    }

    fn write_miss(&mut self, number: usize, _: &WordCache, queue: &mut QueuedWords) -> Result<bool, Error> {
        let (start, end) = self.spans[self.window.start + number];
        queue.push(&self.text.as_bytes()[start..end]);
        Ok(true)
    }
}
