//! The trainer for scores that rise when the entries of a pair become rarer: the best pair first.
//!
//! A merge changes the score of every pair that contains one of its entries. There are thousands of them, and hardly
//! any will ever be the best. So the heap has upper bounds of scores. A *loose* bound is valid until the pair gains
//! occurrences, or the count of one of its entries falls by an eighth. The trainer takes pairs from the top of the heap and
//! scores them, until the next bound is below the best score. Pairs of lower scores return with a *tight* bound, their
//! score, which becomes loose when a merge changes the count of one of their entries.
//!
//! Pairs that may be the best wait in *classes* of equal score, ordered by ties, so that thousands of ties cost no more
//! than one.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::scores::{Objective, PairCounts};
use super::state::MergeState;
use super::ties::TieBreak;
use crate::progress::Progress;
use crate::Learned;
use piecework_core::error::Error;

/// The classes that are kept without returning pairs of lower scores to the heap; low in tests.
const MAX_CLASSES: usize = if cfg!(test) { 2 } else { 32 };
/// Outdated bounds are dropped when the heap has this number of bounds for each pair.
const MAX_BOUNDS: usize = 4;
/// The ratio of the best score to the bound of untracked pairs after the floor of tracked pairs falls.
const STEP: f64 = if cfg!(test) { 2.0 } else { 8.0 };
/// The merged entry was not looked up yet.
const UNKNOWN: u32 = u32::MAX;
/// The merged string is not an entry.
const NO_ENTRY: u32 = u32::MAX - 1;

/// An upper bound of a score; never NaN.
#[derive(Clone, Copy, PartialEq)]
struct Bound(f64);

impl Eq for Bound {}

impl PartialOrd for Bound {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Bound {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// The pairs of one score with a lower bound of their tie key, the first one on top; may be outdated.
type Class<T> = BinaryHeap<Reverse<(<T as TieBreak>::Key, u32)>>;

/// The best pair of a class, or of all.
struct Best<O: Objective, T: TieBreak> {
    key: O::Key,
    value: f64,
    tie: T::Key,
    pair: u32,
}

struct BestFirst<O: Objective, T: TieBreak> {
    objective: O,
    state: MergeState,
    heap: BinaryHeap<(Bound, u32)>,
    /// By pair: its bound in the heap; others are outdated.
    bounds: Vec<Option<f64>>,
    /// By pair: whether its bound is tight, or it is in a class.
    is_tight: Vec<bool>,
    /// By entry: the count down to which loose bounds are valid.
    floors: Vec<u64>,
    classes: HashMap<O::Key, Class<T>, RandomState>,
    /// By entry: the pairs that contain it.
    by_entry: Vec<Vec<u32>>,
    /// By pair: whether it is in the lists of its entries.
    is_listed: Vec<bool>,
    /// By pair: the entry that merging it yields.
    merged: Vec<u32>,
}

/// Merge the best pair until the vocabulary is full, no pair is frequent enough or no merge gains.
pub(super) fn learn<O: Objective, T: TieBreak>(
    objective: O,
    state: MergeState,
    progress: &mut Progress<'_>,
) -> Result<Learned, Error> {
    let mut trainer = BestFirst::<O, T> {
        objective,
        state,
        heap: BinaryHeap::new(),
        bounds: Vec::new(),
        is_tight: Vec::new(),
        floors: Vec::new(),
        classes: HashMap::default(),
        by_entry: Vec::new(),
        is_listed: Vec::new(),
        merged: Vec::new(),
    };
    trainer.add_all(progress)?;
    while !trainer.state.is_full() {
        let Some((pair, score)) = trainer.next(progress)? else { break };
        trainer.merge(pair, score, progress)?;
    }
    let BestFirst { state, objective, .. } = trainer;
    Ok(state.finish(|state| objective.reason(state.min_frequency())))
}

impl<O: Objective, T: TieBreak> BestFirst<O, T> {
    /// Return the best pair and its score; lower the floor where an untracked pair could be the best.
    fn next(&mut self, progress: &mut Progress<'_>) -> Result<Option<(u32, f64)>, Error> {
        if self.state.is_outdated() {
            self.track_again(self.state.floor(), progress)?;
        }
        let mut best = self.best(progress)?;
        while self.state.has_untracked() {
            let value = best.as_ref().map(|best| best.value);
            if value.is_some_and(|value| value > self.untracked_bound(self.state.floor())) {
                break;
            }
            self.track_again(self.lower_floor(value), progress)?;
            best = self.best(progress)?;
        }
        let best = best.filter(|best| self.objective.gains(best.value));
        Ok(best.map(|best| (best.pair, self.objective.score(best.key, best.value))))
    }

