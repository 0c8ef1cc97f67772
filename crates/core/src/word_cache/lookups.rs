//! One window of words: hash all of them and prefetch their buckets, so that the latencies of memory overlap.

use super::{long_hash, Lookup, WordCache};
use crate::word_key::WordKey;

/// The most words that are looked up together.
pub(crate) const WINDOW: usize = 256;

/// How the cache identifies a word.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CacheKey<'w> {
    /// By the bytes themselves, up to 15.
    Short(WordKey),
    /// By more bytes and a kind: words of different kinds never match.
    Long(&'w [u8], u32),
    /// Not at all: the word is segmented each time.
    Uncached,
}

/// Up to [`WINDOW`] words of a text, in order.
pub(crate) trait Words {
    /// Returns the number of words.
    fn len(&self) -> usize;

    /// Returns the key of every word.
    fn keys(&self) -> impl Iterator<Item = CacheKey<'_>>;

    /// Returns the key of one word.
    fn key(&self, number: usize) -> CacheKey<'_>;
}

/// The lookups of one window.
#[derive(Clone, Debug)]
pub(crate) struct Lookups {
    lookups: Box<[Lookup; WINDOW]>,
    /// The hashes of the words that only the table of long words can have.
    long: Vec<u64>,
}

impl Default for Lookups {
    fn default() -> Self {
        Self { lookups: Box::new([Lookup::default(); WINDOW]), long: Vec::new() }
    }
}

impl CacheKey<'_> {
    /// Returns the lookup of the word; it misses for a word that is not cached.
    #[inline(always)]
    pub(crate) fn lookup(self) -> Lookup {
        match self {
            Self::Short(key) => key.lookup(),
            Self::Long(word, kind) => WordKey::absent_lookup(long_hash(word, kind)),
            Self::Uncached => WordKey::absent_lookup(0),
        }
    }
}

impl Lookups {
    /// Hash the words of a window and prefetch their buckets.
    #[inline(always)]
    pub(super) fn fill(&mut self, words: &impl Words, cache: &WordCache) {
        let Self { lookups, long } = self;
        long.clear();
        for (lookup, key) in lookups.iter_mut().zip(words.keys()) {
            *lookup = match key {
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
            };
        }
        long.iter().for_each(|&hash| cache.long.prefetch_found(hash));
    }

    /// Returns the lookups of the words from one on.
    #[inline(always)]
    pub(super) fn range(&self, from: usize, to: usize) -> &[Lookup] {
        &self.lookups[from..to]
    }
}
