//! The removals, what is put back, and the choices of an earlier run.
//!
//! A choice is a change of the vocabulary: an entry that is put back in its high half, an entry that is removed in
//! its low half, [`NONE`] for none. The choices of a run are all removals, then, for each size in ascending order,
//! rounds of exchanges, each ended by [`END_OF_ROUND`].

use std::cmp::Reverse;

use super::candidates::Candidates;
use super::effects::CostRule;
use super::losses::Losses;
use super::steps::RemovalLog;
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
pub(super) struct Pruner<'a> {
    pub(super) losses: Losses<'a>,
    candidates: &'a Candidates,
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
    /// What reports the removals as steps.
    pub(super) log: Option<RemovalLog<'a>>,
}

impl<'a> Pruner<'a> {
    pub(super) fn new(candidates: &'a Candidates, settings: &Pruning, threads: usize) -> Self {
        let rule = CostRule::new(settings);
        Self {
            losses: Losses::new(candidates, settings.segmentation, rule, threads),
            candidates,
            removable: candidates.protected.iter().filter(|&&protected| !protected).count(),
            removed: Vec::new(),
            is_current: false,
            record: settings.record_removals,
            removals: Vec::new(),
            exchanges: Vec::new(),
            log: None,
        }
    }

    /// Remove the cheapest entry until `wanted` are left; progress is reported up to `total`.
    pub(super) fn remove_until(
        &mut self,
        wanted: usize,
        total: usize,
        choices: &mut Choices<'_>,
        progress: &mut Progress<'_>,
    ) -> Result<(), Error> {
        self.estimate_costs(progress)?;
        let mut next_estimate = self.removable * STAGE_PERCENT / 100;
        let in_all = self.removable.saturating_sub(wanted);
        while self.removed.len() < in_all {
            let cheapest = || Ok(self.cheapest(progress)?.map(|candidate| change(NONE, candidate)));
            let Some(choice) = choices.next_or(cheapest)? else { break };
            let (inserted, removed) = parts(choice);
            if inserted != NONE {
                return Err(choices.wrong("an entry that is put back too early"));
            }
            self.remove(removed, choices, progress)?;
            progress.reach((self.removed.len() as u128 * total as u128 / in_all as u128) as usize);
            if self.left() == next_estimate {
                self.estimate_costs(progress)?;
                next_estimate = next_estimate * STAGE_PERCENT / 100;
            }
        }
        Ok(())
    }

    /// Change the vocabulary to that of `wanted` removable entries, and put removed entries back, each for the
    /// entry that is cheapest then, while that saves something.
    pub(super) fn put_back(
        &mut self,
        wanted: usize,
        choices: &mut Choices<'_>,
        progress: &mut Progress<'_>,
    ) -> Result<(), Error> {
        self.exchanges.clear();
        let prefix = self.removable.saturating_sub(wanted).min(self.removed.len());
        if self.removed.len() != prefix || !self.is_current {
            self.mark_removed(prefix);
        }
        if prefix == 0 {
            return Ok(());
        }
        for _ in 0..PUT_BACK_ROUNDS {
            if self.exchange(choices, progress)? == 0 {
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

    /// Estimate the costs of entries, if they differ.
    fn estimate_costs(&mut self, progress: &mut Progress<'_>) -> Result<(), Error> {
        if self.losses.has_surprisal() {
            self.losses.estimate_costs(progress)?;
            self.is_current = false;
        }
        Ok(())
    }

    fn cheapest(&mut self, progress: &mut Progress<'_>) -> Result<Option<u32>, Error> {
        self.refresh(progress)?;
        Ok(self.losses.cheapest().map(|(candidate, _)| candidate))
    }

    /// Remove an entry; with losses that are out of date, mark it only.
    fn remove(
        &mut self,
        candidate: u32,
        choices: &Choices<'_>,
        progress: &mut Progress<'_>,
    ) -> Result<(), Error> {
        if self.is_current {
            self.note_removal(candidate, None);
            self.losses.remove(candidate, progress)?;
        } else {
            self.mark_absent(candidate, choices)?;
        }
        self.removed.push(candidate);
        Ok(())
    }

    /// Mark all entries as present except the first `prefix` removed ones.
    fn mark_removed(&mut self, prefix: usize) {
        (0..self.candidates.len() as u32).for_each(|candidate| self.losses.mark(candidate, true));
        self.removed[..prefix].iter().for_each(|&candidate| self.losses.mark(candidate, false));
        self.is_current = false;
    }

    // ---- one round

    /// Put back what saves more than the cheapest entry; return the number of exchanges.
    fn exchange(&mut self, choices: &mut Choices<'_>, progress: &mut Progress<'_>) -> Result<usize, Error> {
        self.estimate_costs(progress)?;
        self.refresh(progress)?;
        let mut ranked = self.ranked_gains(progress)?.into_iter();
        let mut exchanges = 0;
        loop {
            let is_replayed = choices.is_replaying();
            let choice = choices.next_or(|| self.next_exchange(&mut ranked, progress).map(Some))?;
            let Some(choice) = choice.filter(|&choice| choice != END_OF_ROUND) else { break };
            if is_replayed {
                let (inserted, removed) = parts(choice);
                if !ranked.any(|candidate| candidate == inserted) {
                    return Err(choices.wrong(format!("entry {inserted}, which saves too little")));
                }
                self.mark_present(inserted, choices)?;
                self.mark_absent(removed, choices)?;
            }
            exchanges += 1;
        }
        Ok(exchanges)
    }

    /// Exchange the next entry that saves more than the cheapest one; return the choice.
    fn next_exchange(
        &mut self,
        ranked: &mut impl Iterator<Item = u32>,
        progress: &mut Progress<'_>,
    ) -> Result<u64, Error> {
        self.refresh(progress)?;
        for candidate in ranked {
            if let Some(removed) = self.swap_in(candidate, progress)? {
                return Ok(change(candidate, removed));
            }
        }
        Ok(END_OF_ROUND)
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
        if let Some(log) = &self.log {
            log.push(&self.losses, candidate, put_back);
        }
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

    fn mark_present(&mut self, candidate: u32, choices: &Choices<'_>) -> Result<(), Error> {
        if !self.is_removable(candidate) || self.losses.is_present(candidate) {
            return Err(choices.wrong(format!("entry {candidate}, which cannot be put back")));
        }
        self.losses.mark(candidate, true);
        self.is_current = false;
        Ok(())
    }

    fn mark_absent(&mut self, candidate: u32, choices: &Choices<'_>) -> Result<(), Error> {
        if !self.is_removable(candidate) || !self.losses.is_present(candidate) {
            return Err(choices.wrong(format!("entry {candidate}, which cannot be removed")));
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
