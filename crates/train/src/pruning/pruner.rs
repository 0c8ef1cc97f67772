//! The removals, what is put back, and the choices of an earlier run.
//!
//! A choice is a change of the vocabulary: an entry that is put back in its high half, an entry that is removed in
//! its low half, [`NONE`] for none. The choices of a run are all removals, then, for each size in ascending order,
//! rounds of exchanges, each ended by [`END_OF_ROUND`].

use std::cmp::Reverse;

use super::candidates::Candidates;
use super::effects::CostRule;
use super::losses::Losses;
use crate::progress::Progress;
use crate::resume::Choices;
use crate::substrings::NONE;
use crate::wordpiece::spec::Pruning;
use crate::Removal;
use piecework_core::error::Error;

/// Costs with surprisal are estimated anew when this share of the entries is left, in per cent.
const STAGE_PERCENT: usize = 85;
/// How often all removed entries are considered again.
const PUT_BACK_ROUNDS: usize = 4;
/// The choice that ends a round.
const END_OF_ROUND: u64 = u64::MAX;

/// Removes the cheapest entries, and puts some back.
pub(super) struct Pruner<'a, 'c, 'r> {
    pub(super) losses: Losses<'a>,
    candidates: &'a Candidates,
    choices: &'c mut Choices<'r>,
    balance: bool,
    /// The number of entries that can be removed.
    removable: usize,
    /// The removed entries in order, before any is put back.
    removed: Vec<u32>,
    /// Whether the losses are those of the present vocabulary.
    is_current: bool,
    /// What is listed for the caller, if it asked: the removals, and the exchanges of the present size.
    record: bool,
    removals: Vec<Removal>,
    exchanges: Vec<Removal>,
}

impl<'a, 'c, 'r> Pruner<'a, 'c, 'r> {
    pub(super) fn new(
        candidates: &'a Candidates,
        settings: &Pruning,
        threads: usize,
        choices: &'c mut Choices<'r>,
    ) -> Self {
        let rule = CostRule::new(settings);
        Self {
            losses: Losses::new(candidates, settings.segmentation, rule, threads),
            candidates,
            choices,
            balance: rule.balance > 0,
            removable: candidates.protected.iter().filter(|&&protected| !protected).count(),
            removed: Vec::new(),
            is_current: false,
            record: settings.record_removals,
            removals: Vec::new(),
            exchanges: Vec::new(),
        }
    }

    /// Remove the cheapest entry until `wanted` are left; progress is reported up to `total`.
    pub(super) fn remove_until(
        &mut self,
        wanted: usize,
        total: usize,
        progress: &mut Progress<'_>,
    ) -> Result<(), Error> {
        self.replay_removals(wanted)?;
        let mut next_estimate = self.restore_costs(progress)?;
        self.refresh(progress)?;
        let in_all = self.removable.saturating_sub(wanted);
        while self.removed.len() < in_all {
            let Some((candidate, _)) = self.losses.cheapest() else { break };
            self.note_removal(candidate, None);
            self.losses.remove(candidate, progress)?;
            self.removed.push(candidate);
            self.choices.record(change(NONE, candidate));
            progress.reach((self.removed.len() as u128 * total as u128 / in_all as u128) as usize);
            if self.left() == next_estimate && self.balance {
                self.estimate_costs(progress)?;
                next_estimate = next_estimate * STAGE_PERCENT / 100;
            }
        }
        Ok(())
    }

    /// Change the vocabulary to that of `wanted` removable entries, and put removed entries back, each for the
    /// entry that is cheapest then, while that saves something.
    pub(super) fn put_back(&mut self, wanted: usize, progress: &mut Progress<'_>) -> Result<(), Error> {
        self.exchanges.clear();
        let prefix = self.removable.saturating_sub(wanted).min(self.removed.len());
        if self.removed.len() != prefix || !self.is_current {
            self.mark_removed(prefix);
        }
        if prefix == 0 {
            return Ok(());
        }
        for _ in 0..PUT_BACK_ROUNDS {
            let exchanges = match self.replay_round()? {
                Some(exchanges) => exchanges,
                None => self.exchange(progress)?,
            };
            if exchanges == 0 {
                break;
            }
        }
        Ok(())
    }

