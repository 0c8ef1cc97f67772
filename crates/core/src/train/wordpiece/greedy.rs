//! Best pair first, for scores that rise when the parts of a pair become rarer.
//!
//! MergeState (a, b) changes the score of every pair that touches a or b: thousands, of which hardly any will
//! ever be the best. So learning goes in *rounds*. A round takes the score of the thousandth-best pair as
//! its threshold; pairs that could pass it while no count falls by more than an eighth are *active*: they
//! are re-scored at once whenever a part of theirs changes. All others are left alone until one of their
//! parts has lost an eighth, or they gain occurrences. When no active pair reaches the threshold, the next
//! round begins. The result is that of scoring all pairs anew for each merge.
//!
//! Active pairs lie in classes of equal score, in the order of ties, so ties are cheap. What a class
//! knows is an upper bound or exact: scores that may rise are renewed at once, others when they come up.

use std::cmp::Ordering;
use std::marker::PhantomData;

use super::merge_state::MergeState;
use super::objective::{Objective, PairCounts};
use super::score_classes::{OrderedFloat, ScoreClasses, UNCLASSED};
use super::tie_break::TieBreak;
use crate::error::Error;
use crate::train::progress::Progress;
use crate::train::Learned;

/// How many pairs should reach the threshold of a round; few in tests, so that small corpora have rounds.
const ROUND: usize = if cfg!(test) { 4 } else { 1024 };
/// A round ends when ROOM times as many pairs have become active as at its beginning (or one in SPARSE of
/// all), so that the cost of beginning rounds stays in proportion to what they save.
const ROOM: usize = 2;
const SPARSE: usize = 32;
/// Not looked up yet.
const UNKNOWN: u32 = u32::MAX;
/// Known to be no entry.
const NO_ENTRY: u32 = u32::MAX - 1;

/// A pair with its value.
type ScoredPair = (u32, f64);

struct BestFirst<'a, O: Objective, T: TieBreak> {
    objective: O,
    state: MergeState<'a>,
    classes: ScoreClasses<O::Key, T::Key>,
    /// Pairs that occur often enough, or did when the round began; by pair, whether it is listed.
    candidates: Vec<u32>,
    listed: Vec<bool>,
    /// By pair: the merged entry, where it is known.
    merged: Vec<u32>,
    /// By entry: candidates and active pairs that touch it.
    touching: Vec<Vec<u32>>,
    active: Vec<Vec<u32>>,
    /// By entry: bounds hold while its count is not below this.
    count_floor: Vec<u64>,
    threshold: f64,
    /// How many more pairs may become active before the next round raises the threshold.
    room: usize,
    order: PhantomData<T>,
}

/// Merge the best pair until the vocabulary is full, no pair is frequent enough or no merge gains.
pub(super) fn learn<O: Objective, T: TieBreak>(
    objective: O,
    state: MergeState<'_>,
    progress: &mut Progress<'_>,
) -> Result<Learned, Error> {
    let mut greedy = BestFirst::<O, T>::new(objective, state);
    while !greedy.state.is_full() {
        let Some((pair, value)) = greedy.next(progress)? else { break };
        greedy.merge(pair, value, progress)?;
    }
    let BestFirst { objective, state, .. } = greedy;
    Ok(state.finish(|state| objective.reason(state.min_frequency())))
}

impl<'a, O: Objective, T: TieBreak> BestFirst<'a, O, T> {
    fn new(objective: O, state: MergeState<'a>) -> Self {
        let mut greedy = Self {
            objective,
            state,
            classes: ScoreClasses::new(),
            candidates: Vec::new(),
            listed: Vec::new(),
            merged: Vec::new(),
            touching: Vec::new(),
            active: Vec::new(),
            count_floor: Vec::new(),
            threshold: f64::INFINITY,
            room: 0,
            order: PhantomData,
        };
        greedy.grow();
        (0..greedy.state.pairs.len() as u32).for_each(|pair| greedy.list(pair));
        greedy
    }

