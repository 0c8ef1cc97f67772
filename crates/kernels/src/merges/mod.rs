//! Merges up to [`MAX_WORDS`] words in turns, so that the memory latency of one word overlaps with work on the others.
//!
//! A symbol is a number, and a merge makes the number that is its rank. Each position of a word has a candidate: the
//! number that its symbol and the next one merge to, above the position. The least candidate is the next merge, the
//! leftmost of equal ones. A merged symbol stays at the position of its left part, and a bit mask has the positions that
//! remain. A number that merges with nothing stands before and after each word, so that all steps are the same and have
//! no unpredictable branch.

#[cfg(test)]
mod tests;

use crate::level::{prefetch_read, Level};

/// The most words that are merged in turns.
pub const MAX_WORDS: usize = 32;

/// Words of up to 15 bytes.
pub type ShortWordBatch = InterleavedWords<16, 32>;
/// Words of up to 31 bytes.
pub type LongWordBatch = InterleavedWords<32, 64>;

/// The number before and after a word.
const BOUNDARY: u32 = NUMBER_BOUND;

/// The number that any two bytes merge to, by both bytes.
#[derive(Clone, Debug)]
pub struct BytePairMap(Vec<u32>);

/// The words that are merged in turns. A word has a position for each byte and one before it. Numbers have twice the
/// capacity, so that the one after all positions follows every word.
#[derive(Clone, Debug)]
pub struct InterleavedWords<const SYMBOLS: usize, const CAPACITY: usize>(
    [WordMerges<SYMBOLS, CAPACITY>; MAX_WORDS],
);

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct WordMerges<const SYMBOLS: usize, const CAPACITY: usize> {
    /// For each position, the number that its symbol and the next remaining one merge to, above the position.
    candidates: [i32; SYMBOLS],
    numbers: [u32; CAPACITY],
    /// A bit for each position that remains, with those before and after the word.
    remaining: u64,
    neighbors: Neighbors,
}

/// The position of the last merge, the positions before and after it, and the buckets where its new pairs are looked
/// up.
#[derive(Clone, Copy, Debug, Default)]
struct Neighbors {
    before: u32,
    position: u32,
    next: u32,
    at: [usize; 2],
}

impl<const SYMBOLS: usize, const CAPACITY: usize> Default for InterleavedWords<SYMBOLS, CAPACITY> {
    fn default() -> Self {
        Self([WordMerges::EMPTY; MAX_WORDS])
    }
}

impl BytePairMap {
    /// Build from the pairs of bytes that merge, with the numbers that they merge to.
    #[must_use]
    pub fn of(merged: impl Iterator<Item = (u8, u8, u32)>) -> Self {
        let mut pairs = vec![NUMBER_BOUND; 1 << 16];
        merged
            .for_each(|(left, right, merged)| pairs[usize::from(left) << 8 | usize::from(right)] = merged);
        Self(pairs)
    }

    #[inline(always)]
    fn merged(&self, left: u8, right: u8) -> u32 {
        self.0[usize::from(left) << 8 | usize::from(right)]
    }

    /// Return the bytes of memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(self.0.as_slice())
    }
}

impl<const SYMBOLS: usize, const CAPACITY: usize> InterleavedWords<SYMBOLS, CAPACITY> {
    /// The longest word, in bytes.
    pub const MAX_BYTES: usize = SYMBOLS - 1;

    /// Apply all merges to up to `MAX_WORDS` words, the least number first, the leftmost of equal ones. Skip words of
    /// more than `MAX_BYTES` bytes. The first symbols of a word are its bytes.
    #[inline]
    pub fn merge_words(&mut self, words: &[&[u8]], bytes: &BytePairMap, pairs: &PairMap) {
        self.merge_at(Level::active(), words, bytes, pairs);
    }

    /// `merge_words` with the instructions of one level.
    pub fn merge_at(&mut self, level: Level, words: &[&[u8]], bytes: &BytePairMap, pairs: &PairMap) {
        match level.set() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a level exists only where the processor has its instructions.
            crate::level::Set::Avx512 => unsafe { self.merge_avx512(words, bytes, pairs) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the same.
            crate::level::Set::Avx2 => unsafe { self.merge_avx2(words, bytes, pairs) },
            _ => self.merge_scalar(words, bytes, pairs),
        }
    }

    /// `merge_scalar`, compiled for other instructions.
    ///
    /// # Safety
    /// Needs the features named.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt")]
    unsafe fn merge_avx512(&mut self, words: &[&[u8]], bytes: &BytePairMap, pairs: &PairMap) {
        self.merge_scalar(words, bytes, pairs);
    }