    /// Return the removals until `wanted` removable entries were left, then the exchanges; empty unless requested.
    pub(super) fn removals(&self, wanted: usize) -> Vec<Removal> {
        let prefix = self.removable.saturating_sub(wanted).min(self.removals.len());
        [&self.removals[..prefix], &self.exchanges].concat()
    }

    /// Reject choices of an earlier run that are left.
    pub(super) fn finish(self) -> Result<(), Error> {
        self.choices.finish()
    }

    /// Return the number of removable entries that are left.
    fn left(&self) -> usize {
        self.removable - self.removed.len()
    }

    /// Make the losses those of the present vocabulary.
    fn refresh(&mut self, progress: &mut Progress<'_>) -> Result<(), Error> {
        if !self.is_current {
            self.losses.recompute(progress)?;
            self.is_current = true;
        }
        Ok(())
    }

    fn estimate_costs(&mut self, progress: &mut Progress<'_>) -> Result<(), Error> {
        self.losses.estimate_costs(progress)?;
        self.is_current = false;
        self.refresh(progress)
    }

    /// Mark all entries as present except the first `prefix` removed ones.
    fn mark_removed(&mut self, prefix: usize) {
        (0..self.candidates.len() as u32).for_each(|candidate| self.losses.mark(candidate, true));
        self.removed[..prefix].iter().for_each(|&candidate| self.losses.mark(candidate, false));
        self.is_current = false;
    }

    // ---- one round

    /// Put back what saves more than the cheapest entry; return the number of exchanges.
    fn exchange(&mut self, progress: &mut Progress<'_>) -> Result<usize, Error> {
        if self.balance {
            self.estimate_costs(progress)?;
        }
        self.refresh(progress)?;
        let ranked = self.ranked_gains(progress)?;
        let (mut exchanges, start) = self.replay_exchanges(&ranked, progress)?;
        for &candidate in &ranked[start..] {
            if let Some(removed) = self.swap_in(candidate, progress)? {
                self.choices.record(change(candidate, removed));
                exchanges += 1;
            }
        }
        self.choices.record(END_OF_ROUND);
        Ok(exchanges)
    }

    /// Return the absent entries that would save more than the cheapest entry, those that save most first.
    fn ranked_gains(&mut self, progress: &mut Progress<'_>) -> Result<Vec<u32>, Error> {
        let Some((_, least)) = self.losses.cheapest() else { return Ok(Vec::new()) };
        let gains = self.losses.gains(progress)?;
        let gain = |candidate: u32| gains[candidate as usize].gain;
        let mut ranked: Vec<u32> = (0..self.candidates.len() as u32)
            .filter(|&candidate| !self.losses.is_present(candidate) && gain(candidate) > least)
            .collect();
        let rank = |candidate: u32| self.candidates.rank[candidate as usize];
        ranked.sort_unstable_by_key(|&candidate| (Reverse(gain(candidate)), Reverse(rank(candidate))));
        Ok(ranked)
    }

    /// Put an entry back if it saves more than the cheapest entry; return the entry that is removed for it.
    fn swap_in(&mut self, candidate: u32, progress: &mut Progress<'_>) -> Result<Option<u32>, Error> {
        let gain = self.losses.gain(candidate, progress)?.gain;
        if self.losses.cheapest().is_none_or(|(_, loss)| gain <= loss) {
            return Ok(None);
        }
        self.losses.insert(candidate, progress)?;
        let Some((removed, _)) = self.losses.cheapest() else { return Ok(None) };
        if removed != candidate {
            self.note_removal(removed, Some(candidate));
        }
        self.losses.remove(removed, progress)?;
        Ok((removed != candidate).then_some(removed))
    }

    fn note_removal(&mut self, candidate: u32, put_back: Option<u32>) {
        if self.record {
            let list = if put_back.is_some() { &mut self.exchanges } else { &mut self.removals };
            list.push(Removal {
                entry: self.candidates.name(candidate),
                loss: self.losses.loss_in_tokens(candidate),
                put_back: put_back.map(|entry| self.candidates.name(entry)),
            });
        }
    }

