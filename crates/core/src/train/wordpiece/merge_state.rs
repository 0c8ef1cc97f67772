//! The state of training by merges: words, pairs and entries, updated by each merge.
//!
//! Counts are updated by difference: at each position, a merge subtracts the pairs that it breaks and adds
//! those that it creates. A training costs about four table lookups for each merged position.

use super::pair_table::PairTable;
use super::segmented_words::SegmentedWords;
use super::spec::{PairScore, WordPieceTrainSpec};
use crate::count::Counts;
use crate::error::Error;
use crate::train::alphabet::Alphabet;
use crate::train::entries::Entries;
use crate::train::progress::Progress;
use crate::train::{Learned, Merge};

/// The state of a trainer that merges pairs.
pub(super) struct MergeState<'a> {
    pub(super) spec: &'a WordPieceTrainSpec,
    pub(super) words: SegmentedWords,
    pub(super) pairs: PairTable,
    pub(super) entries: Entries,
    /// By entry: its occurrences, weighted by word counts.
    pub(super) counts: Vec<u64>,
    /// Their sum.
    pub(super) total: u64,
    pub(super) merges: Vec<Merge>,
    /// Pairs that the last merge gave new positions.
    pub(super) gained: Vec<u32>,
    /// By pair: the number of the last merge that added it to `gained`.
    gained_at: Vec<u32>,
    /// Whether `aaa` counts as two pairs (a, a), or as one because matches must not overlap.
    overlapping: bool,
}

impl<'a> MergeState<'a> {
    /// Segment the words into characters and count entries and pairs.
    pub(super) fn new(
        counts: &Counts,
        spec: &'a WordPieceTrainSpec,
        alphabet: &Alphabet,
        entries: Entries,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let words = SegmentedWords::new(counts, spec, alphabet, &entries, progress)?;
        Self::of_words(words, spec, entries, progress)
    }

    /// Count the entries and pairs of segmented words.
    pub(super) fn of_words(
        words: SegmentedWords,
        spec: &'a WordPieceTrainSpec,
        entries: Entries,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let mut state = Self {
            spec,
            pairs: PairTable::default(),
            counts: vec![0; entries.len()],
            words,
            entries,
            total: 0,
            merges: Vec::new(),
            gained: Vec::new(),
            gained_at: Vec::new(),
            overlapping: spec.score != PairScore::Likelihood,
        };
        state.count(progress)?;
        Ok(state)
    }

    fn count(&mut self, progress: &mut Progress<'_>) -> Result<(), Error> {
        let Self { words, pairs, counts, total, overlapping, .. } = self;
        words.visit(|entry, position, count, next| {
            counts[entry as usize] += count;
            *total += count;
            if let Some(next) = next {
                let pair = pairs.add_occurrence(entry, next, position);
                if entry != next || *overlapping {
                    *pairs.count_mut(pair) += count;
                }
            }
            progress.advance(1)
        })?;
        self.gained_at = vec![0; self.pairs.len()];
        if !self.overlapping {
            (0..self.pairs.len() as u32).for_each(|pair| self.recount_doubled(pair));
        }
        Ok(())
    }

    /// Whether the vocabulary has `vocab_size` entries.
    pub(super) fn is_full(&self) -> bool {
        self.entries.len() >= self.spec.vocab_size
    }

    /// Whether a pair occurs often enough to be merged.
    pub(super) fn is_frequent(&self, pair: u32) -> bool {
        self.pairs.count(pair) >= self.min_frequency()
    }

    /// The least count of a pair that may be merged.
    pub(super) fn min_frequency(&self) -> u64 {
        self.spec.min_frequency.max(1)
    }

    /// Whether the merged entry is within `max_token_length`.
    pub(super) fn fits(&self, pair: u32) -> bool {
        let (left, right) = self.pairs.parts(pair);
        self.spec.max_token_length.is_none_or(|limit| self.entries.merged_chars(left, right) <= limit)
    }

