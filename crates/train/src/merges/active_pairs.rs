//! The active pairs of a round: pairs that may reach the threshold before the round ends.
//!
//! An active pair is rescored as soon as a count of one of its entries changes. All other candidates have
//! upper bounds below the threshold; a bound is valid until the count of one of the entries falls by an
//! eighth, or the pair gains occurrences.
//!
//! Active pairs are grouped in classes of equal score, ordered by ties. The score of a class is exact or an
//! upper bound: scores that may have risen are updated at once, others when their class is considered.

use std::cmp::Ordering;
use std::marker::PhantomData;

use super::candidate_pairs::{CandidatePairs, PairsByEntry};
use super::objective::{MergedEntries, Objective, PairCounts};
use super::score_classes::{OrderedFloat, ScoreClasses, UNCLASSED};
use super::state::MergeState;
use super::ties::TieBreak;
use crate::progress::Progress;
use piecework_core::error::Error;

/// A pair and its score.
pub(super) type ScoredPair = (u32, f64);

/// The active pairs and the threshold of a round.
pub(super) struct ActivePairs<O: Objective, T: TieBreak> {
    pub(super) objective: O,
    classes: ScoreClasses<O::Key, T::Key>,
    merged: MergedEntries,
    /// May include pairs that are no longer active.
    by_entry: PairsByEntry,
    /// By entry: the count down to which the upper bounds are valid.
    count_floor: Vec<u64>,
    threshold: f64,
    /// The number of pairs that may still become active in this round.
    capacity: usize,
    ties: PhantomData<T>,
}

/// The best pair found so far.
struct Best<O: Objective, T: TieBreak> {
    pair: u32,
    tie: T::Key,
    key: O::Key,
    value: f64,
}

impl<O: Objective, T: TieBreak> ActivePairs<O, T> {
    /// No active pairs; the first round has not begun.
    pub(super) fn new(objective: O) -> Self {
        Self {
            objective,
            classes: ScoreClasses::new(),
            merged: MergedEntries::default(),
            by_entry: PairsByEntry::default(),
            count_floor: Vec::new(),
            threshold: f64::INFINITY,
            capacity: 0,
            ties: PhantomData,
        }
    }

    /// Reserve memory for new entries and pairs.
    pub(super) fn grow(&mut self, state: &MergeState) {
        self.merged.grow(state);
        self.by_entry.grow(state);
        let new = &state.counts[self.count_floor.len()..];
        self.count_floor.extend(new.iter().map(|&count| count_floor_of(count)));
    }

    /// Forget all pairs, which have new numbers.
    pub(super) fn forget(&mut self) {
        self.merged = MergedEntries::default();
        self.by_entry = PairsByEntry::default();
        self.classes = ScoreClasses::new();
    }

    /// Store the merged entry of a pair.
    pub(super) fn set_merged(&mut self, pair: u32, entry: u32) {
        self.merged.set(pair, entry);
    }

    /// Return the current scores of pairs.
    pub(super) fn values(
        &mut self,
        state: &MergeState,
        pairs: &[u32],
        progress: &mut Progress<'_>,
    ) -> Result<Vec<f64>, Error> {
        let mut values = Vec::with_capacity(pairs.len());
        for &pair in pairs {
            progress.advance(1)?;
            let counts = self.counts(state, pair);
            values.push(self.objective.quick_value(&counts, state.total));
        }
        Ok(values)
    }

    // ---- rounds

    /// Deactivate all pairs and renew the count floors.
    pub(super) fn clear(&mut self, state: &MergeState) {
        self.classes.clear(state.pairs.len());
        self.by_entry.clear();
        self.count_floor.clear();
        self.count_floor.extend(state.counts.iter().map(|&count| count_floor_of(count)));
    }

    /// Begin a round without active pairs, in which any number of pairs may become active.
    pub(super) fn begin(&mut self, threshold: f64) {
        self.threshold = threshold;
        self.capacity = usize::MAX;
    }

    /// End the round: no pair reaches the threshold.
    pub(super) fn end(&mut self) {
        self.threshold = f64::INFINITY;
    }

    /// Limit the pairs that may become active from now on to `factor` times those active now, or to
    /// `at_least` times `factor` if that is more.
    pub(super) fn limit(&mut self, factor: usize, at_least: usize) {
        self.capacity = factor * (usize::MAX - self.capacity).max(at_least);
    }

    /// Whether as many pairs have become active as the round allows.
    pub(super) fn is_exhausted(&self) -> bool {
        self.capacity == 0
    }

    /// Activate a pair of this score if the score reaches the threshold, or may reach it.
    pub(super) fn consider(&mut self, state: &MergeState, pair: u32, value: f64) {
        if value >= self.threshold {
            self.activate(state, pair);
        } else {
            self.activate_if_near(state, pair);
        }
    }

    // ---- updates

    /// Rescore a pair that may have gained, or activate it if it may reach the threshold.
    pub(super) fn update(&mut self, state: &MergeState, pair: u32) {
        if self.classes.class_of(pair) == UNCLASSED {
            self.activate_if_near(state, pair);
        } else {
            self.classify(state, pair);
        }
    }

    /// Rescore the active pairs that contain an entry.
    pub(super) fn rescore(
        &mut self,
        state: &MergeState,
        entry: u32,
        progress: &mut Progress<'_>,
    ) -> Result<(), Error> {
        let mut pairs = std::mem::take(&mut self.by_entry.0[entry as usize]);
        progress.advance(pairs.len())?;
        pairs.retain(|&pair| self.rescore_pair(state, pair));
        self.by_entry.0[entry as usize] = pairs;
        Ok(())
    }