    // ---- an earlier run

    /// Apply the removals of an earlier run.
    fn replay_removals(&mut self, wanted: usize) -> Result<(), Error> {
        let number = self.removable.saturating_sub(wanted).min(self.choices.remaining().len());
        for _ in 0..number {
            let (inserted, removed) = parts(self.choices.replay().unwrap_or(END_OF_ROUND));
            if inserted != NONE {
                return Err(self.choices.wrong("an entry that is put back too early"));
            }
            self.mark_absent(removed)?;
            self.removed.push(removed);
        }
        Ok(())
    }

    /// Estimate the costs as of the last stage before the present one, and return when to do so again.
    fn restore_costs(&mut self, progress: &mut Progress<'_>) -> Result<usize, Error> {
        let mut last = self.removable;
        let mut next = last * STAGE_PERCENT / 100;
        // A stage with no entries left is never followed by another one.
        while self.left() <= next && next < last {
            (last, next) = (next, next * STAGE_PERCENT / 100);
        }
        if self.balance {
            let removed = self.removed.len();
            self.mark_removed(self.removable - last);
            self.losses.estimate_costs(progress)?;
            self.mark_removed(removed);
        }
        Ok(next)
    }

    /// Apply a whole round of an earlier run; return its number of exchanges, `None` if there is none.
    fn replay_round(&mut self) -> Result<Option<usize>, Error> {
        let remaining = self.choices.remaining();
        let Some(exchanges) = remaining.iter().position(|&choice| choice == END_OF_ROUND) else {
            return Ok(None);
        };
        for _ in 0..exchanges {
            let (inserted, removed) = parts(self.choices.replay().unwrap_or(END_OF_ROUND));
            self.mark_present(inserted)?;
            self.mark_absent(removed)?;
        }
        self.choices.replay();
        Ok(Some(exchanges))
    }

    /// Apply the exchanges of a round that an earlier run did not finish; return their number, and the position
    /// in `ranked` after the last one.
    fn replay_exchanges(
        &mut self,
        ranked: &[u32],
        progress: &mut Progress<'_>,
    ) -> Result<(usize, usize), Error> {
        let (mut exchanges, mut start) = (0, 0);
        while let Some(choice) = self.choices.replay() {
            let (inserted, removed) = parts(choice);
            let position = ranked[start..].iter().position(|&candidate| candidate == inserted);
            let Some(position) = position else {
                return Err(self.choices.wrong(format!("entry {inserted}, which saves too little")));
            };
            start += position + 1;
            self.mark_present(inserted)?;
            self.mark_absent(removed)?;
            exchanges += 1;
        }
        self.refresh(progress)?;
        Ok((exchanges, start))
    }

    fn mark_present(&mut self, candidate: u32) -> Result<(), Error> {
        if !self.is_removable(candidate) || self.losses.is_present(candidate) {
            return Err(self.choices.wrong(format!("entry {candidate}, which cannot be put back")));
        }
        self.losses.mark(candidate, true);
        self.is_current = false;
        Ok(())
    }

    fn mark_absent(&mut self, candidate: u32) -> Result<(), Error> {
        if !self.is_removable(candidate) || !self.losses.is_present(candidate) {
            return Err(self.choices.wrong(format!("entry {candidate}, which cannot be removed")));
        }
        self.losses.mark(candidate, false);
        self.is_current = false;
        Ok(())
    }

    fn is_removable(&self, candidate: u32) -> bool {
        self.candidates.protected.get(candidate as usize).is_some_and(|&protected| !protected)
    }
}

/// Return the choice for an entry that is put back and one that is removed.
fn change(inserted: u32, removed: u32) -> u64 {
    u64::from(inserted) << 32 | u64::from(removed)
}

/// Return the entry that is put back and the one that is removed.
fn parts(choice: u64) -> (u32, u32) {
    ((choice >> 32) as u32, choice as u32)
}