    /// Merge a pair at all of its positions; returns the merged entry.
    pub(super) fn merge(
        &mut self,
        pair: u32,
        score: f64,
        progress: &mut Progress<'_>,
    ) -> Result<u32, Error> {
        let (left, right) = self.pairs.parts(pair);
        let count = self.pairs.count(pair);
        let name = self.entries.merged_string(left, right);
        let (merged, is_new) = self.entries.add(&name);
        if is_new {
            self.counts.push(0);
            progress.reach(self.entries.len());
        }
        self.merges.push(Merge { left, right, merged, count, score });
        self.gained.clear();
        for position in self.pairs.take_positions(pair) {
            progress.advance(4)?;
            if self.words.starts_pair(position, left, right) {
                self.merge_at(position, pair, merged);
            }
        }
        self.recount_gained_doubled();
        Ok(merged)
    }

    /// Return the result; `reason` says why training stopped early and is called only if it did.
    pub(super) fn finish(self, reason: impl FnOnce(&Self) -> String) -> Learned {
        let stopped_early = (!self.is_full()).then(|| {
            format!("{}: {} of {} entries learned", reason(&self), self.entries.len(), self.spec.vocab_size)
        });
        Learned { vocab: self.entries.into_names(), merges: self.merges, stopped_early }
    }

    fn merge_at(&mut self, position: u32, pair: u32, merged: u32) {
        let (left, right) = self.pairs.parts(pair);
        let count = self.words.count_at(position);
        let adjacent = self.words.adjacent(position);
        *self.pairs.count_mut(pair) -= count;
        if let Some((before, _)) = adjacent.left {
            self.remove_pair(before, left, count, |words| words.run_to_left(position));
        }
        if let Some(after) = adjacent.right {
            // In a run of the pair that is being merged, the match was subtracted above.
            self.remove_pair(right, after, count, |corpus| {
                if left == right {
                    1
                } else {
                    corpus.run_to_right(position)
                }
            });
        }
        self.words.merge(position, merged);
        if let Some((before, at)) = adjacent.left {
            self.add_pair(before, merged, at, count);
        }
        if let Some(after) = adjacent.right {
            self.add_pair(merged, after, position, count);
        }
        self.counts[left as usize] -= count;
        self.counts[right as usize] -= count;
        self.counts[merged as usize] += count;
        self.total -= count;
    }

    /// Subtract a pair that a merge is about to break on its left or right.
    ///
    /// If matches must not overlap, a run of one entry that loses an end loses a match only if its length is
    /// even; `run` returns that length.
    fn remove_pair(
        &mut self,
        before: u32,
        after: u32,
        count: u64,
        run: impl FnOnce(&SegmentedWords) -> u64,
    ) {
        if before == after && !self.overlapping && run(&self.words) % 2 == 1 {
            return;
        }
        if let Some(pair) = self.pairs.find(before, after) {
            *self.pairs.count_mut(pair) -= count;
        }
    }

    /// Add a pair that a merge has created at `position`.
    fn add_pair(&mut self, before: u32, after: u32, position: u32, count: u64) {
        let pair = self.pairs.add_occurrence(before, after, position);
        if before != after || self.overlapping {
            *self.pairs.count_mut(pair) += count;
        }
        let current = self.merges.len() as u32;
        if pair as usize >= self.gained_at.len() {
            self.gained_at.push(0);
        }
        if std::mem::replace(&mut self.gained_at[pair as usize], current) != current {
            self.gained.push(pair);
        }
    }

    fn recount_gained_doubled(&mut self) {
        if self.overlapping {
            return;
        }
        for at in 0..self.gained.len() {
            self.recount_doubled(self.gained[at]);
        }
    }

    /// Recount a doubled pair, whose count cannot be updated by difference.
    fn recount_doubled(&mut self, pair: u32) {
        let (left, right) = self.pairs.parts(pair);
        if left == right {
            *self.pairs.count_mut(pair) = self.pairs.count_non_overlapping(pair, &self.words);
        }
    }
}
