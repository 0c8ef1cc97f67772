//! The words of each route, as the word cache sees them and as the model segments them.
//!
//! ```text
//! AsciiSpans       ASCII spans of the text of BERT's pipelines
//! ByteSpans        spans of the text of a byte-level pipeline
//! NormalizedWords  words of normalized text, of all other pipelines
//! metaspace        words of text that the model sees with a `▁` for each space
//! ```

mod metaspace;
#[cfg(test)]
mod tests;

pub(super) use metaspace::{
    MetaspaceScratch, MetaspaceText, MetaspaceWords, PartScratch, WordParts, WordRules, WordSpan,
    WrittenIds,
};

use std::iter::once;
use std::ops::Range;

use memchr::memchr;

use super::misses::QueuedWords;
use super::stages::Stages;
use super::word_cache::{CacheKey, Lookups, WordCache, WINDOW};
use crate::error::Error;
use crate::model::ByteAdjacency;
use crate::stages::pretokenize::{PreTokenizer, ScanScratch, WordSpans};
use crate::stages::split::bert::{AsciiSpan, BertScratch, BertSplitter, FoundSpans, SpanChunk, WordRole};
use crate::word_key::WordKey;

/// The words of a text, in windows.
pub(super) trait Words {
    /// Find the next words, hash them and prefetch their buckets. Return the number of words in this window, at most
    /// [`WINDOW`]; 0 after the last word.
    fn fill(&mut self, lookups: &mut Lookups, cache: &WordCache) -> Result<usize, Error>;

    /// Return the key of a word of the window.
    fn key(&self, number: usize) -> CacheKey<'_>;

    /// Queue a word of the window, which is a miss. Return whether its ids depend on its key alone, so that they may be
    /// stored.
    fn write_miss(
        &mut self,
        number: usize,
        cache: &WordCache,
        queue: &mut QueuedWords,
    ) -> Result<bool, Error>;
}

/// The longest cached ASCII span, in bytes: longer ones hardly ever occur again.
const MAX_CACHED_SPAN: usize = 31;
/// The longest cached word, in bytes, that is a whole span: letters of many scripts have three bytes.
const MAX_CACHED_WORD: usize = 64;

/// The ASCII spans of the raw text of BERT's pipelines, whose normalizer and pre-tokenizer decide character by character.
///
/// A span of ASCII letters and digits is a word; its key is the lowercased word. Any other span has a key of another kind,
/// of its raw text with ASCII capitals lowercased: normalizing and splitting it happens once.
pub(super) struct AsciiSpans<'t> {
    stages: &'t Stages,
    splitter: &'t BertSplitter,
    text: &'t str,
    /// Where the text that was found last begins, and what it is.
    from: usize,
    found: FoundSpans,
    scratch: &'t mut BertScratch,
    normalized: &'t mut String,
    /// The numbers of the window's spans, counted from the beginning of the chunk.
    window: Range<usize>,
}

