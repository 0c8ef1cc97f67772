//! Candidates in classes of equal score, so that thousands of ties cost no more than one.
//!
//! A class holds the pairs of one exact score, in the order of ties. What a class knows of a pair
//! may be out of date: members are looked at again when they lead their class.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hash;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// No class.
pub(super) const UNCLASSED: u32 = u32::MAX;

/// A value in the order of floats; values are never NaN.
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

/// Classes by number, each listed once in `ranking` by a value that is not below its value of today.
pub(super) struct ScoreClasses<K, T> {
    ids: HashMap<K, u32, FxBuildHasher>,
    keys: Vec<K>,
    members: Vec<BinaryHeap<Reverse<(T, u32)>>>,
    free: Vec<u32>,
    pub(super) ranking: BinaryHeap<(OrderedFloat, u32)>,
    /// By pair.
    class_of: Vec<u32>,
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
        }
    }

    /// Forget all classes; `pairs` is how many pairs there are.
    pub(super) fn clear(&mut self, pairs: usize) {
        *self = Self { class_of: std::mem::take(&mut self.class_of), ..Self::new() };
        self.class_of.clear();
        self.class_of.resize(pairs, UNCLASSED);
    }

    pub(super) fn key(&self, class: u32) -> K {
        self.keys[class as usize]
    }

    pub(super) fn class_of(&self, pair: u32) -> u32 {
        self.class_of.get(pair as usize).copied().unwrap_or(UNCLASSED)
    }

    /// Whether the pair is in the class of `key`.
    pub(super) fn holds(&self, pair: u32, key: K) -> bool {
        let class = self.class_of(pair);
        class != UNCLASSED && self.key(class) == key
    }

    /// Put a pair, whose tie key is `bound` or greater, into the class of `key`; returns whether the class
    /// existed.
    pub(super) fn place(&mut self, pair: u32, key: K, bound: T, value: impl FnOnce() -> f64) -> bool {
        let (class, known) = match self.ids.get(&key) {
            Some(&class) => (class, true),
            None => (self.open(key, value()), false),
        };
        if pair as usize >= self.class_of.len() {
            self.class_of.resize(pair as usize + 1, UNCLASSED);
        }
        self.class_of[pair as usize] = class;
        self.members[class as usize].push(Reverse((bound, pair)));
        known
    }

    /// Take a pair out of its class.
    pub(super) fn remove(&mut self, pair: u32) {
        if let Some(class) = self.class_of.get_mut(pair as usize) {
            *class = UNCLASSED;
        }
    }

    /// The member with the least known tie key; members that have left are dropped.
    pub(super) fn leader(&mut self, class: u32) -> Option<(T, u32)> {
        while let Some(Reverse((bound, pair))) = self.members[class as usize].peek() {
            if self.class_of(*pair) == class {
                return Some((bound.clone(), *pair));
            }
            self.members[class as usize].pop();
        }
        None
    }

    /// Correct the tie key of the leader of a class.
    pub(super) fn postpone_leader(&mut self, class: u32, key: T) {
        if let Some(mut leader) = self.members[class as usize].peek_mut() {
            leader.0 .0 = key;
        }
    }

    /// Drop a class that has no member and is not in `ranking`.
    pub(super) fn close(&mut self, class: u32) {
        self.ids.remove(&self.keys[class as usize]);
        self.free.push(class);
    }

    fn open(&mut self, key: K, value: f64) -> u32 {
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
