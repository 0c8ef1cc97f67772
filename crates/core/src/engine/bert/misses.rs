//! The queue of ASCII spans that are cache misses: each is split into words at once, and the words of many spans are
//! segmented together.

use super::super::stages::Stages;
use super::window::{SpanWindow, MAX_CACHED_BYTES, WORD};
use crate::engine::word_cache::{
    hash_of, CacheKey, CachedWords, Lookup, QueueWord, SegmentBatch, WordCache,
};
use crate::error::Error;
use crate::model::{BatchWord, ModelScratch};
use crate::stages::split::bert::{BertSplitter, SpanWord, WordBuffer, WordRole};
use crate::word_key::WordKey;

/// The number of words of a long span that are segmented together.
const LONG_SPAN_WORDS: usize = 256;
/// Memory that the queue keeps after a flush, in items.
const KEPT: usize = 1 << 18;

/// Pending spans and their words.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct MissQueue {
    spans: Vec<QueuedSpan>,
    /// The ids of isolated characters, one after the other.
    char_ids: Vec<u32>,
    /// The other words.
    words: Vec<BatchWord>,
    /// For each word, how many ids of characters come before it.
    char_ids_before: Vec<usize>,
    /// The bytes of the words.
    bytes: Vec<u8>,
    /// The words that may be cached apart from their spans.
    lookups: Vec<(usize, Lookup)>,
}

/// A pending span: its ids of characters and its words.
#[derive(Clone, Copy, Debug)]
struct QueuedSpan {
    char_ids: (usize, usize),
    words: (usize, usize),
}

impl MissQueue {
    /// Append a word that may be cached, and prefetch it.
    fn push_cached(&mut self, word: &[u8], cache: &WordCache) {
        let lookup = key_of(word).lookup();
        cache.prefetch(lookup);
        self.lookups.push((self.words.len(), lookup));
        self.push(word);
    }

    /// Append a word that is not cached.
    #[inline]
    fn push(&mut self, word: &[u8]) {
        let from = self.bytes.len();
        self.bytes.extend_from_slice(word);
        self.words.push(BatchWord { bytes: (from, self.bytes.len()), ids: (0, 0) });
        self.char_ids_before.push(self.char_ids.len());
    }

    /// End a span: it has what was appended since the last one.
    fn end_span(&mut self) {
        let (char_ids, words) = self.spans.last().map_or((0, 0), |span| (span.char_ids.1, span.words.1));
        let (char_ids, words) = ((char_ids, self.char_ids.len()), (words, self.words.len()));
        self.spans.push(QueuedSpan { char_ids, words });
    }

    /// Remove what was appended since the end of the last span.
    fn drop_unfinished(&mut self) {
        let (char_ids, words) = self.spans.last().map_or((0, 0), |span| (span.char_ids.1, span.words.1));
        self.char_ids.truncate(char_ids);
        self.words.truncate(words);
        self.char_ids_before.truncate(words);
        self.lookups.retain(|&(number, _)| number < words);
    }

    /// Copy the ids of words that are cached: they are not segmented.
    fn copy_cached(&mut self, cache: &WordCache, ids: &mut Vec<u32>) {
        let Self { lookups, words, bytes, .. } = self;
        lookups.iter().for_each(|&(_, lookup)| cache.prefetch_found(lookup));
        lookups.retain(|&(number, lookup)| {
            let word = &mut words[number];
            let start = ids.len();
            let key = || key_of(&bytes[word.bytes.0..word.bytes.1]);
            let is_cached = cache.append_cached(lookup, key, ids);
            if is_cached {
                *word = BatchWord { bytes: (0, 0), ids: (start, ids.len()) };
            }
            !is_cached
        });
    }

    /// Returns where the ids of a span are, side by side.
    #[inline]
    fn span_ids(&self, QueuedSpan { char_ids, words }: QueuedSpan, ids: &mut Vec<u32>) -> (usize, usize) {
        if let ([word], true) = (&self.words[words.0..words.1], char_ids.0 == char_ids.1) {
            return word.ids;
        }
        let (start, mut copied) = (ids.len(), char_ids.0);
        for number in words.0..words.1 {
            let before = self.char_ids_before[number];
            ids.extend_from_slice(&self.char_ids[copied..before]);
            copied = before;
            let (from, to) = self.words[number].ids;
            ids.extend_from_within(from..to);
        }
        ids.extend_from_slice(&self.char_ids[copied..char_ids.1]);
        (start, ids.len())
    }

    /// Store the words that are not in the cache.
    fn store(&self, ids: &[u32], cache: &mut WordCache) {
        for &(number, lookup) in &self.lookups {
            let BatchWord { bytes, ids: own } = self.words[number];
            let key = key_of(&self.bytes[bytes.0..bytes.1]);
            cache.insert(key, hash_of(lookup), Some(&ids[own.0..own.1]));
        }
    }

