//! One window of words: hash all of them and prefetch their buckets, so that the latencies of memory overlap.

use piecework_kernels::buckets::Lookup;

use super::keys::CacheKey;
use super::long_words::long_hash;
use super::tables::WordCache;
use crate::word_key::WordKey;

/// The most words that are looked up together.
pub(crate) const WINDOW: usize = 256;

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

impl Lookups {
    /// Hash the words of a window and prefetch their buckets: by their short keys, or by `key` those whose short key is
    /// [`WordKey::NONE`].
    #[inline(always)]
    pub(crate) fn hash<'k>(
        &mut self,
        short_keys: impl Iterator<Item = WordKey>,
        key: impl Fn(usize) -> CacheKey<'k>,
        cache: &WordCache,
    ) {
        hash(short_keys, key, cache, self.lookups.as_mut_slice(), &mut self.long);
        self.long.drain(..).for_each(|hash| cache.long.prefetch_found(hash));
    }

    /// Return the lookups of the words `from..to`.
    #[inline(always)]
    pub(crate) fn range(&self, from: usize, to: usize) -> &[Lookup] {
        &self.lookups[from..to]
    }
}

/// Hash the words of a window and prefetch their buckets.
///
/// It is not inlined: as parameters, the references are known not to overlap, and their fields stay in registers.
#[inline(never)]
fn hash<'k>(
    short_keys: impl Iterator<Item = WordKey>,
    key: impl Fn(usize) -> CacheKey<'k>,
    cache: &WordCache,
    lookups: &mut [Lookup],
    long: &mut Vec<u64>,
) {
    let short = &cache.short;
    for ((lookup, word), number) in lookups.iter_mut().zip(short_keys).zip(0..) {
        if word == WordKey::NONE {
            *lookup = without_short_key(key(number), cache, long);
        } else {
            *lookup = word.lookup();
            short.prefetch(lookup.hash);
        }
    }
}

/// Return the lookup of a word without a short key and prefetch its slot.
#[inline(never)]
fn without_short_key(key: CacheKey<'_>, cache: &WordCache, long: &mut Vec<u64>) -> Lookup {
    let lookup = key.lookup();
    if let CacheKey::Long(word, kind) = key {
        let hash = long_hash(word, kind);
        cache.long.prefetch(hash);
        long.push(hash);
    }
    lookup
}