impl<'t> AsciiSpans<'t> {
    /// Begin at the start of a text.
    pub(super) fn new(
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

    /// Split a span of raw text and queue its words. Return whether it is one word, whose ids the cache stores by the key of
    /// the span if `is_cached`.
    fn write_words(
        &mut self,
        span: &str,
        is_cached: bool,
        cache: &WordCache,
        queue: &mut QueuedWords,
    ) -> Result<bool, Error> {
        let model = &self.stages.model;
        let (mut rest, mut is_whole) = (span, false);
        while let Some(c) = self.splitter.isolated_char(rest) {
            let Some(id) = model.id_of_char(c) else { break };
            queue.push_char(id);
            rest = &rest[c.len_utf8()..];
        }
        let is_cached = is_cached && rest.len() == span.len();
        self.splitter.span_words(rest, &mut self.scratch.words, self.normalized, |word| {
            match word.role {
                WordRole::Whole if is_cached => {
                    is_whole = true;
                    queue.push(word.bytes);
                }
                WordRole::Isolated(c) => match model.id_of_char(c) {
                    Some(id) => queue.push_char(id),
                    None => queue_part(word.bytes, cache, queue),
                },
                _ => queue_part(word.bytes, cache, queue),
            }
        })?;
        Ok(is_whole)
    }
}

/// The most bytes of a word beyond ASCII that is segmented each time: looking it up takes as long.
const MAX_UNCACHED_PART: usize = 9;

/// Queue a word that is a part of its span.
fn queue_part(word: &[u8], cache: &WordCache, queue: &mut QueuedWords) {
    match WordKey::of(word) {
        _ if word.len() <= MAX_UNCACHED_PART && word.first().is_some_and(|byte| !byte.is_ascii()) => {
            queue.push(word);
        }
        Some(key) => queue.push_cached(word, CacheKey::Short(key), cache),
        None if (1..=MAX_CACHED_SPAN).contains(&word.len()) => {
            queue.push_cached(word, CacheKey::Long(word, CacheKey::WORD), cache);
        }
        None => queue.push(word),
    }
}

/// Return the key of a span of a chunk.
#[inline(always)]
fn span_key(chunk: &SpanChunk, span: AsciiSpan) -> CacheKey<'_> {
    let key = chunk.short_key(span);
    if key != WordKey::NONE {
        return CacheKey::Short(key);
    }
    let text = chunk.lowered(span);
    match (span.needs_actions, text.len()) {
        (true, ..=MAX_CACHED_WORD) => CacheKey::Long(text, CacheKey::RAW),
        (false, ..=MAX_CACHED_SPAN) => CacheKey::Long(text, CacheKey::WORD),
        _ => CacheKey::Uncached,
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
                lookups.hash(keys, |number| span_key(chunk, spans.span(number)), cache);
            }
        }
        Ok(self.window.len())
    }

    fn key(&self, number: usize) -> CacheKey<'_> {
        match self.found {
            FoundSpans::Chunk(_) => span_key(&self.scratch.chunk, self.span(number)),
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
            let is_word = self.write_words(raw, raw.len() <= MAX_CACHED_WORD, cache, queue)?;
            return Ok(is_word || raw.len() <= MAX_CACHED_SPAN);
        }
        queue.push(self.scratch.chunk.lowered(span));
        Ok(true)
    }
}

/// The longest cached word, in bytes. Of longer ones, whole sentences in some languages, one in twenty occurs again.
const MAX_CACHED_BYTES: usize = 64;
/// The longest cached word that ends with an ASCII character: in code, runs of spaces, dashes and stars.
const MAX_CACHED_ASCII: usize = 128;
/// The lengths, in bytes, of words that are split where no merge applies. The parts of longer words take much memory.
const SPLIT_BYTES: Range<u32> = 16..1 << 12;
/// The bytes of words that are split before it is known whether that helps: not if parts have more than the most bytes.
const TRIED_BYTES: usize = 256;
const MAX_PART_BYTES: usize = 32;

/// The words of byte-level text: spans of it, long ones split where no merge applies.
pub(super) struct ByteSpans<'t> {
    pre_tokenizer: &'t PreTokenizer,
    /// Where long words are split.
    adjacency: Option<&'t ByteAdjacency>,
    text: &'t str,
    /// The bytes whose words are found.
    found: Range<usize>,
    scan: &'t mut ScanScratch,
    long: &'t mut SplitLongWords,
    /// The number of words that are found, and the numbers of the window's words.
    count: usize,
    window: Range<usize>,
}

impl<'t> ByteSpans<'t> {
    /// Begin at the start of a text.
    pub(super) fn new(
        pre_tokenizer: &'t PreTokenizer,
        adjacency: Option<&'t ByteAdjacency>,
        text: &'t str,
        scan: &'t mut ScanScratch,
        long: &'t mut SplitLongWords,
    ) -> Self {
        Self { pre_tokenizer, adjacency, text, found: 0..0, scan, long, count: 0, window: 0..0 }
    }

    /// Find the words of the next bytes.
    fn find(&mut self) -> Result<(), Error> {
        let from = self.found.end;
        self.found = from..self.pre_tokenizer.find_words(self.text, from, self.scan)?;
        self.window = 0..0;
        self.long.split(self.found_text(), self.scan.words(), self.adjacency);
        self.count = self.spans().ends.len();
        Ok(())
    }

    fn found_text(&self) -> &'t str {
        &self.text[self.found.clone()]
    }

    /// Return the words that are found.
    #[inline]
    fn spans(&self) -> WordSpans<'_> {
        self.long.spans().unwrap_or(self.scan.words())
    }

    #[inline(always)]
    fn span(&self, number: usize) -> (usize, usize) {
        let (spans, at) = (self.spans(), self.window.start + number);
        (spans.starts[at] as usize, spans.ends[at] as usize)
    }
}

