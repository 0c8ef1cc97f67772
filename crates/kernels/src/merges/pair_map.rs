//! A hash table from two numbers to the number that they merge to, with four pairs a bucket.

use std::hash::{BuildHasher, Hasher, RandomState};

use crate::prefetch::prefetch_read;

/// The bits of a number.
pub const NUMBER_BITS: u32 = 21;
/// All numbers are below this one, whose bits are all ones.
pub const NUMBER_BOUND: u32 = (1 << NUMBER_BITS) - 1;
const FREE: u64 = u64::MAX;
const BUCKET_SIZE: usize = 4;
/// So many buckets for so many pairs: one bucket in fifteen is full.
const BUCKETS: usize = 2;
const PAIRS_PER_BUCKETS: usize = 3;
/// Multiplies a pair before its highest bits select a bucket (Fibonacci hashing).
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
/// A pair that would be further from its bucket gives the table a random multiplier. Only pairs that were chosen for
/// it are that far.
const MAX_DISTANCE: usize = 128;

/// The table. Pairs that do not fit in their bucket are in the next one.
#[derive(Clone, Debug)]
pub struct PairMap {
    buckets: Vec<PairBucket>,
    capacity: usize,
    multiplier: u64,
}

/// The left, right and merged number of each pair, from the highest bit; free slots come last.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
struct PairBucket([u64; BUCKET_SIZE]);

impl PairMap {
    /// Return an empty table for so many pairs.
    #[must_use]
    pub fn with_capacity(pairs: usize) -> Self {
        let count = pairs * BUCKETS / PAIRS_PER_BUCKETS + 1;
        Self {
            buckets: vec![PairBucket([FREE; BUCKET_SIZE]); count],
            capacity: count * BUCKET_SIZE - 1,
            multiplier: SPREAD,
        }
    }

    /// Add a pair that is not in the table; all three numbers are below `NUMBER_BOUND`.
    ///
    /// # Panics
    /// Panics if the table is full.
    pub fn insert(&mut self, left: u32, right: u32, merged: u32) {
        self.capacity = self.capacity.checked_sub(1).expect("the capacity is the number of pairs");
        let distance = self.place(key(left, right) << NUMBER_BITS | u64::from(merged));
        if distance > MAX_DISTANCE {
            self.spread_again();
        }
    }

    /// Store a pair with its merged number; returns its distance from its bucket.
    fn place(&mut self, pair: u64) -> usize {
        let (mut at, mut distance) = (self.home_of(pair >> NUMBER_BITS), 0);
        loop {
            match self.buckets[at].0.iter().position(|&slot| slot == FREE) {
                Some(free) => {
                    self.buckets[at].0[free] = pair;
                    return distance;
                }
                None => (at, distance) = (self.after(at), distance + 1),
            }
        }
    }

    /// Place all pairs anew with random multipliers, until none is far from its bucket.
    #[cold]
    fn spread_again(&mut self) {
        let pairs: Vec<u64> =
            self.buckets.iter().flat_map(|bucket| bucket.0).filter(|&pair| pair != FREE).collect();
        loop {
            self.multiplier = RandomState::new().build_hasher().finish() | 1;
            self.buckets.fill(PairBucket([FREE; BUCKET_SIZE]));
            if pairs.iter().all(|&pair| self.place(pair) <= MAX_DISTANCE) {
                return;
            }
        }
    }

    /// Return the most buckets that a lookup reads.
    #[cfg(test)]
    pub(super) fn longest_lookup(&self) -> usize {
        let full = |bucket: &PairBucket| bucket.0[BUCKET_SIZE - 1] != FREE;
        let runs = self.buckets.split(|bucket| !full(bucket)).map(<[PairBucket]>::len);
        1 + runs.max().unwrap_or(0)
    }

    /// Return the number that two numbers merge to, or `NUMBER_BOUND`.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, left: u32, right: u32) -> u32 {
        self.get_at(self.home(left, right), left, right)
    }

    /// Prefetch the bucket of a pair; returns its index.
    #[inline(always)]
    pub fn prefetch(&self, left: u32, right: u32) -> usize {
        let at = self.home(left, right);
        prefetch_read(&self.buckets[at]);
        at
    }

    /// `get` with the index that `prefetch` returned.
    #[inline(always)]
    pub(super) fn get_at(&self, mut at: usize, left: u32, right: u32) -> u32 {
        let key = key(left, right);
        loop {
            let PairBucket(slots) = &self.buckets[at];
            // Compare all four without a branch.
            let found = slots.iter().fold(FREE, |found, &slot| {
                // Nothing but ones where the pair is the one neighbors: it has so active_words bits.
                let is_match = ((slot >> NUMBER_BITS ^ key).wrapping_sub(1) as i64 >> 63) as u64;
                found & (slot | !is_match)
            });
            let is_last = (found != FREE) | (slots[BUCKET_SIZE - 1] == FREE);
            if is_last {
                return found as u32 & NUMBER_BOUND;
            }
            at = self.after(at);
        }
    }

    /// Return the bytes of memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(self.buckets.as_slice())
    }

    #[inline(always)]
    fn home(&self, left: u32, right: u32) -> usize {
        self.home_of(key(left, right))
    }

    #[inline(always)]
    fn home_of(&self, key: u64) -> usize {
        let hash = key.wrapping_mul(self.multiplier);
        ((u128::from(hash) * self.buckets.len() as u128) >> 64) as usize
    }

    #[inline(always)]
    fn after(&self, at: usize) -> usize {
        if at + 1 == self.buckets.len() {
            0
        } else {
            at + 1
        }
    }
}

/// Return the hash of two numbers, of which the highest bits are the best.
#[inline(always)]
#[must_use]
pub fn hash(left: u32, right: u32) -> u64 {
    key(left, right).wrapping_mul(SPREAD)
}

#[inline(always)]
fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << NUMBER_BITS | u64::from(right)
}
