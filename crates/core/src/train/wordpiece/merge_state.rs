//! Corpus, pairs and entries together, and what one merge changes in them.
//!
//! Counts are kept by difference: a merge at one place takes the pairs that stood there away and adds those
//! that stand there now, so a whole training costs about four table look-ups for each character merged.

use super::pair_table::PairTable;
use super::segmented_words::SegmentedWords;
use super::{PairScore, WordPieceTrainSpec};
use crate::error::Error;
use crate::train::alphabet::Alphabet;
use crate::train::entries::Entries;
use crate::train::progress::Progress;
use crate::train::{Counts, Learned, Merge};

/// Everything that a learner by merges looks at.
pub(super) struct MergeState<'a> {
    pub(super) spec: &'a WordPieceTrainSpec,
    pub(super) corpus: SegmentedWords,
    pub(super) pairs: PairTable,
    pub(super) entries: Entries,
    /// Occurrences of each entry, weighted.
    pub(super) counts: Vec<u64>,
    /// Their sum.
    pub(super) total: u64,
    pub(super) merges: Vec<Merge>,
    /// Pairs that occur more often, or in new places, since the last merge.
    pub(super) gained: Vec<u32>,
    /// By pair: the number of the merge that last put it in `gained`.
    gained_at: Vec<u32>,
    /// Whether `aaa` counts as two pairs (a, a) or as one match.
    overlapping: bool,
}

impl<'a> MergeState<'a> {
    /// Segment the corpus into characters and count entries and pairs.
    pub(super) fn new(
        counts: &Counts,
        spec: &'a WordPieceTrainSpec,
        alphabet: &Alphabet,
        entries: Entries,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let corpus = SegmentedWords::new(counts, spec, alphabet, &entries, progress)?;
        Self::of_corpus(corpus, spec, entries, progress)
    }

    /// Count the entries and pairs of a segmented corpus.
    pub(super) fn of_corpus(
        corpus: SegmentedWords,
        spec: &'a WordPieceTrainSpec,
        entries: Entries,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let mut state = Self {
            spec,
            pairs: PairTable::default(),
            counts: vec![0; entries.len()],
            corpus,
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
        let Self { corpus, pairs, counts, total, overlapping, .. } = self;
        corpus.visit(|entry, position, count, next| {
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

    /// Whether all entries that were asked for are there.
    pub(super) fn is_full(&self) -> bool {
        self.entries.len() >= self.spec.vocab_size
    }

    /// The least count of a pair that may be merged.
    pub(super) fn min_frequency(&self) -> u64 {
        self.spec.min_frequency.max(1)
    }

    /// Whether the merged entry would not be too long.
    pub(super) fn fits(&self, pair: u32) -> bool {
        let (left, right) = self.pairs.parts(pair);
        self.spec.max_token_length.is_none_or(|limit| self.entries.merged_chars(left, right) <= limit)
    }

    /// Merge a pair everywhere; returns the merged entry.
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
            if self.corpus.starts_pair(position, left, right) {
                self.merge_at(position, pair, merged);
            }
        }
        self.recount_gained_doubled();
        Ok(merged)
    }

    /// Finish with the reason why there are too few entries, asked for only if there are.
    pub(super) fn finish(self, reason: impl FnOnce(&Self) -> String) -> Learned {
        let stopped_early = (!self.is_full()).then(|| {
            format!("{}: {} of {} entries learned", reason(&self), self.entries.len(), self.spec.vocab_size)
        });
        Learned { vocab: self.entries.into_names(), merges: self.merges, stopped_early }
    }

    fn merge_at(&mut self, position: u32, pair: u32, merged: u32) {
        let (left, right) = self.pairs.parts(pair);
        let count = self.corpus.count_at(position);
        let adjacent = self.corpus.adjacent(position);
        *self.pairs.count_mut(pair) -= count;
        if let Some((before, _)) = adjacent.left {
            self.remove_pair(before, left, count, |corpus| corpus.run_to_left(position));
        }
        if let Some(after) = adjacent.right {
            // A run of twins that is itself being merged has lost its match above.
            self.remove_pair(right, after, count, |corpus| {
                if left == right {
                    1
                } else {
                    corpus.run_to_right(position)
                }
            });
        }
        self.corpus.merge(position, merged);
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

    /// Take away a pair that a merge is about to break on its left or right.
    ///
    /// Where matches must not overlap, a run of twins that loses an end loses a match only when its length
    /// is even; `run` gives that length.
    fn remove_pair(
        &mut self,
        before: u32,
        after: u32,
        count: u64,
        run: impl FnOnce(&SegmentedWords) -> u64,
    ) {
        if before == after && !self.overlapping && run(&self.corpus) % 2 == 1 {
            return;
        }
        if let Some(pair) = self.pairs.find(before, after) {
            *self.pairs.count_mut(pair) -= count;
        }
    }

    fn add_pair(&mut self, before: u32, after: u32, position: u32, count: u64) {
        let pair = self.pairs.add_occurrence(before, after, position);
        if before != after || self.overlapping {
            *self.pairs.count_mut(pair) += count;
        }
        let now = self.merges.len() as u32;
        if pair as usize >= self.gained_at.len() {
            self.gained_at.push(0);
        }
        if std::mem::replace(&mut self.gained_at[pair as usize], now) != now {
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

    fn recount_doubled(&mut self, pair: u32) {
        let (left, right) = self.pairs.parts(pair);
        if left == right {
            *self.pairs.count_mut(pair) = self.pairs.count_non_overlapping(pair, &self.corpus);
        }
    }
}
