//! What a score must offer so that `greedy` can find the best pair without scoring all of them each time.

use std::cmp::Ordering;
use std::hash::Hash;

/// What scores are made of.
#[derive(Clone, Copy)]
pub(super) struct PairCounts {
    /// Occurrences of the pair.
    pub(super) count: u64,
    /// Occurrences of its left part, its right part, and of the entry that state would make.
    pub(super) left: u64,
    pub(super) right: u64,
    pub(super) merged: u64,
    /// Whether both parts are the same entry.
    pub(super) doubled: bool,
}

/// A score.
pub(super) trait Objective {
    /// What two pairs that always tie have in common.
    type Key: Copy + Eq + Hash;
    /// Whether `Facts::merged` matters.
    const NEEDS_MERGED: bool;

    /// The class of a pair.
    fn key(&self, pair_counts: &PairCounts) -> Self::Key;
    /// The score of a class, exact or nearly so; `total` is the number of entries in the corpus.
    fn value(&self, key: Self::Key, total: u64) -> f64;
    /// The score of a pair, as near.
    fn quick_value(&self, pair_counts: &PairCounts, total: u64) -> f64;
    /// Compare two classes, given with their values, exactly.
    fn compare(&self, one: (Self::Key, f64), two: (Self::Key, f64)) -> Ordering;
    /// A value that the pair's does not reach while the parts occur at least so often and it gains nothing.
    fn bound(&self, pair_counts: &PairCounts, least_left: u64, least_right: u64, total: u64) -> f64;
    /// How far below the best value a class may seem to be and be the best.
    fn slack(&self, value: f64) -> f64;
    /// Values below this may be noise: there, all pairs are compared for each merge.
    fn floor(&self) -> f64;
    /// Whether a merge of this value is worth making.
    fn gains(&self, value: f64) -> bool;
    /// Why there are no more merges.
    fn reason(&self, min_frequency: u64) -> String;
}
