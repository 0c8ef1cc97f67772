//! A hash table from two numbers to the number that they merge to, with four pairs a bucket.

use crate::prefetch::prefetch_read;

/// The bits of a number.
pub const NUMBER_BITS: u32 = 21;
/// All numbers are below this one, whose bits are all ones.
pub const NUMBER_BOUND: u32 = (1 << NUMBER_BITS) - 1;
const FREE: u64 = u64::MAX;
const BUCKET_SIZE: usize = 4;
/// A table has this many buckets for each `PAIRS_PER_BUCKETS` pairs: one bucket in fifteen is full.
const BUCKETS: usize = 2;
const PAIRS_PER_BUCKETS: usize = 3;
/// The first multiplier of a pair, before its highest bits select a bucket (Fibonacci hashing).
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
/// The table. Pairs that do not fit in their bucket are in the next one.
///
/// A lookup of an absent pair reads all full buckets from its own on, and whoever writes a file can choose pairs that
/// fill buckets in a row. So the runs of full buckets are bounded: a pair that makes one too long is reported, and
/// all pairs get other buckets by another multiplier.
#[derive(Clone, Debug)]
pub struct PairMap {
    buckets: Vec<PairBucket>,
    capacity: usize,
    multiplier: u64,
    /// The longest permitted run of full buckets.
    max_run: usize,
}

/// The left, right and merged number of each pair, from the highest bit; free slots come last.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
struct PairBucket([u64; BUCKET_SIZE]);

impl PairMap {
    /// Return an empty table for this number of pairs.
    #[must_use]
    pub fn with_capacity(pairs: usize) -> Self {
        let count = pairs * BUCKETS / PAIRS_PER_BUCKETS + 1;
        Self {
            buckets: vec![PairBucket([FREE; BUCKET_SIZE]); count],
            capacity: count * BUCKET_SIZE - 1,
            multiplier: SPREAD,
            // About twice the longest run of random pairs, of which one table in a thousand has a longer one.
            max_run: 5 + count.ilog2() as usize / 3,
        }
    }

    /// Add a pair that is not in the table; all three numbers are below `NUMBER_BOUND`. Return `false` if a run of full
    /// buckets is too long now: then [`PairMap::spread_again`] must follow.
    ///
    /// # Panics
    /// Panics if the table is full.
    #[must_use]
    #[inline]
    pub fn insert(&mut self, left: u32, right: u32, merged: u32) -> bool {
        self.capacity = self.capacity.checked_sub(1).expect("the capacity is the number of pairs");
        self.place(key(left, right) << NUMBER_BITS | u64::from(merged))
    }

    /// Place all pairs anew by the first of these multipliers that makes no run of full buckets too long. Return `false`
    /// if there is none; then the table has lost pairs.
    #[cold]
    #[must_use]
    pub fn spread_again(&mut self, mut multipliers: impl Iterator<Item = u64>) -> bool {
        let pairs: Vec<u64> =
            self.buckets.iter().flat_map(|bucket| bucket.0).filter(|&pair| pair != FREE).collect();
        multipliers.any(|multiplier| {
            self.multiplier = multiplier | 1;
            self.buckets.fill(PairBucket([FREE; BUCKET_SIZE]));
            pairs.iter().all(|&pair| self.place(pair))
        })
    }

    /// Iterate over the two numbers of each pair.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let pairs = self.buckets.iter().flat_map(|bucket| bucket.0).filter(|&pair| pair != FREE);
        let number = |bits: u64| bits as u32 & NUMBER_BOUND;
        pairs.map(move |pair| (number(pair >> (2 * NUMBER_BITS)), number(pair >> NUMBER_BITS)))
    }

    /// Store a pair with its merged number; return whether the run of full buckets around it is short.
    #[inline]
    fn place(&mut self, pair: u64) -> bool {
        let mut at = self.home_of(pair >> NUMBER_BITS);
        loop {
            match self.buckets[at].0.iter().position(|&slot| slot == FREE) {
                Some(free) => {
                    self.buckets[at].0[free] = pair;
                    return free + 1 < BUCKET_SIZE || self.is_run_short(at);
                }
                None => at = self.after(at),
            }
        }
    }

    /// Return whether the run of full buckets around a full one is permitted.
    fn is_run_short(&self, full: usize) -> bool {
        let count = self.buckets.len();
        let is_full = |distance: usize| self.buckets[(full + distance) % count].is_full();
        // One bucket at least is not full, so no distance reaches `count`.
        let after = (1..=self.max_run).take_while(|&distance| is_full(distance)).count();
        let before = (1..=self.max_run).take_while(|&distance| is_full(count - distance)).count();
        before + after < self.max_run
    }

    #[cfg(test)]
    pub(super) fn max_run(&self) -> usize {
        self.max_run
    }

    /// Return the most buckets that a lookup reads.
    #[cfg(test)]
    pub(super) fn longest_lookup(&self) -> usize {
        let runs = self.buckets.split(|bucket| !bucket.is_full()).map(<[PairBucket]>::len);
        1 + runs.max().unwrap_or(0)
    }

    /// Return the number that two numbers merge to, or `NUMBER_BOUND`.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, left: u32, right: u32) -> u32 {
        self.get_at(self.home(left, right), left, right)
    }

    /// Prefetch the bucket of a pair; return its index.
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
                // All ones if the slot has this key, otherwise 0. Both keys have fewer than 64 bits, so subtracting 1
                // makes only a difference of 0 negative.
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

    /// Return the hash of two numbers by the multiplier of the table; its highest bits are the best.
    #[inline(always)]
    #[must_use]
    pub fn hash(&self, left: u32, right: u32) -> u64 {
        key(left, right).wrapping_mul(self.multiplier)
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

impl PairBucket {
    #[inline(always)]
    fn is_full(&self) -> bool {
        self.0[BUCKET_SIZE - 1] != FREE
    }
}

#[inline(always)]
fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << NUMBER_BITS | u64::from(right)
}
