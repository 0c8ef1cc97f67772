//! Some words at once, merge by merge: while one waits for memory, the others go on.
//!
//! Every two neighbours of a word that join are in a row, the number that they join to before their place: the
//! least of the row is the next merge, the leftmost of equals. What is joined stays at the place of its left half,
//! and a bit tells which places are left. A number that joins with nothing stands before and behind each word: a step
//! is the same everywhere, and has no branch to be foreseen wrongly.

use super::few::{Few, ABREAST};
use super::pairs::{Pairs, NUMBER_BOUND};
use crate::level::Level;

/// Rows for words of up to 15 bytes.
pub type ShortRows = Rows<16, 32>;
/// Rows for words of up to 31 bytes.
pub type LongRows = Rows<32, 64>;

/// The number that stands before and behind a word.
const EDGE: u32 = NUMBER_BOUND;

/// What any two bytes join to.
#[derive(Clone, Debug)]
pub struct BytePairs(Vec<u32>);

/// The words on their way: a place for each byte and one before the word, and room for twice as many numbers, so
/// that the one behind all places stands behind every word.
#[derive(Clone, Debug)]
pub struct Rows<const PLACES: usize, const ROOM: usize>([Row<PLACES, ROOM>; ABREAST]);

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Row<const PLACES: usize, const ROOM: usize> {
    /// For each place what it and the next that is left join to, and the place.
    joins: [i32; PLACES],
    numbers: [u32; ROOM],
    /// A bit for each place that is left, those before and behind the word too.
    left: u64,
    sought: Sought,
}

/// The place of the last merge, what stands before and behind, and where it is sought what they join to.
#[derive(Clone, Copy, Debug, Default)]
struct Sought {
    before: u32,
    place: u32,
    behind: u32,
    at: [usize; 2],
}

impl<const PLACES: usize, const ROOM: usize> Default for Rows<PLACES, ROOM> {
    fn default() -> Self {
        Self([Row::EMPTY; ABREAST])
    }
}

impl BytePairs {
    /// From what two bytes join to.
    #[must_use]
    pub fn of(joined: impl Iterator<Item = (u8, u8, u32)>) -> Self {
        let mut pairs = vec![NUMBER_BOUND; 1 << 16];
        joined
            .for_each(|(left, right, joined)| pairs[usize::from(left) << 8 | usize::from(right)] = joined);
        Self(pairs)
    }

    #[inline(always)]
    fn joined(&self, left: u8, right: u8) -> u32 {
        self.0[usize::from(left) << 8 | usize::from(right)]
    }

    /// The memory they take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(self.0.as_slice())
    }
}

impl<const PLACES: usize, const ROOM: usize> Rows<PLACES, ROOM> {
    /// The longest word, in bytes.
    pub const MAX_BYTES: usize = PLACES - 1;

    /// Join all that join in up to `ABREAST` words, the least number first, the leftmost of equals; those of more than
    /// `MAX_BYTES` bytes are left out. The bytes of words are the numbers to begin with.
    #[inline]
    pub fn join(&mut self, words: &[&[u8]], bytes: &BytePairs, pairs: &Pairs) {
        self.join_at(Level::active(), words, bytes, pairs);
    }

    /// `join` by the instructions of one level.
    pub fn join_at(&mut self, level: Level, words: &[&[u8]], bytes: &BytePairs, pairs: &Pairs) {
        match level.set() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a level exists only where the processor has its instructions.
            crate::level::Set::Avx512 => unsafe { self.join_avx512(words, bytes, pairs) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the same.
            crate::level::Set::Avx2 => unsafe { self.join_avx2(words, bytes, pairs) },
            _ => self.join_scalar(words, bytes, pairs),
        }
    }

    /// `join_scalar`, compiled for other instructions.
    ///
    /// # Safety
    /// Needs the features named.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt")]
    unsafe fn join_avx512(&mut self, words: &[&[u8]], bytes: &BytePairs, pairs: &Pairs) {
        self.join_scalar(words, bytes, pairs);
    }