    fn clear(&mut self) {
        self.spans.clear();
        self.char_ids.clear();
        self.char_ids.shrink_to(KEPT);
        self.words.clear();
        self.words.shrink_to(KEPT);
        self.char_ids_before.clear();
        self.char_ids_before.shrink_to(KEPT);
        self.bytes.clear();
        self.bytes.shrink_to(KEPT);
        self.lookups.clear();
    }
}

/// Returns the key of a normalized word.
fn key_of(word: &[u8]) -> CacheKey<'_> {
    match WordKey::of(word) {
        Some(key) => CacheKey::Short(key),
        None if word.len() <= MAX_CACHED_BYTES && !word.is_empty() => CacheKey::Long(word, WORD),
        None => CacheKey::Uncached,
    }
}

/// Segments queued spans.
pub(super) struct Segmenter<'s> {
    pub(super) stages: &'s Stages,
    pub(super) splitter: &'s BertSplitter,
    pub(super) model: &'s mut ModelScratch,
    pub(super) words: &'s mut WordBuffer,
    pub(super) normalized: &'s mut String,
    pub(super) queue: &'s mut MissQueue,
}

impl Segmenter<'_> {
    /// Split a span of raw text and append its words.
    fn split(&mut self, span: &str, cache: &WordCache) -> Result<(), Error> {
        let Self { stages, splitter, words, normalized, queue, .. } = self;
        let is_cached = span.len() <= MAX_CACHED_BYTES;
        splitter.span_words(span, words, normalized, |word| match word.role {
            // The span itself is cached.
            WordRole::Whole if is_cached => queue.push(word.bytes),
            _ => push_part(queue, stages, word, cache),
        })
    }
}

/// Append a word that is a part of its span.
fn push_part(queue: &mut MissQueue, stages: &Stages, word: SpanWord<'_>, cache: &WordCache) {
    let id = match word.role {
        WordRole::Isolated(c) => stages.model.id_of_char(c),
        _ => None,
    };
    match id {
        Some(id) => queue.char_ids.push(id),
        None => queue.push_cached(word.bytes, cache),
    }
}

impl QueueWord<SpanWindow<'_>> for Segmenter<'_> {
    type Error = Error;

    fn queue(&mut self, words: &SpanWindow<'_>, number: usize, cache: &WordCache) -> Result<bool, Error> {
        let span = words.spans.span(number);
        if span.needs_actions {
            let split = self.split(words.chunk.raw(span), cache);
            if split.is_err() {
                self.queue.drop_unfinished();
            }
            split?;
        } else {
            self.queue.push(words.chunk.lowered(span));
        }
        self.queue.end_span();
        Ok(true)
    }
}

impl SegmentBatch for Segmenter<'_> {
    fn segment<'s>(
        &mut self,
        cache: &mut WordCache,
        spans_of_ids: impl Iterator<Item = &'s mut (usize, usize)>,
        ids: &mut Vec<u32>,
    ) -> bool {
        let Self { stages, model, queue, .. } = self;
        queue.copy_cached(cache, ids);
        stages.model.run_batch(&queue.bytes, &mut queue.words, &stages.vocab, model, ids);
        for (ids_of_span, &span) in spans_of_ids.zip(&queue.spans) {
            *ids_of_span = queue.span_ids(span, ids);
        }
        let are_final = !model.has_failed();
        if are_final {
            queue.store(ids, cache);
        }
        queue.clear();
        are_final
    }
}

/// Append the ids of a span that is longer than a chunk, some hundred words at a time.
pub(super) fn append_long_span(
    span: &str,
    cached: &mut CachedWords<'_, Segmenter<'_>>,
    out: &mut Vec<u32>,
) -> Result<(), Error> {
    let Segmenter { stages, splitter, .. } = cached.segmenter;
    let mut words = std::mem::take(cached.segmenter.words);
    let mut normalized = std::mem::take(cached.segmenter.normalized);
    let result = splitter.span_words(span, &mut words, &mut normalized, |word| {
        push_part(cached.segmenter.queue, stages, word, cached.cache);
        let queue = &cached.segmenter.queue;
        if queue.words.len() + queue.char_ids.len() >= LONG_SPAN_WORDS {
            end_part(cached, out);
            cached.flush(out);
        }
    });
    end_part(cached, out);
    *cached.segmenter.words = words;
    *cached.segmenter.normalized = normalized;
    result
}

/// End a part of a long span; it is pending.
fn end_part(cached: &mut CachedWords<'_, Segmenter<'_>>, out: &[u32]) {
    cached.segmenter.queue.end_span();
    cached.push_queued(out);
}
