//! The removals as data: the entries with the least loss, and the words that change.

use std::cmp::Reverse;

use foldhash::HashMap;

use super::candidates::Candidates;
use super::losses::{Losses, WordChange};
use crate::count::Part;
use crate::trace::{EntryLoss, RemovalStep, Score, SplitChange, Step, StepLog};
use crate::wordpiece::spec::Start;

/// Reports the removals of one run.
pub(super) struct RemovalLog<'a> {
    log: &'a StepLog,
    candidates: &'a Candidates,
    /// The number of special tokens and entries of the alphabet.
    base: usize,
    /// By word: its position in the corpus.
    order: Vec<usize>,
}

impl<'a> RemovalLog<'a> {
    /// Report the seeds, those that cover most text first.
    pub(super) fn new(
        log: &'a StepLog,
        start: &Start<'_>,
        words: &[(Part<'_>, u64)],
        candidates: &'a Candidates,
    ) -> Self {
        let weight = |&candidate: &u32| {
            (Reverse(candidates.count(candidate) * u64::from(candidates.chars(candidate))), candidate)
        };
        let mut seeds = removable(candidates);
        seeds.sort_by_key(weight);
        let named = |seed: u32| (candidates.name(seed), Score::Count(candidates.count(seed)));
        log.trace().seeds = seeds.into_iter().map(named).collect();
        let position: HashMap<Part<'_>, usize> =
            start.counts.iter_parts().enumerate().map(|(at, (word, _))| (word, at)).collect();
        let order = words.iter().map(|(word, _)| position[word]).collect();
        Self { log, candidates, base: start.entries.len(), order }
    }

    /// Report that an entry is about to be removed, perhaps for one that has been put back.
    pub(super) fn push(&self, losses: &Losses<'_>, removed: u32, put_back: Option<u32>) {
        let Some(number) = self.log.next_step() else { return };
        let (candidates, top) = (self.candidates, self.log.spec.top);
        let mut order = removable(candidates);
        order.retain(|&entry| losses.is_present(entry));
        order.sort_by_key(|&entry| (losses.loss(entry), candidates.rank[entry as usize]));
        let least = losses.loss(removed);
        let named = |&entry: &u32| EntryLoss {
            entry: candidates.name(entry),
            count: candidates.count(entry),
            loss: losses.loss_in_tokens(entry),
        };
        let mut changed = losses.changed_words(removed, put_back);
        changed.sort_by_key(|change| self.order[change.number as usize]);
        self.log.push(Step::Removal(RemovalStep {
            number,
            removed: named(&removed),
            candidates: order.iter().take(top).map(named).collect(),
            removable: order.len(),
            tied: order.iter().filter(|&&entry| losses.loss(entry) == least).count(),
            changes: changed.iter().take(top).map(|change| self.split_change(change)).collect(),
            changed_words: changed.len(),
            vocab_size: self.base + order.len() - 1,
            put_back: put_back.as_ref().map(named),
        }));
    }

    fn split_change(&self, change: &WordChange) -> SplitChange {
        let named = |tokens: &[u32]| tokens.iter().map(|&token| self.candidates.name(token)).collect();
        SplitChange { count: change.count, before: named(&change.before), after: named(&change.after) }
    }
}

fn removable(candidates: &Candidates) -> Vec<u32> {
    let is_removable = |&candidate: &u32| !candidates.protected[candidate as usize];
    (0..candidates.len() as u32).filter(is_removable).collect()
}
