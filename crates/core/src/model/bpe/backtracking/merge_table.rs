//! The number that two tokens merge to, in a hash table behind a Bloom filter.

use piecework_kernels::merges::{hash, PairMap, NUMBER_BOUND};
use piecework_kernels::prefetch::prefetch_read;

/// No number.
pub(super) const NONE: u32 = u32::MAX;

/// The base-2 logarithm of the filter's bits for each pair, at least.
const FILTER_BITS: u32 = 3;

/// The table and the filter.
#[derive(Clone, Debug)]
pub(super) struct MergeTable {
    pairs: PairMap,
    /// A Bloom filter with two bits in one word for each pair, which excludes most pairs without a merge.
    filter: Vec<u64>,
    shift: u32,
}

impl MergeTable {
    pub(super) fn with_capacity(pairs: usize) -> Self {
        let words = (pairs << FILTER_BITS).next_power_of_two().max(64) / 64;
        let shift = 64 - (words * 64).ilog2();
        Self { pairs: PairMap::with_capacity(pairs), filter: vec![0; words], shift }
    }

    /// Add a pair that is not in the table.
    pub(super) fn insert(&mut self, left: u32, right: u32, merged: u32) {
        self.pairs.insert(left, right, merged);
        let (word, bits) = self.filter_bits(hash(left, right));
        self.filter[word] |= bits;
    }

    /// Prefetch the filter and the bucket of a pair.
    #[inline]
    pub(super) fn prefetch(&self, left: u32, right: u32) {
        let (word, _) = self.filter_bits(hash(left, right));
        prefetch_read(&self.filter[word]);
        self.pairs.prefetch(left, right);
    }

    /// Return the number that two tokens merge to, or `NONE`.
    #[inline]
    pub(super) fn merged(&self, left: u32, right: u32) -> u32 {
        let (word, bits) = self.filter_bits(hash(left, right));
        if self.filter[word] & bits != bits {
            return NONE;
        }
        match self.pairs.get(left, right) {
            NUMBER_BOUND => NONE,
            merged => merged,
        }
    }

    /// Return the table without the filter.
    pub(super) fn pairs(&self) -> &PairMap {
        &self.pairs
    }

    /// Return the table without the filter, by value.
    pub(super) fn into_pairs(self) -> PairMap {
        self.pairs
    }

    #[inline]
    fn filter_bits(&self, hash: u64) -> (usize, u64) {
        let bits = hash >> (self.shift - 6);
        let word = (hash >> self.shift >> 6) as usize;
        (word, 1 << (bits & 63) | 1 << (bits >> 6 & 63))
    }

    /// Return the bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        self.pairs.bytes() + size_of_val(self.filter.as_slice())
    }
}
