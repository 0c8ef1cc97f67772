//! Merges up to [`MAX_WORDS`] words in turns, so that the memory latency of one word overlaps with work on the others.
//!
//! A symbol is a number, and a merge makes the number that is its rank. Each position of a word has a candidate: the
//! number that its symbol and the next one merge to, above the position. The least candidate is the next merge, the
//! leftmost of equal ones. A merged symbol stays at the position of its left part, and a bit mask has the positions that
//! remain. A number that merges with nothing stands before and after each word, so that all steps are the same and have
//! no unpredictable branch.

mod pair_map;
#[cfg(test)]
mod tests;

use crate::level::Level;

pub use pair_map::{PairMap, NUMBER_BITS, NUMBER_BOUND};

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
