//! The trainer for scores that rise when the entries of a pair become rarer: the best pair first.
//!
//! Merging (a, b) changes the score of every pair that contains a or b. There are thousands of them, and
//! hardly any will ever be the best. So training proceeds in *rounds*. The threshold of a round is the
//! score of about the thousandth-best pair. Pairs that may reach the threshold are *active*
//! (`active_pairs`). When no active pair reaches the threshold, the next round begins. The result equals
//! that of rescoring all pairs for each merge.

use super::active_pairs::{ActivePairs, ScoredPair};
use super::candidate_pairs::CandidatePairs;
use super::objective::Objective;
use super::score_classes::OrderedFloat;
use super::state::MergeState;
use super::ties::TieBreak;
use crate::progress::Progress;
use crate::Learned;
use piecework_core::error::Error;

/// The number of pairs that reach the threshold of a round; low in tests, so that small corpora have rounds.
const ROUND: usize = if cfg!(test) { 4 } else { 1024 };
/// A round ends when `GROWTH` times as many pairs have become active as at its beginning, or as one in
/// `SPARSE` of all candidates. This keeps the cost of beginning rounds in proportion to their benefit.
const GROWTH: usize = 2;
const SPARSE: usize = 32;

/// The candidates between two checks of the available memory.
const CHECK_EVERY: usize = 1 << 12;
/// A round needs a best score of `MARGIN` times the bound of the untracked pairs; otherwise the floor of tracked
/// pairs falls until the best score is at least `STEP` times the bound.
const MARGIN: f64 = if cfg!(test) { 1.0 } else { 2.0 };
const STEP: f64 = if cfg!(test) { 2.0 } else { 8.0 };

struct BestFirst<O: Objective, T: TieBreak> {
    state: MergeState,
    candidates: CandidatePairs,
    active: ActivePairs<O, T>,
}

/// Merge the best pair until the vocabulary is full, no pair is frequent enough or no merge gains.
pub(super) fn learn<O: Objective, T: TieBreak>(
    objective: O,
    state: MergeState,
    progress: &mut Progress<'_>,
) -> Result<Learned, Error> {
    let candidates = CandidatePairs::new(&state);
    let mut active = ActivePairs::new(objective);
    active.grow(&state);
    let mut trainer = BestFirst::<O, T> { state, candidates, active };
    while !trainer.state.is_full() {
        let Some((pair, value)) = trainer.next(progress)? else { break };
        trainer.merge(pair, value, progress)?;
    }
    let BestFirst { state, active, .. } = trainer;
    Ok(state.finish(|state| active.objective.reason(state.min_frequency())))
}

impl<O: Objective, T: TieBreak> BestFirst<O, T> {
    /// Return the best pair; begin a new round if necessary.
    fn next(&mut self, progress: &mut Progress<'_>) -> Result<Option<ScoredPair>, Error> {
        if !self.active.is_exhausted() {
            if let Some(best) = self.active.best(&mut self.state, progress)? {
                return Ok(Some(best));
            }
        }
        if self.begin_round(progress)? {
            return self.active.best(&mut self.state, progress);
        }
        self.best_of_all(progress)
    }

    /// Merge a pair and rescore the pairs that the merge may have raised.
    fn merge(&mut self, pair: u32, value: f64, progress: &mut Progress<'_>) -> Result<(), Error> {
        let (left, right) = self.state.pairs.parts(pair);
        let merged = self.state.merge(pair, value, progress)?;
        self.candidates.grow(&self.state);
        self.active.grow(&self.state);
        if O::NEEDS_MERGED {
            self.update_pairs_of(merged);
        }
        for entry in [left, right, merged] {
            self.active.rescore(&self.state, entry, progress)?;
        }
        for at in 0..self.state.gained.len() {
            self.update(self.state.gained[at]);
        }
        self.active.lower_count_floor(&self.state, &self.candidates, left, progress)?;
        self.active.lower_count_floor(&self.state, &self.candidates, right, progress)
    }

    /// Store `entry` as the merged entry of every pair that spells it, and rescore these pairs.
    fn update_pairs_of(&mut self, entry: u32) {
        let mut pairs = Vec::new();
        let MergeState { entries, pairs: table, .. } = &self.state;
        entries.splits(entry, |left, right| pairs.extend(table.find(left, right)));
        for pair in pairs {
            self.active.set_merged(pair, entry);
            self.update(pair);
        }
    }