    /// Find the best pair, beginning a new round when this one is used up.
    fn next(&mut self, progress: &mut Progress<'_>) -> Result<Option<ScoredPair>, Error> {
        if self.room > 0 {
            if let Some(choice) = self.best_active(progress)? {
                return Ok(Some(choice));
            }
        }
        if self.begin_round(progress)? {
            return self.best_active(progress);
        }
        self.best_of_all(progress)
    }

    /// Merge a pair and renew what the merge may have raised.
    fn merge(&mut self, pair: u32, value: f64, progress: &mut Progress<'_>) -> Result<(), Error> {
        let (left, right) = self.state.pairs.parts(pair);
        let merged = self.state.merge(pair, value, progress)?;
        self.grow();
        if O::NEEDS_MERGED {
            self.note_entry(merged);
        }
        for entry in [left, right, merged] {
            self.renew_active(entry, progress)?;
        }
        for at in 0..self.state.gained.len() {
            self.consider(self.state.gained[at]);
        }
        self.lower_count_floor(left, progress)?;
        self.lower_count_floor(right, progress)
    }

    /// Make room for new entries and pairs.
    fn grow(&mut self) {
        let Self { state, listed, merged, touching, active, count_floor, .. } = self;
        listed.resize(state.pairs.len(), false);
        merged.resize(state.pairs.len(), UNKNOWN);
        touching.resize_with(state.entries.len(), Vec::new);
        active.resize_with(state.entries.len(), Vec::new);
        count_floor.extend(state.counts[count_floor.len()..].iter().map(|&count| count_floor_of(count)));
    }

    /// Tell the pairs that `entry` is what state them makes.
    fn note_entry(&mut self, entry: u32) {
        let mut pairs = Vec::new();
        let MergeState { entries, pairs: table, .. } = &self.state;
        entries.splits(entry, |left, right| pairs.extend(table.find(left, right)));
        for pair in pairs {
            self.merged[pair as usize] = entry;
            self.consider(pair);
        }
    }

    /// Look at a pair that may have gained.
    fn consider(&mut self, pair: u32) {
        self.list(pair);
        if !self.listed[pair as usize] || self.state.pairs.count(pair) < self.state.min_frequency() {
            return;
        }
        if self.classes.class_of(pair) != UNCLASSED {
            self.place(pair);
        } else {
            self.activate_if_near(pair);
        }
    }

    /// Put a pair that may be merged on the lists of candidates.
    fn list(&mut self, pair: u32) {
        if self.listed[pair as usize]
            || self.state.pairs.count(pair) < self.state.min_frequency()
            || !self.state.fits(pair)
        {
            return;
        }
        self.listed[pair as usize] = true;
        self.candidates.push(pair);
        push_both(&mut self.touching, self.state.pairs.parts(pair), pair);
    }

    fn pair_counts(&mut self, pair: u32) -> PairCounts {
        let (left, right) = self.state.pairs.parts(pair);
        PairCounts {
            count: self.state.pairs.count(pair),
            left: self.state.counts[left as usize],
            right: self.state.counts[right as usize],
            merged: if O::NEEDS_MERGED { self.merged_count(pair) } else { 0 },
            doubled: left == right,
        }
    }

    fn merged_count(&mut self, pair: u32) -> u64 {
        let known = &mut self.merged[pair as usize];
        if *known == UNKNOWN {
            let (left, right) = self.state.pairs.parts(pair);
            *known = self.state.entries.find_merged(left, right).unwrap_or(NO_ENTRY);
        }
        self.state.counts.get(*known as usize).copied().unwrap_or(0)
    }

    fn activate_if_near(&mut self, pair: u32) {
        let pair_counts = self.pair_counts(pair);
        let (left, right) = self.state.pairs.parts(pair);
        let (least_left, least_right) = (self.count_floor[left as usize], self.count_floor[right as usize]);
        if self.objective.bound(&pair_counts, least_left, least_right, self.state.total) >= self.threshold {
            self.activate(pair);
        }
    }

    fn activate(&mut self, pair: u32) {
        self.room = self.room.saturating_sub(1);
        push_both(&mut self.active, self.state.pairs.parts(pair), pair);
        self.place(pair);
    }