    /// If the count of an entry has fallen below its floor, lower the floor and renew the upper bounds of the
    /// inactive candidates that contain the entry.
    pub(super) fn lower_count_floor(
        &mut self,
        state: &MergeState,
        candidates: &CandidatePairs,
        entry: u32,
        progress: &mut Progress<'_>,
    ) -> Result<(), Error> {
        let count = state.counts[entry as usize];
        if count >= self.count_floor[entry as usize] {
            return Ok(());
        }
        self.count_floor[entry as usize] = count_floor_of(count);
        let pairs = candidates.of_entry(entry);
        progress.advance(pairs.len())?;
        for &pair in pairs {
            if self.classes.class_of(pair) == UNCLASSED && state.is_frequent(pair) {
                self.activate_if_near(state, pair);
            }
        }
        Ok(())
    }

    /// Rescore an active pair; return whether it is still active.
    fn rescore_pair(&mut self, state: &MergeState, pair: u32) -> bool {
        if self.classes.class_of(pair) == UNCLASSED {
            return false;
        }
        if !state.is_frequent(pair) {
            self.classes.remove(pair);
            return false;
        }
        let counts = self.counts(state, pair);
        if !self.classes.contains(pair, self.objective.key(&counts)) {
            self.classify(state, pair);
        }
        true
    }

    fn activate_if_near(&mut self, state: &MergeState, pair: u32) {
        let counts = self.counts(state, pair);
        let (left, right) = state.pairs.parts(pair);
        let (min_left, min_right) = (self.count_floor[left as usize], self.count_floor[right as usize]);
        if self.objective.bound(&counts, min_left, min_right, state.total) >= self.threshold {
            self.activate(state, pair);
        }
    }

    fn activate(&mut self, state: &MergeState, pair: u32) {
        self.capacity = self.capacity.saturating_sub(1);
        self.by_entry.insert(state, pair);
        self.classify(state, pair);
    }

    /// Insert an active pair into the class of its score; return whether the class existed.
    fn classify(&mut self, state: &MergeState, pair: u32) -> bool {
        let counts = self.counts(state, pair);
        let key = self.objective.key(&counts);
        let (objective, total) = (&self.objective, state.total);
        self.classes.insert(pair, key, T::bound(state, pair), || objective.value(key, total))
    }

    fn counts(&mut self, state: &MergeState, pair: u32) -> PairCounts {
        self.merged.counts(state, pair, O::NEEDS_MERGED)
    }

    // ---- the best pair

    /// Return the best active pair if its score reaches the threshold.
    pub(super) fn best(
        &mut self,
        state: &mut MergeState,
        progress: &mut Progress<'_>,
    ) -> Result<Option<ScoredPair>, Error> {
        self.classes.drop_outdated();
        loop {
            let (best, is_final) = self.best_of_classes(state, progress)?;
            if is_final {
                let best = best.filter(|best| best.value >= self.threshold);
                return Ok(best.map(|best| (best.pair, best.value)));
            }
        }
    }

    /// Compare the classes that may have the highest score; return false if a pair has moved to a class
    /// that may have been compared before.
    fn best_of_classes(
        &mut self,
        state: &mut MergeState,
        progress: &mut Progress<'_>,
    ) -> Result<(Option<Best<O, T>>, bool), Error> {
        let mut best: Option<Best<O, T>> = None;
        let (mut compared, mut moved) = (Vec::new(), false);
        while let Some(&(OrderedFloat(bound), class)) = self.classes.ranking.peek() {
            if best.as_ref().is_some_and(|best| bound < best.value - self.objective.slack(best.value)) {
                break;
            }
            progress.advance(4)?;
            self.classes.ranking.pop();
            let Some((tie, pair)) = self.first_member(state, class, &mut moved) else {
                self.classes.remove_class(class);
                continue;
            };
            let key = self.classes.key(class);
            let found = Best { pair, tie, key, value: self.objective.value(key, state.total) };
            compared.push((OrderedFloat(found.value), class));
            if best.as_ref().is_none_or(|best| self.is_better(&found, best)) {
                best = Some(found);
            }
        }
        self.classes.ranking.extend(compared);
        Ok((best, !moved))
    }

    fn is_better(&self, one: &Best<O, T>, two: &Best<O, T>) -> bool {
        match self.objective.compare((one.key, one.value), (two.key, two.value)) {
            Ordering::Greater => true,
            Ordering::Equal => one.tie < two.tie,
            Ordering::Less => false,
        }
    }

    /// Return the member of a class that comes first by ties, after its score has been checked.
    ///
    /// Members whose score has changed move to their class; sets `moved` if that class existed.
    fn first_member(
        &mut self,
        state: &mut MergeState,
        class: u32,
        moved: &mut bool,
    ) -> Option<(T::Key, u32)> {
        while let Some((bound, pair)) = self.classes.first_member(class) {
            let counts = self.counts(state, pair);
            if !state.is_frequent(pair) {
                self.classes.remove(pair);
                continue;
            }
            if self.objective.key(&counts) != self.classes.key(class) {
                *moved |= self.classify(state, pair);
                continue;
            }
            match T::key(state, pair) {
                Some(key) if key == bound => return Some((key, pair)),
                Some(key) => self.classes.raise_first_member(class, key),
                None => self.classes.remove(pair),
            }
        }
        None
    }
}

/// Return a count that is an eighth lower; counts below 8 are not lowered.
fn count_floor_of(count: u64) -> u64 {
    count - count / 8
}
