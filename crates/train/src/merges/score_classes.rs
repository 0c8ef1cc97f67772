//! Pairs grouped in classes of equal score, so that thousands of ties cost no more than one.
//!
//! A class contains the pairs of one exact score, ordered by ties. Scores and tie keys of members may be out
//! of date; the caller checks the first member of a class before it uses it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hash;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// The members, outdated ones included, that are kept without looking for outdated ones; low in tests.
const MIN_SPARSE: usize = if cfg!(test) { 8 } else { 1 << 14 };

/// The class of a pair that is in none.
pub(super) const UNCLASSED: u32 = u32::MAX;

/// A float with a total order; never NaN.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct OrderedFloat(pub(super) f64);

impl Eq for OrderedFloat {}

impl PartialOrd for OrderedFloat {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OrderedFloat {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Classes by number.
pub(super) struct ScoreClasses<K, T> {
    ids: HashMap<K, u32, RandomState>,
    keys: Vec<K>,
    members: Vec<BinaryHeap<Reverse<(T, u32)>>>,
    free: Vec<u32>,
    /// Each class once, with an upper bound of its current score.
    pub(super) ranking: BinaryHeap<(OrderedFloat, u32)>,
    /// By pair.
    class_of: Vec<u32>,
    /// The members of all classes, outdated ones included, and the number at which those are dropped.
    stored: usize,
    most_stored: usize,
}

impl<K: Copy + Eq + Hash, T: Ord + Clone> ScoreClasses<K, T> {
    pub(super) fn new() -> Self {
        Self {
            ids: HashMap::default(),
            keys: Vec::new(),
            members: Vec::new(),
            free: Vec::new(),
            ranking: BinaryHeap::new(),
            class_of: Vec::new(),
            stored: 0,
            most_stored: MIN_SPARSE,
        }
    }

    /// Remove all classes and reserve memory for `pairs` pairs.
    pub(super) fn clear(&mut self, pairs: usize) {
        *self = Self { class_of: std::mem::take(&mut self.class_of), ..Self::new() };
        self.class_of.clear();
        self.class_of.resize(pairs, UNCLASSED);
    }

    /// Return the exact score of a class.
    pub(super) fn key(&self, class: u32) -> K {
        self.keys[class as usize]
    }

    /// Return the class of a pair, or `UNCLASSED`.
    pub(super) fn class_of(&self, pair: u32) -> u32 {
        self.class_of.get(pair as usize).copied().unwrap_or(UNCLASSED)
    }

    /// Whether a pair is in the class of `key`.
    pub(super) fn contains(&self, pair: u32, key: K) -> bool {
        let class = self.class_of(pair);
        class != UNCLASSED && self.key(class) == key
    }

    /// Insert a pair into the class of `key`; return whether the class existed.
    ///
    /// `bound` is a lower bound of the pair's tie key. `value` is the score of a new class.
    pub(super) fn insert(&mut self, pair: u32, key: K, bound: T, value: impl FnOnce() -> f64) -> bool {
        let (class, existed) = match self.ids.get(&key) {
            Some(&class) => (class, true),
            None => (self.create(key, value()), false),
        };
        if pair as usize >= self.class_of.len() {
            self.class_of.resize(pair as usize + 1, UNCLASSED);
        }
        self.class_of[pair as usize] = class;
        self.members[class as usize].push(Reverse((bound, pair)));
        self.stored += 1;
        existed
    }

    /// Drop outdated members and empty classes if there may be more of them than others.
    ///
    /// Pairs whose score rises leave a class behind that never becomes the best again. Without this, a round
    /// of many merges keeps one class for each score that a pair had. All classes must be in `ranking`.
    pub(super) fn drop_outdated(&mut self) {
        if self.stored < self.most_stored {
            return;
        }
        self.stored = 0;
        let ranking = std::mem::take(&mut self.ranking).into_vec();
        let mut kept = Vec::new();
        for (bound, class) in ranking {
            let members = &mut self.members[class as usize];
            members.retain(|&Reverse((_, pair))| self.class_of.get(pair as usize) == Some(&class));
            members.shrink_to_fit();
            self.stored += members.len();
            if members.is_empty() {
                self.remove_class(class);
            } else {
                kept.push((bound, class));
            }
        }
        self.ranking = kept.into();
        self.ids.shrink_to_fit();
        self.most_stored = (2 * self.stored).max(MIN_SPARSE);
    }

    /// Remove a pair from its class.
    pub(super) fn remove(&mut self, pair: u32) {
        if let Some(class) = self.class_of.get_mut(pair as usize) {
            *class = UNCLASSED;
        }
    }

    /// Return the member of a class with the least tie key or bound of it; drop pairs that have left the class.
    pub(super) fn first_member(&mut self, class: u32) -> Option<(T, u32)> {
        while let Some(Reverse((bound, pair))) = self.members[class as usize].peek() {
            if self.class_of(*pair) == class {
                return Some((bound.clone(), *pair));
            }
            self.members[class as usize].pop();
            self.stored = self.stored.saturating_sub(1);
        }
        None
    }

    /// Raise the tie key of the first member of a class.
    pub(super) fn raise_first_member(&mut self, class: u32, key: T) {
        if let Some(mut first) = self.members[class as usize].peek_mut() {
            first.0 .0 = key;
        }
    }

    /// Remove a class that has no members and is not in `ranking`.
    pub(super) fn remove_class(&mut self, class: u32) {
        self.ids.remove(&self.keys[class as usize]);
        self.free.push(class);
    }

    fn create(&mut self, key: K, value: f64) -> u32 {
        let class = self.free.pop().unwrap_or_else(|| {
            self.keys.push(key);
            self.members.push(BinaryHeap::new());
            self.keys.len() as u32 - 1
        });
        self.keys[class as usize] = key;
        self.ids.insert(key, class);
        self.ranking.push((OrderedFloat(value), class));
        class
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_that_pairs_have_left_are_dropped() {
        let mut classes: ScoreClasses<u64, u32> = ScoreClasses::new();
        classes.clear(3);
        for score in 0..1000_u64 {
            for pair in 0..3 {
                classes.insert(pair, 10 * score + u64::from(pair % 2), pair, || score as f64);
            }
            classes.drop_outdated();
            assert!(classes.ids.len() <= MIN_SPARSE && classes.ranking.len() <= MIN_SPARSE);
        }
        assert!(classes.keys.len() <= 2 * MIN_SPARSE);
        classes.ranking.clear();
        let best = classes.class_of(0);
        assert_eq!((classes.key(best), classes.class_of(2)), (9990, best));
        assert_eq!(classes.first_member(best), Some((0, 0)));
    }
}
