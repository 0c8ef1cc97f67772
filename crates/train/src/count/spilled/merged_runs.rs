//! Merging of sorted runs, and of weighted groups.

use std::cmp::{Ordering, Reverse};
use std::collections::binary_heap::PeekMut;
use std::collections::BinaryHeap;

use super::run_file::{Run, RunOrder, RunReader, WordCount};
use piecework_core::error::{Error, ErrorKind};

/// The weight of each group of sources: a numerator for each, over one denominator.
///
/// The count of a word is the exact sum of (count x weight) over the groups, rounded once to the nearest
/// integer, halves up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupWeights {
    numerators: Vec<u64>,
    denominator: u64,
}

impl GroupWeights {
    /// Every group weighs 1.
    pub const UNIT: Self = Self { numerators: Vec::new(), denominator: 1 };

    /// Weights `numerators[group] / denominator`; a denominator of zero means 1.
    #[must_use]
    pub fn new(numerators: Vec<u64>, denominator: u64) -> Self {
        Self { numerators, denominator: denominator.max(1) }
    }

    /// Return the product of a count and the numerator of its group; groups without a numerator weigh 1.
    fn weighted(&self, count: u64, group: u32) -> u128 {
        let numerator = self.numerators.get(group as usize).copied();
        u128::from(count) * u128::from(numerator.unwrap_or(self.denominator))
    }

    fn rounded(&self, sum: u128) -> u128 {
        let denominator = u128::from(self.denominator);
        sum / denominator + u128::from(sum % denominator * 2 >= denominator)
    }
}

/// Several runs of one order, merged: each word once, with the sum of its counts and its smallest position.
///
/// Runs by position must have distinct words.
pub(super) struct MergedRuns {
    heads: BinaryHeap<Reverse<Head>>,
    weights: GroupWeights,
    word: Vec<u8>,
}

impl MergedRuns {
    pub(super) fn open(runs: &[Run], order: RunOrder, weights: GroupWeights) -> Result<Self, Error> {
        let mut heads = BinaryHeap::with_capacity(runs.len());
        for run in runs {
            let mut reader = RunReader::open(run)?;
            if reader.advance()? {
                heads.push(Reverse(Head { reader, order }));
            }
        }
        Ok(Self { heads, weights, word: Vec::new() })
    }

    /// Return the next word, or `None` at the end; words whose weighted count rounds to zero are left out.
    pub(super) fn next(&mut self) -> Result<Option<WordCount<'_>>, Error> {
        while let Some(Reverse(head)) = self.heads.peek() {
            let WordCount { word, mut first, .. } = head.reader.current();
            self.word.clear();
            self.word.extend_from_slice(word);
            let mut sum = 0;
            while let Some(mut top) = self.heads.peek_mut() {
                let current = top.0.reader.current();
                if current.word != self.word {
                    break;
                }
                sum += self.weights.weighted(current.count, top.0.reader.group);
                first = first.min(current.first);
                if !top.0.reader.advance()? {
                    PeekMut::pop(top);
                }
            }
            let count = u64::try_from(self.weights.rounded(sum)).map_err(|_| self.too_frequent())?;
            if count > 0 {
                return Ok(Some(WordCount { word: &self.word, count, first }));
            }
        }
        Ok(None)
    }

    fn too_frequent(&self) -> Error {
        let place = format!("count of {:?}", String::from_utf8_lossy(&self.word));
        Error::new(ErrorKind::Training, place, "a sum beyond 64 bits", "at most 2^64 - 1")
    }
}

/// The current word of a run.
struct Head {
    reader: RunReader,
    order: RunOrder,
}

impl Ord for Head {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order.compare(&self.reader.current(), &other.reader.current())
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}
