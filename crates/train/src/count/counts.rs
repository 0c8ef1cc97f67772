//! Word counts: distinct words, how often each occurs and, where known, its first position.
//!
//! `CountMap` collects the words; `Counts` stores them in order. A first position is
//! (source << 40) + byte offset.

use std::collections::TryReserveError;

use piecework_core::error::{Error, ErrorKind};

/// The lowest bit of the source number in a first position; the bits below are the byte offset.
pub(crate) const SOURCE_SHIFT: u32 = 40;

/// The offset basis and the prime of FNV-1a with 64 bits (Fowler, Noll and Vo).
const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// The order of the words in `Counts`; equal words by this order are ordered by code points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordOrder {
    /// By first position.
    Position,
    /// By count, descending; without first positions.
    Count,
}

/// Distinct words with u64 counts and, where known, u64 first positions.
///
/// Words are ordered by (first position, code points); without positions by (count descending, code
/// points).
///
/// ```
/// use piecework_train::count::Counts;
/// let words = ["hug", "pug"].map(String::from);
/// let counts = Counts::from_parts(&words, &[10, 5], None)?;
/// assert_eq!(counts.iter().next(), Some(("hug", 10)));
/// assert_eq!(counts.first(), None);
/// # Ok::<(), piecework_core::error::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    text: String,
    /// The end of each word in `text`; a word starts at the end of the previous one.
    ends: Vec<usize>,
    counts: Vec<u64>,
    first: Option<Vec<u64>>,
    /// Whether words are stored with their boundaries ([`super::boundaries`]).
    pub(super) has_boundaries: bool,
}

impl Default for Counts {
    fn default() -> Self {
        Self::new(WordOrder::Position)
    }
}

impl Counts {
    /// Make empty counts; the caller appends words in this order.
    pub(super) fn new(order: WordOrder) -> Self {
        let first = (order == WordOrder::Position).then(Vec::new);
        Self { text: String::new(), ends: Vec::new(), counts: Vec::new(), first, has_boundaries: false }
    }

    /// Reserve memory for exactly `words` more words of `bytes` bytes in all.
    pub(super) fn reserve(&mut self, words: usize, bytes: usize) -> Result<(), TryReserveError> {
        self.text.try_reserve_exact(bytes)?;
        self.ends.try_reserve_exact(words)?;
        self.counts.try_reserve_exact(words)?;
        self.first.as_mut().map_or(Ok(()), |first| first.try_reserve_exact(words))
    }

    /// Append a word that follows all others in the order.
    pub(super) fn push(&mut self, count: u64, first: u64, write: impl FnOnce(&mut String)) {
        write(&mut self.text);
        self.ends.push(self.text.len());
        self.counts.push(count);
        if let Some(positions) = &mut self.first {
            positions.push(first);
        }
    }

    /// Return the number of distinct words.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Return whether there are no words.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Return the word at `index`, which must be below `len()`, as it is stored: with a U+FDD0 at each boundary.
    #[must_use]
    pub fn word(&self, index: usize) -> &str {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start..self.ends[index]]
    }

    /// Return the count of each word, in word order.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Return the first position of each word, ascending, or `None` if positions are unknown.
    #[must_use]
    pub fn first(&self) -> Option<&[u64]> {
        self.first.as_deref()
    }

    /// Iterate over (word, count) in word order; words are as [`Self::word`] returns them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, u64)> + '_ {
        (0..self.len()).map(|index| (self.word(index), self.counts[index]))
    }

    /// Return the words that occur at least `least` times, in the same order.
    ///
    /// ```
    /// use piecework_train::count::Counts;
    /// let counts = Counts::from_parts(&["hug", "pug"].map(String::from), &[10, 5], None)?;
    /// assert_eq!(counts.at_least(6)?.iter().collect::<Vec<_>>(), [("hug", 10)]);
    /// # Ok::<(), piecework_core::error::Error>(())
    /// ```
    ///
    /// Errors: `Memory`.
    pub fn at_least(&self, least: u64) -> Result<Self, Error> {
        let order = if self.first().is_some() { WordOrder::Position } else { WordOrder::Count };
        let kept = || self.iter().enumerate().filter(|&(_, (_, count))| count >= least);
        let (words, bytes) =
            kept().fold((0, 0), |(words, bytes), (_, (word, _))| (words + 1, bytes + word.len()));
        let mut found = Self { has_boundaries: self.has_boundaries, ..Self::new(order) };
        found.reserve(words, bytes).map_err(|_| {
            let found = format!("an allocation of {} MB failed", (bytes + 24 * words).div_ceil(1_000_000));
            Error::new(ErrorKind::Memory, "counts", found, "more memory, or fewer distinct words")
        })?;
        for (index, (word, count)) in kept() {
            let first = self.first().map_or(0, |first| first[index]);
            found.push(count, first, |text| text.push_str(word));
        }
        Ok(found)
    }

    /// Return a hash of words, counts and first positions, the same on all machines; not cryptographic.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let add = |hash: u64, value: u64| (hash ^ value).wrapping_mul(FNV_PRIME).rotate_left(29);
        let mut hash = add(FNV_BASIS, u64::from(self.first().is_some()));
        if self.has_boundaries {
            hash = add(hash, 1);
        }
        for (index, (word, count)) in self.iter().enumerate() {
            for bytes in word.as_bytes().chunks(8) {
                let mut padded = [0; 8];
                padded[..bytes.len()].copy_from_slice(bytes);
                hash = add(hash, u64::from_le_bytes(padded));
            }
            hash = add(add(hash, word.len() as u64), count);
            hash = add(hash, self.first().map_or(0, |first| first[index]));
        }
        hash
    }
}
