//! A round of training: the frequent pairs, and the heap that yields the best.
//!
//! Heap entries are upper bounds: the top is compared with the current count and pushed back if it is out of
//! date.

use std::collections::BinaryHeap;

use super::pair_priority::PairPriority;
use super::vocabulary::{GrowingVocabulary, MergedEntry};
use crate::merges::frequent_pairs::{add_position, key, parts, CountsByPair};
use crate::merges::neighbour_changes::{NeighbourChange, NeighbourChanges, Side};
use crate::merges::packed_words::PackedWords;
use crate::merges::pair_table::PairTable;
use crate::progress::Progress;
use piecework_core::error::Error;

/// The ratio of the best count to the threshold of a round; low in tests, for many rounds.
const SPAN: u64 = if cfg!(test) { 2 } else { 16 };

/// A heap entry: count, priority among equals, and pair.
type PairCandidate<O> = (u64, <O as PairPriority>::Key, u32);

/// The tracked pairs of a round.
pub(super) struct Round<O: PairPriority> {
    pairs: PairTable,
    heap: BinaryHeap<PairCandidate<O>>,
    /// Pairs with at least this count are tracked.
    threshold: u64,
    /// By entry: an upper bound of the counts of the untracked pairs that contain it.
    slack: Vec<u64>,
}

impl<O: PairPriority> Default for Round<O> {
    fn default() -> Self {
        Self {
            pairs: PairTable::default(),
            heap: BinaryHeap::new(),
            threshold: u64::MAX,
            slack: Vec::new(),
        }
    }
}

impl<O: PairPriority> Round<O> {
    /// The least count of a tracked pair.
    pub(super) fn threshold(&self) -> u64 {
        self.threshold
    }

    /// Count all pairs and track the frequent ones, with a threshold of at most `limit`.
    pub(super) fn begin(
        vocabulary: &GrowingVocabulary<'_>,
        words: &PackedWords,
        limit: u64,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let mut counts = count_pairs(vocabulary, words, progress)?;
        let best = counts.values().map(|pair| pair.count).max().unwrap_or(0);
        let threshold = (best / SPAN).max(vocabulary.min_frequency()).min(limit);
        let mut slack = vec![0; vocabulary.entries.len()];
        counts.retain(|&pair, found| {
            let (left, right) = parts(pair);
            if found.count < threshold {
                for entry in [left, right] {
                    let slack: &mut u64 = &mut slack[entry as usize];
                    *slack = found.count.max(*slack);
                }
            }
            found.count >= threshold
        });
        let pairs = PairTable::of(counts, words, progress)?;
        let mut round = Self { pairs, heap: BinaryHeap::new(), threshold, slack };
        (0..round.pairs.len() as u32).for_each(|pair| round.push(vocabulary, pair));
        Ok(round)
    }

    /// Reserve memory for a new entry.
    pub(super) fn add_entry(&mut self) {
        self.slack.push(0);
    }

    /// Remove and return the best pair; `None` if no tracked pair reaches the threshold.
    pub(super) fn pop_best(
        &mut self,
        vocabulary: &GrowingVocabulary<'_>,
        words: &PackedWords,
    ) -> Option<u32> {
        while let Some((count, priority, pair)) = self.heap.pop() {
            let current = self.pairs.count(pair);
            if current == count {
                let (left, right) = self.pairs.parts(pair);
                if vocabulary.duplicates_entry(left, right) {
                    continue;
                }
                if let Some(found) =
                    O::current(&mut self.pairs, pair, words).filter(|found| *found != priority)
                {
                    self.heap.push((count, found, pair));
                    continue;
                }
                return (count >= vocabulary.min_frequency()).then_some(pair);
            }
            // If the pair gained, the heap already has a newer entry.
            if current < count && current >= self.threshold {
                self.heap.push((current, priority, pair));
            }
        }
        None
    }

