//! One window of words: hash all of them and prefetch their buckets, so that the latencies of memory overlap.

use piecework_kernels::buckets::Lookup;

use super::long_words::long_hash;
use super::tables::WordCache;
use super::words::{CacheKey, Words};
use crate::word_key::WordKey;

/// The most words that are looked up together.
pub(crate) const WINDOW: usize = 256;

/// The lookups of one window.
#[derive(Clone, Debug)]
pub(crate) struct Lookups {
    lookups: Box<[Lookup; WINDOW]>,
    /// The number of words that were pushed one by one.
    count: usize,
    /// The hashes of the words that only the table of long words can have.
    long: Vec<u64>,
}

impl Default for Lookups {
    fn default() -> Self {
        Self { lookups: Box::new([Lookup::default(); WINDOW]), count: 0, long: Vec::new() }
    }
}

impl Lookups {
    /// Hash the next word of a window and prefetch its bucket, before the window is complete.
    #[inline(always)]
    pub(super) fn push(&mut self, key: CacheKey<'_>, cache: &WordCache) {
        if let Some(lookup) = self.lookups.get_mut(self.count) {
            *lookup = prefetched(key, cache, &mut self.long);
            self.count += 1;
        }
    }

    /// Hash the words of a window that were not pushed and prefetch their buckets.
    #[inline(always)]
    pub(super) fn fill(&mut self, words: &impl Words, cache: &WordCache) {
        let Self { lookups, count, long } = self;
        if *count == 0 {
            fill(words, cache, lookups.as_mut_slice(), long);
        }
        *count = 0;
        long.drain(..).for_each(|hash| cache.long.prefetch_found(hash));
    }

    /// Returns the lookups of the words `from..to`.
    #[inline(always)]
    pub(super) fn range(&self, from: usize, to: usize) -> &[Lookup] {
        &self.lookups[from..to]
    }
}

/// Hash the words of a window and prefetch their buckets.
///
/// It is not inlined: as parameters, the references are known not to overlap, and their fields stay in registers.
#[inline(never)]
fn fill(words: &impl Words, cache: &WordCache, lookups: &mut [Lookup], long: &mut Vec<u64>) {
    let short = &cache.short;
    for ((lookup, key), number) in lookups.iter_mut().zip(words.short_keys()).zip(0..) {
        if key == WordKey::NONE {
            *lookup = prefetched_without_short_key(words.key(number), cache, long);
        } else {
            *lookup = key.lookup();
            short.prefetch(lookup.hash);
        }
    }
}

#[inline(never)]
fn prefetched_without_short_key(key: CacheKey<'_>, cache: &WordCache, long: &mut Vec<u64>) -> Lookup {
    prefetched(key, cache, long)
}

/// Returns the lookup of a word and prefetches its bucket.
#[inline(always)]
fn prefetched(key: CacheKey<'_>, cache: &WordCache, long: &mut Vec<u64>) -> Lookup {
    match key {
        CacheKey::Short(key) => {
            let lookup = key.lookup();
            cache.short.prefetch(lookup.hash);
            lookup
        }
        CacheKey::Long(word, kind) => {
            let hash = long_hash(word, kind);
            cache.long.prefetch(hash);
            long.push(hash);
            WordKey::absent_lookup(hash)
        }
        CacheKey::Uncached => WordKey::absent_lookup(0),
    }
}