    /// Merge a pair and rescore the pairs whose score changes.
    fn merge(&mut self, pair: u32, score: f64, progress: &mut Progress<'_>) -> Result<(), Error> {
        let (left, right) = self.state.pairs.parts(pair);
        let merged = self.state.merge(pair, score, progress)?;
        self.grow();
        for entry in [left, right, merged] {
            if O::NEEDS_MERGED {
                self.rescore_pairs_that_yield(entry);
            }
            let mut pairs = std::mem::take(&mut self.by_entry[entry as usize]);
            progress.advance(pairs.len())?;
            let (count, floor) = (self.state.counts[entry as usize], &mut self.floors[entry as usize]);
            let all = count < *floor;
            *floor = if all { floor_of(count) } else { *floor };
            pairs.retain(|&pair| {
                if all || self.is_tight[pair as usize] {
                    self.rescore(pair);
                }
                self.is_listed[pair as usize]
            });
            self.by_entry[entry as usize] = pairs;
        }
        for at in 0..self.state.gained.len() {
            self.add(self.state.gained[at]);
        }
        if self.heap.len() > MAX_BOUNDS * self.bounds.len() {
            let Self { heap, bounds, .. } = self;
            heap.retain(|&(Bound(bound), pair)| bounds[pair as usize] == Some(bound));
        }
        Ok(())
    }

    // ---- bounds

    /// Count all pairs again, track those that occur at least `floor` times and add them.
    fn track_again(&mut self, floor: u64, progress: &mut Progress<'_>) -> Result<(), Error> {
        (self.heap, self.bounds, self.is_tight, self.floors) = Default::default();
        (self.classes, self.by_entry, self.is_listed, self.merged) = Default::default();
        self.state.lower_floor(floor, progress)?;
        self.add_all(progress)
    }

    /// Add all tracked pairs.
    fn add_all(&mut self, progress: &mut Progress<'_>) -> Result<(), Error> {
        self.state.check_memory()?;
        self.grow();
        for pair in 0..self.state.pairs.len() as u32 {
            progress.advance(1)?;
            self.add(pair);
        }
        Ok(())
    }

    /// Reserve memory for new entries and pairs.
    fn grow(&mut self) {
        let pairs = self.state.pairs.len();
        self.bounds.resize(pairs, None);
        self.is_tight.resize(pairs, false);
        self.is_listed.resize(pairs, false);
        self.merged.resize(pairs, UNKNOWN);
        self.by_entry.resize_with(self.state.entries.len(), Vec::new);
        let new = &self.state.counts[self.floors.len()..];
        self.floors.extend(new.iter().map(|&count| floor_of(count)));
    }

    /// Add a pair that is new or has gained occurrences.
    fn add(&mut self, pair: u32) {
        if !std::mem::replace(&mut self.is_listed[pair as usize], true) {
            let (left, right) = self.state.pairs.parts(pair);
            self.by_entry[left as usize].push(pair);
            if left != right {
                self.by_entry[right as usize].push(pair);
            }
        }
        self.rescore(pair);
    }

    /// Put a loose bound of a pair into the heap.
    fn rescore(&mut self, pair: u32) {
        self.bounds[pair as usize] = None;
        if self.state.is_frequent(pair) {
            let counts = self.counts(pair);
            let (left, right) = self.state.pairs.parts(pair);
            let (left, right) = (self.floors[left as usize], self.floors[right as usize]);
            self.push(pair, self.objective.bound(&counts, left, right, self.state.total), false);
        }
        self.is_listed[pair as usize] &= self.state.pairs.count(pair) > 0;
    }

    /// Store `entry` as the merged entry of every pair that yields it, and rescore these pairs.
    fn rescore_pairs_that_yield(&mut self, entry: u32) {
        let mut pairs = Vec::new();
        let MergeState { entries, pairs: table, .. } = &self.state;
        entries.splits(entry, |left, right| pairs.extend(table.find(left, right)));
        for pair in pairs {
            self.merged[pair as usize] = entry;
            self.rescore(pair);
        }
    }

    fn push(&mut self, pair: u32, bound: f64, is_tight: bool) {
        self.is_tight[pair as usize] = is_tight;
        self.bounds[pair as usize] = Some(bound);
        self.heap.push((Bound(bound), pair));
    }

    /// Return the key of the current score of a pair.
    fn key(&mut self, pair: u32) -> O::Key {
        let counts = self.counts(pair);
        self.objective.key(&counts)
    }