    /// `merge_scalar`, compiled for other instructions.
    ///
    /// # Safety
    /// Needs the features named.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    unsafe fn merge_avx2(&mut self, words: &[&[u8]], bytes: &BytePairMap, pairs: &PairMap) {
        self.merge_scalar(words, bytes, pairs);
    }

    #[inline(always)]
    fn merge_scalar(&mut self, words: &[&[u8]], bytes: &BytePairMap, pairs: &PairMap) {
        let batch = &mut self.0;
        let mut active = ActiveWords::of(words.len(), |index| words[index].len() <= Self::MAX_BYTES);
        active.visit(|index| batch[index].begin(words[index], bytes));
        while !active.is_empty() {
            active.retain(|index| batch[index].merge(pairs));
            active.visit(|index| batch[index].update(pairs));
        }
    }

    /// Return the symbols of a word after all merges.
    pub fn numbers(&self, index: usize) -> impl Iterator<Item = u32> + '_ {
        let WordMerges { numbers, remaining, .. } = &self.0[index];
        let mut left = remaining & !(1 | 1 << SYMBOLS);
        std::iter::from_fn(move || {
            let position = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            numbers.get(position).copied()
        })
    }
}

impl<const SYMBOLS: usize, const CAPACITY: usize> WordMerges<SYMBOLS, CAPACITY> {
    const POSITION_BITS: u32 = SYMBOLS.ilog2();
    /// Two symbols that do not merge, at any position.
    const NO_MERGE: i32 = (NUMBER_BOUND << Self::POSITION_BITS) as i32;
    const EMPTY: Self = Self {
        candidates: [Self::NO_MERGE; SYMBOLS],
        numbers: [BOUNDARY; CAPACITY],
        remaining: 0,
        neighbors: Neighbors { before: 0, position: 0, next: 0, at: [0; 2] },
    };

    #[inline(always)]
    fn begin(&mut self, word: &[u8], bytes: &BytePairMap) {
        self.candidates = [Self::NO_MERGE; SYMBOLS];
        self.remaining = ((2 << word.len()) - 1) | 1 << SYMBOLS;
        let mut before = 0;
        for (at, &byte) in word.iter().enumerate() {
            if at > 0 {
                self.candidates[at % SYMBOLS] = Self::candidate(bytes.merged(before, byte), at);
            }
            self.numbers[(at + 1) % CAPACITY] = u32::from(byte);
            before = byte;
        }
    }

    /// Apply the next merge and prefetch the lookups of the two new pairs. Return `false` without one.
    #[inline(always)]
    fn merge(&mut self, pairs: &PairMap) -> bool {
        let best = self.candidates.iter().copied().fold(Self::NO_MERGE, i32::min);
        if best >= Self::NO_MERGE {
            return false;
        }
        let (position, number) = (best as usize % SYMBOLS, best as u32 >> Self::POSITION_BITS);
        let (before, after) =
            (self.remaining & ((1 << position) - 1), self.remaining & !((2 << position) - 1));
        let next = after & (after - 1);
        self.remaining ^= after ^ next;
        self.candidates[after.trailing_zeros() as usize % SYMBOLS] = Self::NO_MERGE;
        self.numbers[position] = number;
        let (before, next) = (63 - before.leading_zeros(), next.trailing_zeros());
        self.neighbors = Neighbors {
            before,
            position: position as u32,
            next,
            at: [
                pairs.prefetch(self.numbers[before as usize % CAPACITY], number),
                pairs.prefetch(number, self.numbers[next as usize % CAPACITY]),
            ],
        };
        true
    }

    /// Look up the two new pairs.
    #[inline(always)]
    fn update(&mut self, pairs: &PairMap) {
        let Neighbors { before, position, next, at } = self.neighbors;
        let (before, position, next) =
            (before as usize % CAPACITY, position as usize % CAPACITY, next as usize % CAPACITY);
        let [left, number, right] = [before, position, next].map(|position| self.numbers[position]);
        self.candidates[before % SYMBOLS] = Self::candidate(pairs.get_at(at[0], left, number), before);
        self.candidates[position % SYMBOLS] = Self::candidate(pairs.get_at(at[1], number, right), position);
    }

    /// Return the number that two symbols merge to, above the position of the left one.
    #[inline(always)]
    fn candidate(merged: u32, position: usize) -> i32 {
        (merged << Self::POSITION_BITS) as i32 | position as i32
    }
}

/// The words of a batch that still have merges, by number.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ActiveWords {
    numbers: [u8; MAX_WORDS],
    len: usize,
}

impl ActiveWords {
    /// Select the words for which `is_active` returns true among the first `count`.
    pub(super) fn of(count: usize, is_active: impl FnMut(usize) -> bool) -> Self {
        let mut active_words =
            Self { numbers: std::array::from_fn(|number| number as u8), len: count.min(MAX_WORDS) };
        active_words.retain(is_active);
        active_words
    }

    pub(super) fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Keep the words for which `is_active` returns true; call it in their order.
    #[inline(always)]
    pub(super) fn retain(&mut self, mut is_active: impl FnMut(usize) -> bool) {
        let mut kept = 0;
        for at in 0..self.len {
            let number = self.numbers[at % MAX_WORDS];
            self.numbers[kept % MAX_WORDS] = number;
            kept += usize::from(is_active(usize::from(number) % MAX_WORDS));
        }
        self.len = kept;
    }

    /// Call `visit` for each word.
    #[inline(always)]
    pub(super) fn visit(mut self, mut visit: impl FnMut(usize)) {
        self.retain(|number| {
            visit(number);
            true
        });
    }
}

// A hash table from two numbers to the number that they merge to, with four pairs a bucket.

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