    /// Put an active pair into its class, where it may be already; says whether the class had others.
    fn place(&mut self, pair: u32) -> bool {
        let pair_counts = self.pair_counts(pair);
        let key = self.objective.key(&pair_counts);
        let bound = T::bound(&self.state, pair);
        let (objective, total) = (&self.objective, self.state.total);
        self.classes.place(pair, key, bound, || objective.value(key, total))
    }

    /// Re-score the active pairs that touch an entry.
    fn renew_active(&mut self, entry: u32, progress: &mut Progress<'_>) -> Result<(), Error> {
        let mut pairs = std::mem::take(&mut self.active[entry as usize]);
        progress.advance(pairs.len())?;
        pairs.retain(|&pair| self.renew(pair));
        self.active[entry as usize] = pairs;
        Ok(())
    }

    /// Re-score an active pair; says whether it is still active.
    fn renew(&mut self, pair: u32) -> bool {
        if self.classes.class_of(pair) == UNCLASSED {
            return false;
        }
        if self.state.pairs.count(pair) < self.state.min_frequency() {
            self.classes.remove(pair);
            return false;
        }
        let pair_counts = self.pair_counts(pair);
        if !self.classes.holds(pair, self.objective.key(&pair_counts)) {
            self.place(pair);
        }
        true
    }

    /// Once a count has fallen below what bounds were made for, make new ones for the pairs it is in.
    fn lower_count_floor(&mut self, entry: u32, progress: &mut Progress<'_>) -> Result<(), Error> {
        let count = self.state.counts[entry as usize];
        if count >= self.count_floor[entry as usize] {
            return Ok(());
        }
        self.count_floor[entry as usize] = count_floor_of(count);
        let pairs = std::mem::take(&mut self.touching[entry as usize]);
        progress.advance(pairs.len())?;
        for &pair in &pairs {
            if self.classes.class_of(pair) == UNCLASSED
                && self.state.pairs.count(pair) >= self.state.min_frequency()
            {
                self.activate_if_near(pair);
            }
        }
        self.touching[entry as usize] = pairs;
        Ok(())
    }

    /// Choose the threshold of a new round and the active pairs; false when only noise or nothing is left.
    fn begin_round(&mut self, progress: &mut Progress<'_>) -> Result<bool, Error> {
        self.forget_round();
        let values = self.values(progress)?;
        let mut sorted: Vec<OrderedFloat> = values.iter().map(|&value| OrderedFloat(value)).collect();
        let Some(last) = sorted.len().checked_sub(1) else { return Ok(false) };
        let (better, &mut OrderedFloat(threshold), _) =
            sorted.select_nth_unstable_by(ROUND.min(last), |a, b| b.cmp(a));
        let best = better.iter().max().map_or(threshold, |best| best.0);
        self.threshold = (threshold - self.objective.slack(threshold)).max(self.objective.floor());
        if best < self.threshold {
            self.threshold = f64::INFINITY;
            return Ok(false);
        }
        self.room = usize::MAX;
        for (at, value) in values.into_iter().enumerate() {
            let pair = self.candidates[at];
            progress.advance(1)?;
            if value >= self.threshold {
                self.activate(pair);
            } else {
                self.activate_if_near(pair);
            }
        }
        self.room = ROOM * (usize::MAX - self.room).max(self.candidates.len() / SPARSE);
        Ok(true)
    }

    fn forget_round(&mut self) {
        let Self { state, candidates, listed, touching, active, classes, count_floor, .. } = self;
        classes.clear(state.pairs.len());
        touching.iter_mut().chain(active.iter_mut()).for_each(Vec::clear);
        count_floor.clear();
        count_floor.extend(state.counts.iter().map(|&count| count_floor_of(count)));
        candidates.retain(|&pair| {
            listed[pair as usize] = state.pairs.count(pair) >= state.min_frequency();
            listed[pair as usize]
        });
        for &pair in &*candidates {
            push_both(touching, state.pairs.parts(pair), pair);
        }
    }

