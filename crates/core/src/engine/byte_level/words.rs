//! The words of byte-level text for the word cache, and the queue of misses.

use std::convert::Infallible;

use super::super::stages::Stages;
use crate::engine::word_cache::{CacheKey, CachedWords, QueueWord, SegmentBatch, WordCache, Words, WINDOW};
use crate::model::{ByteAdjacency, ModelScratch};
use crate::stages::pretokenize::WordSpans as Spans;
use crate::word_key::WordKey;

/// The longest cached word, in bytes. Of longer ones, whole sentences in some languages, one in twenty occurs again.
const MAX_CACHED_BYTES: usize = 64;
/// The lengths, in bytes, of words that are split where no merge applies. The parts of longer words take much memory.
const SPLIT_BYTES: std::ops::Range<u32> = 16..1 << 12;
/// Memory that the queue keeps after a flush, in bytes.
const KEPT_BYTES: usize = 1 << 20;

/// Cache misses that wait for a batch.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct MissQueue {
    /// The bytes of all words.
    text: String,
    /// The bytes of each word in `text`.
    spans: Vec<(usize, usize)>,
    /// Where the ids of each word end.
    ends: Vec<usize>,
    pub(super) long: SplitLongWords,
}

/// A window of words: spans of a text.
struct TextWords<'t> {
    text: &'t str,
    spans: Spans<'t>,
}

impl TextWords<'_> {
    fn span(&self, number: usize) -> (usize, usize) {
        (self.spans.starts[number] as usize, self.spans.ends[number] as usize)
    }
}

impl Words for TextWords<'_> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.spans.ends.len()
    }

    #[inline(always)]
    fn short_keys(&self) -> impl Iterator<Item = WordKey> {
        self.spans.spans().map(|(start, end)| WordKey::at_or_none(self.text.as_bytes(), start, end))
    }

    fn key(&self, number: usize) -> CacheKey<'_> {
        CacheKey::at(self.text, self.span(number), MAX_CACHED_BYTES)
    }
}

/// Segments queued words with a byte-level model.
pub(super) struct Segmenter<'s> {
    pub(super) stages: &'s Stages,
    pub(super) model: &'s mut ModelScratch,
    pub(super) queue: &'s mut MissQueue,
}

impl QueueWord<TextWords<'_>> for Segmenter<'_> {
    type Error = Infallible;

    fn queue(&mut self, words: &TextWords<'_>, number: usize, _: &WordCache) -> Result<bool, Infallible> {
        let (start, end) = words.span(number);
        let MissQueue { text, spans, .. } = &mut *self.queue;
        spans.push((text.len(), text.len() + end - start));
        text.push_str(&words.text[start..end]);
        Ok(true)
    }
}

impl SegmentBatch for Segmenter<'_> {
    fn segment<'s>(
        &mut self,
        _: &mut WordCache,
        spans_of_ids: impl Iterator<Item = &'s mut (usize, usize)>,
        ids: &mut Vec<u32>,
    ) -> bool {
        let MissQueue { text, spans, ends, .. } = &mut *self.queue;
        ends.clear();
        self.stages.model.run_byte_level_batch((text, spans), &self.stages.vocab, self.model, ids, ends);
        let mut from = 0;
        for (span, &end) in spans_of_ids.zip(&*ends) {
            *span = (from, end);
            from = end;
        }
        text.clear();
        text.shrink_to(KEPT_BYTES);
        spans.clear();
        true
    }
}

/// Append the ids of the words of a span, except those of pending words.
#[inline]
pub(super) fn append_words(
    span: &str,
    words: Spans<'_>,
    cached: &mut CachedWords<'_, Segmenter<'_>>,
    long: &mut SplitLongWords,
    out: &mut Vec<u32>,
) {
    let unjoined = cached.segmenter.stages.model.byte_adjacency().filter(|_| !span.is_ascii());
    let words = match unjoined {
        Some(unjoined) => long.split(span, words, unjoined),
        None => words,
    };
    for (starts, ends) in words.starts.chunks(WINDOW).zip(words.ends.chunks(WINDOW)) {
        let Ok(()) = cached.append(&TextWords { text: span, spans: Spans { starts, ends } }, out);
    }
}

/// The words of a span, the long ones split between characters that no merge joins.
#[derive(Clone, Debug, Default)]
pub(super) struct SplitLongWords {
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl SplitLongWords {
    /// Returns the words; the long ones that end with a character beyond ASCII are split.
    fn split<'p>(&'p mut self, text: &str, words: Spans<'p>, unjoined: &ByteAdjacency) -> Spans<'p> {
        let Self { starts, ends } = self;
        starts.clear();
        ends.clear();
        let mut done = 0;
        for (number, (&start, &end)) in words.starts.iter().zip(words.ends).enumerate() {
            if SPLIT_BYTES.contains(&(end - start)) && !text.as_bytes()[end as usize - 1].is_ascii() {
                starts.extend_from_slice(&words.starts[done..number]);
                ends.extend_from_slice(&words.ends[done..number]);
                unjoined.split(text, (start, end), starts, ends);
                done = number + 1;
            }
        }
        if done == 0 {
            return words;
        }
        starts.extend_from_slice(&words.starts[done..]);
        ends.extend_from_slice(&words.ends[done..]);
        Spans { starts, ends }
    }
}