    /// Rescore a pair that may have gained.
    fn update(&mut self, pair: u32) {
        if self.candidates.add(&self.state, pair) && self.state.is_frequent(pair) {
            self.active.update(&self.state, pair);
        }
    }

    /// Choose the threshold and the active pairs of a new round.
    ///
    /// Returns false if no pair is left, or if the best score is so low that it may be rounding error.
    fn begin_round(&mut self, progress: &mut Progress<'_>) -> Result<bool, Error> {
        if self.state.is_outdated() {
            self.track_again(self.state.floor(), progress)?;
        }
        let (values, found, untracked) = loop {
            self.state.check_memory()?;
            self.active.clear(&self.state);
            self.candidates.restart(&self.state);
            let values = self.active.values(&self.state, self.candidates.pairs(), progress)?;
            let found = threshold_and_best(&values);
            let untracked = self.untracked_bound(self.state.floor());
            if !self.state.has_untracked() || found.is_some_and(|(_, best)| best > MARGIN * untracked) {
                break (values, found, untracked);
            }
            let floor = self.lower_floor(found.map(|(_, best)| best));
            self.track_again(floor, progress)?;
        };
        let Some((threshold, best)) = found else { return Ok(false) };
        let objective = &self.active.objective;
        let threshold = (threshold - objective.slack(threshold)).max(objective.floor()).max(untracked);
        if best < threshold {
            self.active.end();
            return Ok(false);
        }
        let pairs = self.candidates.pairs();
        self.active.begin(threshold);
        for (at, (&pair, value)) in pairs.iter().zip(values).enumerate() {
            progress.advance(1)?;
            if at.is_multiple_of(CHECK_EVERY) {
                self.state.check_memory()?;
            }
            self.active.consider(&self.state, pair, value);
        }
        self.active.limit(GROWTH, pairs.len() / SPARSE);
        Ok(true)
    }

    /// Return an upper bound of the scores of pairs that occur less than `floor` times; negative if none may be merged.
    fn untracked_bound(&self, floor: u64) -> f64 {
        if floor <= self.state.min_frequency() {
            return f64::NEG_INFINITY;
        }
        self.active.objective.bound_of_count(floor - 1, self.state.total)
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

    /// Count all pairs again and track those that occur at least `floor` times.
    fn track_again(&mut self, floor: u64, progress: &mut Progress<'_>) -> Result<(), Error> {
        self.active.forget();
        self.candidates.forget();
        self.state.lower_floor(floor, progress)?;
        self.candidates = CandidatePairs::new(&self.state);
        self.active.grow(&self.state);
        Ok(())
    }

    /// Compare all candidates; used only where scores are so low that they may be rounding errors.
    fn best_of_all(&mut self, progress: &mut Progress<'_>) -> Result<Option<ScoredPair>, Error> {
        let Self { state, candidates, active } = self;
        let values = active.values(state, candidates.pairs(), progress)?;
        let best = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut first: Option<(T::Key, u32)> = None;
        for (&pair, value) in candidates.pairs().iter().zip(values) {
            if value == best && state.is_frequent(pair) {
                if let Some(key) = T::key(state, pair) {
                    let found = (key, pair);
                    first = Some(first.map_or_else(|| found.clone(), |first| first.min(found.clone())));
                }
            }
        }
        Ok(first.filter(|_| active.objective.gains(best)).map(|(_, pair)| (pair, best)))
    }
}

/// Return the value at rank `ROUND`, or the lowest, and the highest value.
fn threshold_and_best(values: &[f64]) -> Option<(f64, f64)> {
    let mut sorted: Vec<OrderedFloat> = values.iter().map(|&value| OrderedFloat(value)).collect();
    let last = sorted.len().checked_sub(1)?;
    let (better, &mut OrderedFloat(threshold), _) =
        sorted.select_nth_unstable_by(ROUND.min(last), |a, b| b.cmp(a));
    Some((threshold, better.iter().max().map_or(threshold, |best| best.0)))
}
