//! The lookup loop: hash and prefetch a window of words, append the ids of hits, queue misses, flush the queue.

use piecework_kernels::buckets::Lookup;

use super::lookups::Lookups;
use super::pending::{PendingWords, SegmentBatch};
use super::short_words::State;
use super::tables::{hash_of, WordCache};
use super::words::{CacheKey, Words};

/// Queues cache misses for a batch.
pub(crate) trait QueueWord<W>: SegmentBatch {
    /// Why a word cannot be queued.
    type Error;

    /// Queue a word. Returns whether its ids depend on its bytes alone, so that they may be stored.
    fn queue(&mut self, words: &W, number: usize, cache: &WordCache) -> Result<bool, Self::Error>;
}

/// Handles the words of a window: [`QueueMisses`] for models that segment each word independently.
pub(crate) trait HandleWords<W> {
    /// Why a word cannot be handled.
    type Error;

    /// Append the ids of hits from word `number` on, up to the first word that is no hit. Returns the number of hits.
    fn append_hits(
        &mut self,
        cache: &WordCache,
        words: &W,
        number: usize,
        lookups: &[Lookup],
        out: &mut Vec<u32>,
    ) -> usize;

    /// Handle a word that is no hit.
    fn handle_miss(
        &mut self,
        cache: &mut WordCache,
        words: &W,
        number: usize,
        lookup: Lookup,
        out: &mut Vec<u32>,
    ) -> Result<(), Self::Error>;
}

/// Memory of the loop.
#[derive(Clone, Debug, Default)]
pub(crate) struct LookupScratch {
    lookups: Lookups,
    pub(crate) pending: PendingWords,
}

impl LookupScratch {
    /// Hash the next word of a window and prefetch its bucket. Either all words of a window are pushed, or none.
    #[inline(always)]
    pub(crate) fn push(&mut self, key: CacheKey<'_>, cache: &WordCache) {
        self.lookups.push(key, cache);
    }
}

/// Append the ids of a window of words.
#[inline(always)]
pub(super) fn look_up_window<W: Words, H: HandleWords<W>>(
    words: &W,
    lookups: &mut Lookups,
    cache: &mut WordCache,
    handler: &mut H,
    out: &mut Vec<u32>,
) -> Result<(), H::Error> {
    lookups.fill(words, cache);
    let (mut number, count) = (0, words.len());
    loop {
        number += handler.append_hits(cache, words, number, lookups.range(number, count), out);
        if number == count {
            return Ok(());
        }
        handler.handle_miss(cache, words, number, lookups.range(number, count)[0], out)?;
        number += 1;
    }
}

/// Append the ids of a window of words, for a route that handles hits and misses itself.
#[inline(always)]
pub(crate) fn look_up<W: Words, H: HandleWords<W>>(
    words: &W,
    scratch: &mut LookupScratch,
    cache: &mut WordCache,
    handler: &mut H,
    out: &mut Vec<u32>,
) -> Result<(), H::Error> {
    look_up_window(words, &mut scratch.lookups, cache, handler, out)
}

/// Appends the ids of hits and queues misses.
pub(crate) struct CachedWords<'s, S> {
    pub(crate) cache: &'s mut WordCache,
    pub(crate) scratch: &'s mut LookupScratch,
    pub(crate) segmenter: S,
}

impl<S: SegmentBatch> CachedWords<'_, S> {
    /// Append the ids of a window of words, except those of pending words, and flush the queue if it is full.
    #[inline(always)]
    pub(crate) fn append<W: Words>(&mut self, words: &W, out: &mut Vec<u32>) -> Result<(), S::Error>
    where
        S: QueueWord<W>,
    {
        let LookupScratch { lookups, pending } = &mut *self.scratch;
        let mut handler = QueueMisses { pending, segmenter: &mut self.segmenter };
        let result = look_up_window(words, lookups, self.cache, &mut handler, out);
        if self.scratch.pending.is_full() {
            self.flush(out);
        }
        result
    }

    /// Hash the next word of a window and prefetch its bucket. Either all words of a window are pushed, or none.
    #[inline(always)]
    pub(crate) fn push(&mut self, key: CacheKey<'_>) {
        self.scratch.push(key, self.cache);
    }

    /// Append a word that the segmenter has queued already and that is not cached.
    pub(crate) fn push_queued(&mut self, out: &[u32]) {
        self.scratch.pending.push(CacheKey::Uncached, 0, out.len());
    }

    /// Segment all pending words and splice their ids into the output.
    pub(crate) fn flush(&mut self, out: &mut Vec<u32>) {
        if !self.scratch.pending.is_empty() {
            self.scratch.pending.flush(&mut self.segmenter, self.cache, out);
        }
    }
}

/// The handler of models that segment each word independently.
struct QueueMisses<'s, S> {
    pending: &'s mut PendingWords,
    segmenter: &'s mut S,
}

impl<W: Words, S: QueueWord<W>> HandleWords<W> for QueueMisses<'_, S> {
    type Error = S::Error;

    #[inline(always)]
    fn append_hits(
        &mut self,
        cache: &WordCache,
        _words: &W,
        _number: usize,
        lookups: &[Lookup],
        out: &mut Vec<u32>,
    ) -> usize {
        cache.short.append_hits(lookups, out)
    }

    #[cold]
    #[inline(never)]
    fn handle_miss(
        &mut self,
        cache: &mut WordCache,
        words: &W,
        number: usize,
        lookup: Lookup,
        out: &mut Vec<u32>,
    ) -> Result<(), S::Error> {
        let (key, hash, state) = (words.key(number), hash_of(lookup), cache.short.state(lookup));
        if let Some(ids) = cache.long_ids(state, key, hash) {
            out.extend_from_slice(ids);
            return Ok(());
        }
        let same = match (state, key) {
            (Some(State::Pending(number)), _) => Some(number as usize),
            (_, CacheKey::Long(word, kind)) => self.pending.same_long(word, kind, hash),
            _ => None,
        };
        if let Some(number) = same {
            self.pending.push_same(number, out.len());
            return Ok(());
        }
        let is_stored = self.segmenter.queue(words, number, cache)?;
        let pending = self.pending.push(if is_stored { key } else { CacheKey::Uncached }, hash, out.len());
        if let (true, CacheKey::Short(key)) = (is_stored, key) {
            cache.short.set_pending(key, hash, state.is_some(), pending as u32);
        }
        Ok(())
    }
}
