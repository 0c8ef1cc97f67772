//! The ASCII spans of the raw text of BERT's pipelines, whose normalizer and pre-tokenizer decide character by character.
//!
//! A span of ASCII letters and digits is a word; its key is the lowercased word. Any other span has a key of another
//! kind, of its raw text with ASCII capitals lowercased: normalizing and splitting it happens once.

use std::iter::once;
use std::ops::Range;

use super::Words;
use crate::engine::misses::QueuedWords;
use crate::engine::stages::Stages;
use crate::engine::word_cache::{CacheKey, Lookups, WordCache, WINDOW};
use crate::error::Error;
use crate::stages::split::bert::{
    AsciiSpan, BertScratch, BertSplitter, FoundSpans, SpanChunk, SpanWord, WordRole,
};
use crate::word_key::WordKey;

/// The longest cached span, in bytes: longer ones hardly ever occur again.
const MAX_CACHED_BYTES: usize = 31;
/// The kind of long keys that are normalized words, and of those that are raw text.
const WORD: u32 = 0;
const RAW: u32 = 1;

/// The ASCII spans of a text.
pub(in super::super) struct AsciiSpans<'t> {
    stages: &'t Stages,
    splitter: &'t BertSplitter,
    text: &'t str,
    /// Where the text that was found last begins, and what it is.
    from: usize,
    found: FoundSpans,
    scratch: &'t mut BertScratch,
    normalized: &'t mut String,
    /// The numbers of the spans of the window, among those of the chunk.
    window: Range<usize>,
}

impl<'t> AsciiSpans<'t> {
    /// Begin at the start of a text.
    pub(in super::super) fn new(
        stages: &'t Stages,
        splitter: &'t BertSplitter,
        text: &'t str,
        scratch: &'t mut BertScratch,
        normalized: &'t mut String,
    ) -> Self {
        let (found, window) = (FoundSpans::LongSpan(0), 0..1);
        Self { stages, splitter, text, from: 0, found, scratch, normalized, window }
    }

    /// Find the next spans. Return `false` at the end of the text.
    fn find(&mut self) -> bool {
        let (FoundSpans::Chunk(end) | FoundSpans::LongSpan(end)) = self.found;
        if end == self.text.len() {
            return false;
        }
        (self.from, self.window) = (end, 0..0);
        self.found = self.splitter.find(self.text, end, &mut self.scratch.chunk);
        true
    }

    /// Return the number of spans that were found last.
    fn count(&self) -> usize {
        match self.found {
            FoundSpans::Chunk(_) => self.scratch.chunk.spans().len(),
            FoundSpans::LongSpan(_) => 1,
        }
    }

    fn span(&self, number: usize) -> AsciiSpan {
        self.scratch.chunk.spans().span(self.window.start + number)
    }

    /// Split a span of raw text and queue its words.
    fn write_words(
        &mut self,
        span: &str,
        is_cached: bool,
        cache: &WordCache,
        queue: &mut QueuedWords,
    ) -> Result<(), Error> {
        let stages = self.stages;
        self.splitter.span_words(span, &mut self.scratch.words, self.normalized, |word| match word.role {
            // The span itself is cached.
            WordRole::Whole if is_cached => queue.push(word.bytes),
            _ => write_word(stages, word, cache, queue),
        })
    }
}

/// Queue a word that is a part of its span.
fn write_word(stages: &Stages, word: SpanWord<'_>, cache: &WordCache, queue: &mut QueuedWords) {
    let id = match word.role {
        WordRole::Isolated(c) => stages.model.id_of_char(c),
        _ => None,
    };
    if let Some(id) = id {
        return queue.push_char(id);
    }
    match WordKey::of(word.bytes) {
        Some(key) => queue.push_cached(word.bytes, CacheKey::Short(key), cache),
        None if (1..=MAX_CACHED_BYTES).contains(&word.bytes.len()) => {
            queue.push_cached(word.bytes, CacheKey::Long(word.bytes, WORD), cache);
        }
        None => queue.push(word.bytes),
    }
}

/// Return the key of a span of a chunk.
#[inline(always)]
fn key_of(chunk: &SpanChunk, span: AsciiSpan) -> CacheKey<'_> {
    let key = chunk.short_key(span);
    if key != WordKey::NONE {
        return CacheKey::Short(key);
    }
    let text = chunk.lowered(span);
    if text.len() <= MAX_CACHED_BYTES {
        CacheKey::Long(text, if span.needs_actions { RAW } else { WORD })
    } else {
        CacheKey::Uncached
    }
}

impl Words for AsciiSpans<'_> {
    fn fill(&mut self, lookups: &mut Lookups, cache: &WordCache) -> Result<usize, Error> {
        while self.window.end == self.count() {
            if !self.find() {
                return Ok(0);
            }
        }
        let start = self.window.end;
        self.window = start..self.count().min(start + WINDOW);
        let chunk = &self.scratch.chunk;
        match self.found {
            FoundSpans::LongSpan(_) => lookups.hash(once(WordKey::NONE), |_| CacheKey::Uncached, cache),
            FoundSpans::Chunk(_) => {
                let spans = chunk.spans().range(self.window.clone());
                let keys = spans.spans().map(|span| chunk.short_key(span));
                lookups.hash(keys, |number| key_of(chunk, spans.span(number)), cache);
            }
        }
        Ok(self.window.len())
    }

    fn key(&self, number: usize) -> CacheKey<'_> {
        match self.found {
            FoundSpans::Chunk(_) => key_of(&self.scratch.chunk, self.span(number)),
            FoundSpans::LongSpan(_) => CacheKey::Uncached,
        }
    }

    fn write_miss(
        &mut self,
        number: usize,
        cache: &WordCache,
        queue: &mut QueuedWords,
    ) -> Result<bool, Error> {
        if let FoundSpans::LongSpan(end) = self.found {
            self.write_words(&self.text[self.from..end], false, cache, queue)?;
            return Ok(false);
        }
        let span = self.span(number);
        if span.needs_actions {
            let raw = self.scratch.chunk.raw(self.text, span);
            self.write_words(raw, raw.len() <= MAX_CACHED_BYTES, cache, queue)?;
        } else {
            queue.push(self.scratch.chunk.lowered(span));
        }
        Ok(true)
    }
}