    /// `join_scalar`, compiled for other instructions.
    ///
    /// # Safety
    /// Needs the features named.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    unsafe fn join_avx2(&mut self, words: &[&[u8]], bytes: &BytePairs, pairs: &Pairs) {
        self.join_scalar(words, bytes, pairs);
    }

    #[inline(always)]
    fn join_scalar(&mut self, words: &[&[u8]], bytes: &BytePairs, pairs: &Pairs) {
        let rows = &mut self.0;
        let mut going = Few::of(words.len(), |row| words[row].len() <= Self::MAX_BYTES);
        going.visit(|row| rows[row].begin(words[row], bytes));
        while !going.is_empty() {
            going.retain(|row| rows[row].merge(pairs));
            going.visit(|row| rows[row].find(pairs));
        }
    }

    /// The numbers that a word ended as.
    pub fn numbers(&self, row: usize) -> impl Iterator<Item = u32> + '_ {
        let Row { numbers, left, .. } = &self.0[row];
        let mut left = left & !(1 | 1 << PLACES);
        std::iter::from_fn(move || {
            let place = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            numbers.get(place).copied()
        })
    }
}

impl<const PLACES: usize, const ROOM: usize> Row<PLACES, ROOM> {
    const PLACE_BITS: u32 = PLACES.ilog2();
    /// Neighbours that do not join, whatever their place is.
    const APART: i32 = (NUMBER_BOUND << Self::PLACE_BITS) as i32;
    const EMPTY: Self = Self {
        joins: [Self::APART; PLACES],
        numbers: [EDGE; ROOM],
        left: 0,
        sought: Sought { before: 0, place: 0, behind: 0, at: [0; 2] },
    };

    #[inline(always)]
    fn begin(&mut self, word: &[u8], bytes: &BytePairs) {
        self.joins = [Self::APART; PLACES];
        self.left = ((2 << word.len()) - 1) | 1 << PLACES;
        let mut before = 0;
        for (at, &byte) in word.iter().enumerate() {
            if at > 0 {
                self.joins[at % PLACES] = Self::placed(bytes.joined(before, byte), at);
            }
            self.numbers[(at + 1) % ROOM] = u32::from(byte);
            before = byte;
        }
    }

    /// Do the next merge, and seek what it joins to before and behind; says whether there was one.
    #[inline(always)]
    fn merge(&mut self, pairs: &Pairs) -> bool {
        let best = self.joins.iter().copied().fold(Self::APART, i32::min);
        if best >= Self::APART {
            return false;
        }
        let (place, number) = (best as usize % PLACES, best as u32 >> Self::PLACE_BITS);
        let (before, after) = (self.left & ((1 << place) - 1), self.left & !((2 << place) - 1));
        let behind = after & (after - 1);
        self.left ^= after ^ behind;
        self.joins[after.trailing_zeros() as usize % PLACES] = Self::APART;
        self.numbers[place] = number;
        let (before, behind) = (63 - before.leading_zeros(), behind.trailing_zeros());
        self.sought = Sought {
            before,
            place: place as u32,
            behind,
            at: [
                pairs.seek(self.numbers[before as usize % ROOM], number),
                pairs.seek(number, self.numbers[behind as usize % ROOM]),
            ],
        };
        true
    }

    /// Read what was sought.
    #[inline(always)]
    fn find(&mut self, pairs: &Pairs) {
        let Sought { before, place, behind, at } = self.sought;
        let (before, place, behind) =
            (before as usize % ROOM, place as usize % ROOM, behind as usize % ROOM);
        let [left, number, right] = [before, place, behind].map(|place| self.numbers[place]);
        self.joins[before % PLACES] = Self::placed(pairs.find(at[0], left, number), before);
        self.joins[place % PLACES] = Self::placed(pairs.find(at[1], number, right), place);
    }

    /// What two numbers join to, above the place of the left.
    #[inline(always)]
    fn placed(joined: u32, place: usize) -> i32 {
        (joined << Self::PLACE_BITS) as i32 | place as i32
    }
}
