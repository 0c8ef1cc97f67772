//! The interface of the scores that `best_first` maximizes (exact comparison and upper bounds), and the counts from
//! which pairs are scored.

use std::cmp::Ordering;
use std::hash::Hash;

use super::state::MergeState;

/// The merged entry was not looked up yet.
const UNKNOWN: u32 = u32::MAX;
/// The merged string is not an entry.
const NO_ENTRY: u32 = u32::MAX - 1;

/// A score of pairs. `total` is the number of entries in the segmented corpus.
pub(super) trait Objective {
    /// The exact score, up to a function of `total`: pairs with equal keys tie whatever `total` is.
    type Key: Copy + Eq + Hash;
    /// Whether the score depends on `PairCounts::merged`.
    const NEEDS_MERGED: bool;

    /// Return the key of a pair.
    fn key(&self, counts: &PairCounts) -> Self::Key;
    /// Return the score of a key as a float, within half of `slack` of the exact score.
    fn value(&self, key: Self::Key, total: u64) -> f64;
    /// Return the same score directly from counts.
    fn quick_value(&self, counts: &PairCounts, total: u64) -> f64;
    /// Compare two keys exactly; each comes with its `value`.
    fn compare(&self, one: (Self::Key, f64), two: (Self::Key, f64)) -> Ordering;
    /// Return an upper bound of the pair's score.
    ///
    /// It is valid while the pair gains no occurrences and its entries occur at least `min_left` and
    /// `min_right` times.
    fn bound(&self, counts: &PairCounts, min_left: u64, min_right: u64, total: u64) -> f64;
    /// Return an upper bound of the score of any pair that occurs at most `count` times.
    fn bound_of_count(&self, count: u64, total: u64) -> f64;
    /// Return how far below the best value the value of the exact maximum may be.
    fn slack(&self, value: f64) -> f64;
    /// Return the value below which scores may be rounding errors; there, all pairs are compared.
    fn floor(&self) -> f64;
    /// Whether a merge of this score is made at all.
    fn gains(&self, value: f64) -> bool;
    /// Return the message for a training that stops early.
    fn reason(&self, min_frequency: u64) -> String;
}

/// The counts from which a pair is scored.
#[derive(Clone, Copy)]
pub(super) struct PairCounts {
    /// Occurrences of the pair.
    pub(super) count: u64,
    /// Occurrences of its left entry, of its right entry and of the merged entry.
    pub(super) left: u64,
    pub(super) right: u64,
    pub(super) merged: u64,
    /// Whether both entries are the same.
    pub(super) doubled: bool,
}

/// By pair, the entry that merging the pair yields.
#[derive(Default)]
pub(super) struct MergedEntries(Vec<u32>);

impl MergedEntries {
    /// Reserve memory for new pairs.
    pub(super) fn grow(&mut self, state: &MergeState) {
        self.0.resize(state.pairs.len(), UNKNOWN);
    }

    /// Store the merged entry of a pair.
    pub(super) fn set(&mut self, pair: u32, entry: u32) {
        self.0[pair as usize] = entry;
    }

    /// Return the counts of a pair; `PairCounts::merged` is 0 unless `with_merged`.
    pub(super) fn counts(&mut self, state: &MergeState, pair: u32, with_merged: bool) -> PairCounts {
        let (left, right) = state.pairs.parts(pair);
        PairCounts {
            count: state.pairs.count(pair),
            left: state.counts[left as usize],
            right: state.counts[right as usize],
            merged: if with_merged { self.merged_count(state, pair) } else { 0 },
            doubled: left == right,
        }
    }

    fn merged_count(&mut self, state: &MergeState, pair: u32) -> u64 {
        let entry = &mut self.0[pair as usize];
        if *entry == UNKNOWN {
            let (left, right) = state.pairs.parts(pair);
            *entry = state.entries.find_merged(left, right).unwrap_or(NO_ENTRY);
        }
        state.counts.get(*entry as usize).copied().unwrap_or(0)
    }
}