impl Words for ByteSpans<'_> {
    fn fill(&mut self, lookups: &mut Lookups, cache: &WordCache) -> Result<usize, Error> {
        while self.window.end == self.count {
            if self.found.end == self.text.len() {
                return Ok(0);
            }
            self.find()?;
        }
        let (start, all) = (self.window.end, self.spans());
        let window = start..self.count.min(start + WINDOW);
        let spans = WordSpans { starts: &all.starts[window.clone()], ends: &all.ends[window.clone()] };
        let text = self.found_text();
        let keys = spans.spans().map(|(start, end)| WordKey::at_or_none(text.as_bytes(), start, end));
        let long_key =
            |number: usize| byte_key(text, (spans.starts[number] as usize, spans.ends[number] as usize));
        lookups.hash(keys, long_key, cache);
        self.window = window;
        Ok(self.window.len())
    }

    fn key(&self, number: usize) -> CacheKey<'_> {
        byte_key(self.found_text(), self.span(number))
    }

    fn write_miss(&mut self, number: usize, _: &WordCache, queue: &mut QueuedWords) -> Result<bool, Error> {
        let (start, end) = self.span(number);
        queue.push(&self.found_text().as_bytes()[start..end]);
        Ok(true)
    }
}

/// Return the key of the word at `start..end` of a text.
#[inline(always)]
fn byte_key(text: &str, (start, end): (usize, usize)) -> CacheKey<'_> {
    let is_ascii = text.as_bytes().get(end.wrapping_sub(1)).is_some_and(u8::is_ascii);
    CacheKey::at(text, (start, end), if is_ascii { MAX_CACHED_ASCII } else { MAX_CACHED_BYTES })
}

/// The words of a text, the long ones split between characters that no merge joins; none if none is split.
#[derive(Clone, Debug, Default)]
pub(super) struct SplitLongWords {
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl SplitLongWords {
    /// Return the words; `None` if no word is split.
    #[inline]
    fn spans(&self) -> Option<WordSpans<'_>> {
        (!self.ends.is_empty()).then_some(WordSpans { starts: &self.starts, ends: &self.ends })
    }

    /// Split the long words that end with a character beyond ASCII, or that have spaces which tokens can cross.
    fn split(&mut self, text: &str, words: WordSpans<'_>, adjacency: Option<&ByteAdjacency>) {
        let Self { starts, ends } = self;
        starts.clear();
        ends.clear();
        let Some(adjacency) = adjacency.filter(|words| words.crosses_spaces() || !text.is_ascii()) else {
            return;
        };
        let (mut done, mut bytes, mut parts) = (0, 0, 0);
        for (number, (&start, &end)) in words.starts.iter().zip(words.ends).enumerate() {
            let is_whole =
                bytes > TRIED_BYTES && parts * MAX_PART_BYTES < bytes && !adjacency.crosses_spaces();
            if is_whole || !SPLIT_BYTES.contains(&(end - start)) {
                continue;
            }
            let word = &text.as_bytes()[start as usize..end as usize];
            let at_spaces = adjacency.crosses_spaces() && memchr(b' ', &word[1..]).is_some();
            if at_spaces || !word[word.len() - 1].is_ascii() {
                starts.extend_from_slice(&words.starts[done..number]);
                ends.extend_from_slice(&words.ends[done..number]);
                let from = starts.len();
                match at_spaces {
                    true => adjacency.split_at_spaces(text, (start, end), starts, ends),
                    false => adjacency.split(text, (start, end), starts, ends),
                }
                if adjacency.has_whole_word(text, &starts[from..], &ends[from..]) {
                    starts.truncate(from + 1);
                    ends.truncate(from);
                    ends.push(end);
                }
                (bytes, parts) = (bytes + (end - start) as usize, parts + starts.len() - from - 1);
                done = number + 1;
            }
        }
        if done > 0 {
            starts.extend_from_slice(&words.starts[done..]);
            ends.extend_from_slice(&words.ends[done..]);
        }
    }
}

/// The words of a text that is normalized and pre-tokenized.
pub(super) struct NormalizedWords<'t> {
    text: &'t str,
    spans: &'t [(usize, usize)],
    /// The numbers of the words of the window.
    window: Range<usize>,
}

impl<'t> NormalizedWords<'t> {
    /// Begin at the first word of a text.
    pub(super) fn new(text: &'t str, spans: &'t [(usize, usize)]) -> Self {
        Self { text, spans, window: 0..0 }
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