    /// The values of all candidates today.
    fn values(&mut self, progress: &mut Progress<'_>) -> Result<Vec<f64>, Error> {
        let mut values = Vec::with_capacity(self.candidates.len());
        for at in 0..self.candidates.len() {
            progress.advance(1)?;
            let pair_counts = self.pair_counts(self.candidates[at]);
            values.push(self.objective.quick_value(&pair_counts, self.state.total));
        }
        Ok(values)
    }

    /// Find the best active pair, if it reaches the threshold.
    fn best_active(&mut self, progress: &mut Progress<'_>) -> Result<Option<ScoredPair>, Error> {
        loop {
            let mut best: Option<(u32, T::Key, O::Key, f64)> = None;
            let (mut seen, mut again) = (Vec::new(), false);
            while let Some(&(OrderedFloat(value), class)) = self.classes.ranking.peek() {
                if best.as_ref().is_some_and(|best| value < best.3 - self.objective.slack(best.3)) {
                    break;
                }
                progress.advance(4)?;
                self.classes.ranking.pop();
                let Some((tie, pair)) = self.leader(class, &mut again) else {
                    self.classes.close(class);
                    continue;
                };
                let key = self.classes.key(class);
                let value = self.objective.value(key, self.state.total);
                seen.push((OrderedFloat(value), class));
                if best
                    .as_ref()
                    .is_none_or(|best| self.beats((key, value, &tie), (best.2, best.3, &best.1)))
                {
                    best = Some((pair, tie, key, value));
                }
            }
            self.classes.ranking.extend(seen);
            if !again {
                return Ok(best.filter(|best| best.3 >= self.threshold).map(|best| (best.0, best.3)));
            }
        }
    }

    fn beats(&self, one: (O::Key, f64, &T::Key), two: (O::Key, f64, &T::Key)) -> bool {
        match self.objective.compare((one.0, one.1), (two.0, two.1)) {
            Ordering::Greater => true,
            Ordering::Equal => one.2 < two.2,
            Ordering::Less => false,
        }
    }

    /// Find the member of a class that truly is in it and comes first in the order of ties.
    ///
    /// A member that belongs elsewhere is moved; `again` is set when it merges a class that may have been
    /// looked at before.
    fn leader(&mut self, class: u32, again: &mut bool) -> Option<(T::Key, u32)> {
        while let Some((assumed, pair)) = self.classes.leader(class) {
            let pair_counts = self.pair_counts(pair);
            if pair_counts.count < self.state.min_frequency() {
                self.classes.remove(pair);
                continue;
            }
            if self.objective.key(&pair_counts) != self.classes.key(class) {
                *again |= self.place(pair);
                continue;
            }
            match T::key(&mut self.state, pair) {
                Some(key) if key == assumed => return Some((key, pair)),
                Some(key) => self.classes.postpone_leader(class, key),
                None => self.classes.remove(pair),
            }
        }
        None
    }

    /// Compare all candidates; used only where values are so small that they may be noise.
    fn best_of_all(&mut self, progress: &mut Progress<'_>) -> Result<Option<ScoredPair>, Error> {
        let values = self.values(progress)?;
        let best = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut choice: Option<(T::Key, u32)> = None;
        for (at, value) in values.into_iter().enumerate() {
            let pair = self.candidates[at];
            if value == best && self.state.pairs.count(pair) >= self.state.min_frequency() {
                if let Some(key) = T::key(&mut self.state, pair) {
                    let found = (key, pair);
                    choice = Some(choice.map_or_else(|| found.clone(), |known| known.min(found.clone())));
                }
            }
        }
        Ok(choice.filter(|_| self.objective.gains(best)).map(|(_, pair)| (pair, best)))
    }
}

/// A count that is an eighth lower; small counts have no room.
fn count_floor_of(count: u64) -> u64 {
    count - count / 8
}

fn push_both(lists: &mut [Vec<u32>], (left, right): (u32, u32), pair: u32) {
    lists[left as usize].push(pair);
    if left != right {
        lists[right as usize].push(pair);
    }
}