    /// Return both entries of a pair, and remove and return its positions and its count.
    pub(super) fn take(&mut self, pair: u32) -> ((u32, u32), Vec<u32>, u64) {
        let count = std::mem::take(self.pairs.count_mut(pair));
        (self.pairs.parts(pair), self.pairs.take_positions(pair), count)
    }

    /// Apply the changes of a merge to the counts; returns whether a new round must begin.
    pub(super) fn apply(
        &mut self,
        vocabulary: &GrowingVocabulary<'_>,
        changes: &NeighbourChanges,
        (left, right): (u32, u32),
        merged: MergedEntry,
    ) -> Result<bool, Error> {
        let mut must_restart = false;
        let mut gaining: Vec<Option<u32>> = Vec::with_capacity(changes.len());
        let mut raised: Vec<u32> = Vec::new();
        for number in 0..changes.len() {
            let change = changes.change(number);
            let (old, new) = match change.side {
                Side::Left => ((change.neighbour, left), (change.neighbour, merged.entry)),
                Side::Right => ((right, change.neighbour), (merged.entry, change.neighbour)),
            };
            if let Some(pair) = self.pairs.find(old.0, old.1).filter(|_| change.lost > 0) {
                *self.pairs.count_mut(pair) -= change.lost;
            }
            let gained = self.gain(vocabulary, new, &change, merged, &mut must_restart)?;
            raised.extend(
                gained.filter(|&pair| change.gained > 0 && self.pairs.count(pair) >= self.threshold),
            );
            gaining.push(gained);
        }
        for &(number, position) in changes.gains() {
            if let Some(pair) = gaining[number as usize] {
                self.pairs.add_position(pair, position);
            }
        }
        raised.into_iter().for_each(|pair| self.push(vocabulary, pair));
        Ok(must_restart)
    }

    /// Add the occurrences that a pair gained; returns the pair if it is tracked.
    fn gain(
        &mut self,
        vocabulary: &GrowingVocabulary<'_>,
        (left, right): (u32, u32),
        change: &NeighbourChange,
        merged: MergedEntry,
        must_restart: &mut bool,
    ) -> Result<Option<u32>, Error> {
        if let Some(pair) = self.pairs.find(left, right) {
            let count = self.pairs.count_mut(pair);
            *count = *count + change.gained - change.remerged;
            return Ok(Some(pair));
        }
        let gained = change.gained.saturating_sub(change.remerged);
        if gained == 0 || !vocabulary.fits(left, right) {
            return Ok(None);
        }
        // Pairs of a new entry have no other occurrences; pairs of an existing entry may.
        let others = match merged.is_new {
            true => 0,
            false => self.slack[left as usize].max(self.slack[right as usize]),
        };
        if gained + others < self.threshold {
            let slack = &mut self.slack[merged.entry as usize];
            *slack = (gained + others).max(*slack);
            return Ok(None);
        }
        *must_restart |= !merged.is_new;
        let insert = || self.pairs.insert((left, right), gained, change.positions);
        merged.is_new.then(insert).transpose()
    }

    /// Add a tracked pair, whose positions are recorded, to the heap.
    fn push(&mut self, vocabulary: &GrowingVocabulary<'_>, pair: u32) {
        let priority = O::bound(&vocabulary.entries, &self.pairs, pair);
        self.heap.push((self.pairs.count(pair), priority, pair));
    }
}

/// Count the pairs that may be merged.
fn count_pairs(
    vocabulary: &GrowingVocabulary<'_>,
    words: &PackedWords,
    progress: &mut Progress<'_>,
) -> Result<CountsByPair, Error> {
    let mut counts = CountsByPair::default();
    words.visit_pairs(|left, right, _, count| {
        add_position(&mut counts, key(left, right), count)?;
        progress.advance(1)
    })?;
    counts.retain(|&pair, _| {
        let (left, right) = parts(pair);
        vocabulary.fits(left, right) && !vocabulary.duplicates_entry(left, right)
    });
    Ok(counts)
}
