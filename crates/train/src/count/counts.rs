//! Word counts: distinct words, how often each occurs and, where known, its first position.
//!
//! `CountMap` collects the words; `Counts` stores them in order. A first position is
//! (source << 40) + byte offset.

use std::collections::TryReserveError;

/// The lowest bit of the source number in a first position; the bits below are the byte offset.
pub(crate) const SOURCE_SHIFT: u32 = 40;

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
}

impl Default for Counts {
    fn default() -> Self {
        Self::new(WordOrder::Position)
    }
}

impl Counts {
    /// Empty counts; the caller appends words in this order.
    pub(super) fn new(order: WordOrder) -> Self {
        let first = (order == WordOrder::Position).then(Vec::new);
        Self { text: String::new(), ends: Vec::new(), counts: Vec::new(), first }
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

    /// Whether there are no words.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Return the word at `index`, which must be below `len()`.
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

    /// Iterate over (word, count) in word order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, u64)> + '_ {
        (0..self.len()).map(|index| (self.word(index), self.counts[index]))
    }
}