    fn counts(&mut self, pair: u32) -> PairCounts {
        let Self { state, merged, .. } = self;
        let (left, right) = state.pairs.parts(pair);
        let entry = &mut merged[pair as usize];
        if O::NEEDS_MERGED && *entry == UNKNOWN {
            *entry = state.entries.find_merged(left, right).unwrap_or(NO_ENTRY);
        }
        PairCounts {
            count: state.pairs.count(pair),
            left: state.counts[left as usize],
            right: state.counts[right as usize],
            merged: state.counts.get(*entry as usize).copied().unwrap_or(0),
            doubled: left == right,
        }
    }

    // ---- untracked pairs

    /// Return an upper bound of the scores of pairs that occur less than `floor` times; negative if none may be merged.
    fn untracked_bound(&self, floor: u64) -> f64 {
        if floor <= self.state.min_frequency() {
            return f64::NEG_INFINITY;
        }
        self.objective.bound_of_count(floor - 1, self.state.total)
    }

    /// Choose a floor at which the bound of untracked pairs is well below the best score.
    fn lower_floor(&self, best: Option<f64>) -> u64 {
        let least = self.state.min_frequency();
        let mut floor = (self.state.floor() / 2).max(least);
        while floor > least && best.is_none_or(|best| self.untracked_bound(floor) > best / STEP) {
            floor = (floor / 2).max(least);
        }
        floor
    }

    // ---- the best pair

    /// Return the best pair.
    fn best(&mut self, progress: &mut Progress<'_>) -> Result<Option<Best<O, T>>, Error> {
        let mut best = None;
        let mut classes = std::mem::take(&mut self.classes);
        classes.retain(|&key, class| {
            let first = self.first_of(key, class);
            let is_empty = first.is_none();
            best = self.better(best.take(), first);
            !is_empty
        });
        while let Some(&(Bound(bound), pair)) = self.heap.peek() {
            if !self.may_be_best(bound, best.as_ref()) {
                break;
            }
            progress.advance(1)?;
            self.heap.pop();
            if self.bounds[pair as usize] != Some(bound) {
                continue;
            }
            let key = self.key(pair);
            let value = self.objective.value(key, self.state.total);
            if self.may_be_best(value, best.as_ref()) {
                (self.bounds[pair as usize], self.is_tight[pair as usize]) = (None, true);
                let class = classes.entry(key).or_default();
                class.push(Reverse((T::bound(&self.state, pair), pair)));
                let first = self.first_of(key, class);
                best = self.better(best, first);
            } else {
                self.push(pair, value, true);
            }
        }
        if let Some(best) = best.as_ref().filter(|_| classes.len() > MAX_CLASSES) {
            classes.retain(|&key, class| self.keep_or_return(key, class, best));
        }
        self.classes = classes;
        Ok(best)
    }

    /// Return whether the pair of a score or bound may be better than the best one found so far.
    fn may_be_best(&self, value: f64, best: Option<&Best<O, T>>) -> bool {
        best.is_none_or(|best| value >= best.value - self.objective.slack(best.value))
    }

    fn better(&self, one: Option<Best<O, T>>, two: Option<Best<O, T>>) -> Option<Best<O, T>> {
        let (Some(first), Some(second)) = (&one, &two) else { return one.or(two) };
        let order = self.objective.compare((second.key, second.value), (first.key, first.value));
        match order.then_with(|| first.tie.cmp(&second.tie)) {
            Ordering::Greater => two,
            _ => one,
        }
    }

    /// Return the pair of a class that comes first by ties; drop pairs whose score has changed.
    fn first_of(&mut self, key: O::Key, class: &mut Class<T>) -> Option<Best<O, T>> {
        while let Some(mut first) = class.peek_mut() {
            let Reverse((bound, pair)) = &mut *first;
            let pair = *pair;
            let is_current = self.state.is_frequent(pair) && self.key(pair) == key;
            match is_current.then(|| T::key(&mut self.state, pair)).flatten() {
                Some(tie) if tie == *bound => {
                    let value = self.objective.value(key, self.state.total);
                    return Some(Best { key, value, tie, pair });
                }
                Some(tie) => *bound = tie,
                None => {
                    std::collections::binary_heap::PeekMut::pop(first);
                }
            }
        }
        None
    }

    /// Return whether a class may have the best pair; otherwise return its pairs to the heap.
    fn keep_or_return(&mut self, key: O::Key, class: &mut Class<T>, best: &Best<O, T>) -> bool {
        let value = self.objective.value(key, self.state.total);
        if self.may_be_best(value, Some(best)) {
            return true;
        }
        for Reverse((_, pair)) in class.drain() {
            if self.bounds[pair as usize].is_none() && self.state.is_frequent(pair) && self.key(pair) == key
            {
                self.push(pair, value, true);
            }
        }
        false
    }
}

/// Return a count that is an eighth lower; counts below 8 are not lowered.
fn floor_of(count: u64) -> u64 {
    count - count / 8
}
