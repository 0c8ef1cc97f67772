//! The interface of the scores that `best_first` maximizes: exact comparison and upper bounds.

use std::cmp::Ordering;
use std::hash::Hash;

use super::pair_counts::PairCounts;

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
