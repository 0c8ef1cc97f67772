//! The loss of every entry: what its removal adds to the cost of the corpus, exact after every change.
//!
//! The loss of an entry is the sum, over the words that use it, of what the word costs without it minus what it
//! costs now, times the count of the word. So it depends on the segmentations of the words now, and on those
//! without one of the used entries. An index lists, for each entry, the words with a segmentation of either kind
//! that uses it. When an entry is removed, only these words are computed again, with the entry and without it:
//! to store what each word contributes would take more memory than all else, and be no faster.
//!
//! Passes over all words are divided among threads, which add integers, so their number changes no result.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Mutex, PoisonError};

use super::candidates::Candidates;
use super::effects::{CostRule, EffectScratch, Gain, GainSums, WordCosts, WordEffects, ONE};
use super::segmentation::{FewestScratch, VocabularyChange};
use crate::progress::Progress;
use crate::substrings::DistinctWord;
use crate::thread_team::{threads_within, total, ThreadTeam};
use piecework_core::error::Error;
use piecework_core::spec::Segmentation;

/// Units of work for a word in progress reports.
const WORK: usize = 64;
/// Words that a thread takes at once.
const PART: usize = 1024;
/// The sums of the threads after the first take at most this number of bytes for each character of the text.
const SUM_BYTES: usize = 8;
/// How many words ahead memory is prefetched.
const AHEAD: usize = 8;

/// The vocabulary while it shrinks, and the loss of each entry.
pub(super) struct Losses<'a> {
    candidates: &'a Candidates,
    costs: WordCosts<'a>,
    threads: usize,
    /// By candidate.
    loss: Vec<i128>,
    /// By candidate: words that depend on it; some of them no longer do, and some are repeated.
    words_of: Vec<Vec<u32>>,
    queue: LossQueue<'a>,
    /// By word: the last change that has visited it.
    visited: Vec<u32>,
    change: u32,
    /// The words that the present change visits.
    words: Vec<u32>,
    /// The candidates whose loss the present change has updated.
    touched: Vec<u32>,
    is_touched: Vec<bool>,
    scratch: EffectScratch,
    with: WordEffects,
    without: WordEffects,
}

/// A word whose tokens a removal changes.
pub(super) struct WordChange {
    pub(super) number: u32,
    pub(super) count: u64,
    pub(super) before: Vec<u32>,
    pub(super) after: Vec<u32>,
}

/// The losses as far as one thread has added them.
struct LossSums {
    /// By candidate.
    loss: Vec<i128>,
    scratch: EffectScratch,
    effects: WordEffects,
    /// The entries on which the words of a part depend, with the words.
    dependencies: Vec<(u32, u32)>,
}

impl<'a> Losses<'a> {
    /// Start with all candidates in the vocabulary, each at a cost of 1; the losses are not computed yet.
    pub(super) fn new(
        candidates: &'a Candidates,
        segmentation: Segmentation,
        rule: CostRule,
        threads: usize,
    ) -> Self {
        let size = candidates.len();
        Self {
            candidates,
            costs: WordCosts::new(candidates, segmentation, rule),
            threads,
            loss: vec![0; size],
            words_of: vec![Vec::new(); size],
            queue: LossQueue::new(candidates),
            visited: vec![0; candidates.index.text.len()],
            change: 0,
            words: Vec::new(),
            touched: Vec::new(),
            is_touched: vec![false; size],
            scratch: EffectScratch::default(),
            with: WordEffects::default(),
            without: WordEffects::default(),
        }
    }

    /// Mark an entry as present or absent without updating losses; [`Self::recompute`] must follow.
    pub(super) fn mark(&mut self, candidate: u32, present: bool) {
        match (self.is_present(candidate), present) {
            (true, false) => self.costs.segmenter.present.remove(candidate),
            (false, true) => self.costs.segmenter.present.insert(candidate),
            _ => {}
        }
    }

    pub(super) fn is_present(&self, candidate: u32) -> bool {
        self.costs.segmenter.present.contains(candidate)
    }

    /// Return the removable entry with the least loss, and its loss.
    pub(super) fn cheapest(&mut self) -> Option<(u32, i128)> {
        self.queue.cheapest(&self.loss)
    }

    /// Return whether the costs of entries differ.
    pub(super) fn has_surprisal(&self) -> bool {
        self.costs.rule.balance > 0
    }

    /// Return the loss of an entry, which is of use only beside others.
    pub(super) fn loss(&self, candidate: u32) -> i128 {
        self.loss[candidate as usize]
    }

    /// Return the words whose tokens change when an entry is removed, perhaps for one that has just been put back:
    /// number and count, tokens before and after.
    pub(super) fn changed_words(&self, removed: u32, put_back: Option<u32>) -> Vec<WordChange> {
        let segmenter = &self.costs.segmenter;
        let before =
            put_back.map_or(VocabularyChange::NONE, |entry| VocabularyChange::NONE.and_removing(entry));
        let after = VocabularyChange::NONE.and_removing(removed);
        let entries = put_back.into_iter().chain([removed]);
        let mut words: Vec<u32> = entries.flat_map(|entry| words_with(self.candidates, entry)).collect();
        words.sort_unstable();
        words.dedup();
        let mut fewest = FewestScratch::default();
        let mut segment = |word: &DistinctWord, change: &VocabularyChange| {
            let mut tokens = Vec::new();
            segmenter.segment(word, change, &mut fewest, &mut tokens);
            tokens
        };
        let changes = words.into_iter().map(|number| {
            let word = self.candidates.index.text.word(number);
            let (before, after) = (segment(&word, &before), segment(&word, &after));
            WordChange { number, count: word.count, before, after }
        });
        changes.filter(|change| change.before != change.after).collect()
    }

    /// Return the loss of an entry in tokens.
    pub(super) fn loss_in_tokens(&self, candidate: u32) -> f64 {
        self.loss[candidate as usize] as f64 / ONE as f64
    }

    // ---- one change

    /// Remove an entry.
    pub(super) fn remove(&mut self, candidate: u32, progress: &mut Progress<'_>) -> Result<(), Error> {
        self.costs.segmenter.present.remove(candidate);
        self.queue.forget(candidate);
        let words = std::mem::take(&mut self.words_of[candidate as usize]);
        self.visit(words.into_iter());
        self.update_words(candidate, false, progress)?;
        self.queue_touched();
        Ok(())
    }

    /// Put an entry back.
    pub(super) fn insert(&mut self, candidate: u32, progress: &mut Progress<'_>) -> Result<(), Error> {
        self.visit(words_with(self.candidates, candidate));
        self.update_words(candidate, true, progress)?;
        self.costs.segmenter.present.insert(candidate);
        self.touch(candidate);
        self.queue_touched();
        Ok(())
    }

    /// Return what an absent entry would be used for.
    pub(super) fn gain(&mut self, candidate: u32, progress: &mut Progress<'_>) -> Result<Gain, Error> {
        self.visit(words_with(self.candidates, candidate));
        let mut gain = Gain::default();
        for at in 0..self.words.len() {
            progress.advance(WORK)?;
            self.prefetch(at);
            let word = self.candidates.index.text.word(self.words[at]);
            self.costs.add_gain(candidate, &word, &mut self.scratch, &mut gain);
        }
        Ok(gain)
    }

    /// List each of `words` once.
    fn visit(&mut self, words: impl Iterator<Item = u32>) {
        let Self { words: visited_words, visited, change, .. } = self;
        *change += 1;
        visited_words.clear();
        visited_words.extend(
            words.filter(|&word| std::mem::replace(&mut visited[word as usize], *change) != *change),
        );
    }

    /// Update the losses for the visited words, between the vocabulary, which lacks `candidate`, and that with it.
    fn update_words(
        &mut self,
        candidate: u32,
        is_inserted: bool,
        progress: &mut Progress<'_>,
    ) -> Result<(), Error> {
        let adding = VocabularyChange::adding(candidate, self.candidates);
        for at in 0..self.words.len() {
            progress.advance(WORK)?;
            self.prefetch(at);
            let number = self.words[at];
            let word = self.candidates.index.text.word(number);
            self.costs.effects(&word, adding, &mut self.scratch, &mut self.with);
            // A word that does not depend on the entry does not change.
            if self.with.depends_on.contains(&candidate) {
                self.costs.effects(&word, VocabularyChange::NONE, &mut self.scratch, &mut self.without);
                self.replace(number, word.count, is_inserted);
            }
        }
        Ok(())
    }

    /// Replace what a word contributes, by that with the entry or without it.
    fn replace(&mut self, number: u32, count: u64, is_inserted: bool) {
        let with = std::mem::take(&mut self.with);
        let without = std::mem::take(&mut self.without);
        let (before, after) = if is_inserted { (&without, &with) } else { (&with, &without) };
        for &(entry, cost) in &before.added {
            self.loss[entry as usize] -= i128::from(count) * i128::from(cost);
            self.touch(entry);
        }
        for &(entry, cost) in &after.added {
            self.loss[entry as usize] += i128::from(count) * i128::from(cost);
            self.touch(entry);
        }
        for &entry in after.depends_on.iter().filter(|entry| !before.depends_on.contains(entry)) {
            self.words_of[entry as usize].push(number);
        }
        (self.with, self.without) = (with, without);
    }

    /// Prefetch what the words need that are visited after the one at `at`.
    fn prefetch(&self, at: usize) {
        let text = &self.candidates.index.text;
        if let Some(&word) = self.words.get(at + 2 * AHEAD) {
            text.prefetch(word);
        }
        if let Some(&word) = self.words.get(at + AHEAD) {
            self.candidates.prefetch_at(text.word(word).start);
        }
    }

    fn touch(&mut self, candidate: u32) {
        if !self.is_touched[candidate as usize] {
            self.is_touched[candidate as usize] = true;
            self.touched.push(candidate);
        }
    }

    /// Queue the entries whose loss has fallen.
    fn queue_touched(&mut self) {
        while let Some(candidate) = self.touched.pop() {
            self.is_touched[candidate as usize] = false;
            self.enqueue(candidate);
        }
        if self.queue.is_long() {
            self.queue_all();
        }
    }

    fn queue_all(&mut self) {
        self.queue.clear();
        (0..self.candidates.len() as u32).for_each(|candidate| self.enqueue(candidate));
    }

    fn enqueue(&mut self, candidate: u32) {
        if self.is_present(candidate) && !self.candidates.protected[candidate as usize] {
            self.queue.lower(candidate, self.loss[candidate as usize]);
        }
    }

    // ---- all words

    /// Compute all losses anew.
    pub(super) fn recompute(&mut self, progress: &mut Progress<'_>) -> Result<(), Error> {
        let mut words_of = std::mem::take(&mut self.words_of);
        words_of.iter_mut().for_each(Vec::clear);
        let words_of = Mutex::new(words_of);
        let (candidates, costs) = (self.candidates, &self.costs);
        let new_sums = || LossSums {
            loss: vec![0; candidates.len()],
            scratch: EffectScratch::default(),
            effects: WordEffects::default(),
            dependencies: Vec::new(),
        };
        let mut team = ThreadTeam::new(self.threads_with(size_of::<i128>()), progress);
        let sums = team.run_parts(candidates.index.text.len(), PART, new_sums, |sums, _, words| {
            words.for_each(|word| sums.add(costs, word as u32));
            let mut words_of = words_of.lock().unwrap_or_else(PoisonError::into_inner);
            for (entry, word) in sums.dependencies.drain(..) {
                words_of[entry as usize].push(word);
            }
        })?;
        self.words_of = words_of.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.loss = total(sums.into_iter().map(|sums| sums.loss));
        self.queue_all();
        Ok(())
    }

    /// Return what each absent entry would be used for alone, by candidate.
    pub(super) fn gains(&self, progress: &mut Progress<'_>) -> Result<Vec<Gain>, Error> {
        let (candidates, costs) = (self.candidates, &self.costs);
        let mut team = ThreadTeam::new(self.threads_with(size_of::<Gain>()), progress);
        let new_sums = || GainSums::new(candidates);
        let sums = team.run_parts(candidates.index.text.len(), PART, new_sums, |sums, _, words| {
            words.for_each(|word| sums.add(costs, &candidates.index.text.word(word as u32)));
        })?;
        Ok(total(sums.into_iter().map(|sums| sums.gains)))
    }

    /// Count the uses of each candidate in all words.
    pub(super) fn uses(&self, progress: &mut Progress<'_>) -> Result<Vec<u64>, Error> {
        let (candidates, segmenter) = (self.candidates, &self.costs.segmenter);
        let mut team = ThreadTeam::new(self.threads_with(size_of::<u64>()), progress);
        let new_sums = || (vec![0_u64; candidates.len()], EffectScratch::default());
        let sums =
            team.run_parts(candidates.index.text.len(), PART, new_sums, |(uses, scratch), _, words| {
                for word in words {
                    let word = candidates.index.text.word(word as u32);
                    segmenter.segment(
                        &word,
                        &VocabularyChange::NONE,
                        &mut scratch.fewest,
                        &mut scratch.tokens,
                    );
                    scratch.tokens.iter().for_each(|&token| uses[token as usize] += word.count);
                }
            })?;
        Ok(total(sums.into_iter().map(|(uses, _)| uses)))
    }

    /// Estimate the costs of the entries from their uses, and of absent ones from those they would have.
    pub(super) fn estimate_costs(&mut self, progress: &mut Progress<'_>) -> Result<(), Error> {
        let rule = self.costs.rule;
        let mut uses = self.uses(progress)?;
        let all_uses = uses.iter().sum();
        for (uses, gain) in uses.iter_mut().zip(self.gains(progress)?) {
            *uses += gain.uses;
        }
        self.costs.cost = uses.into_iter().map(|uses| rule.cost(uses, all_uses)).collect();
        Ok(())
    }

    /// Return the number of threads whose sums, of `bytes` for each candidate, are small beside the text.
    fn threads_with(&self, bytes: usize) -> usize {
        let Self { threads, candidates, .. } = *self;
        threads_within(threads, bytes * candidates.len(), SUM_BYTES * candidates.index.text.positions())
    }
}

impl LossSums {
    /// Add what a word contributes.
    fn add(&mut self, costs: &WordCosts<'_>, number: u32) {
        let word = costs.segmenter.candidates.index.text.word(number);
        costs.effects(&word, VocabularyChange::NONE, &mut self.scratch, &mut self.effects);
        for &(entry, cost) in &self.effects.added {
            self.loss[entry as usize] += i128::from(word.count) * i128::from(cost);
        }
        self.dependencies.extend(self.effects.depends_on.iter().map(|&entry| (entry, number)));
    }
}

/// The removable entries, the cheapest first; of equal losses, the lowest rank first.
///
/// An item holds the loss of its entry or a lower one. Most losses only grow, and such an item is corrected when
/// it comes first.
struct LossQueue<'a> {
    candidates: &'a Candidates,
    items: BinaryHeap<Reverse<QueuedLoss>>,
    /// By candidate: the loss of its least item; `i128::MAX` if no item counts.
    queued: Vec<i128>,
}

/// A loss and the rank of its entry, in 24 bytes instead of 32.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct QueuedLoss {
    high: i64,
    low: u64,
    rank: u32,
}

impl QueuedLoss {
    fn new(loss: i128, rank: u32) -> Self {
        Self { high: (loss >> 64) as i64, low: loss as u64, rank }
    }

    fn loss(self) -> i128 {
        i128::from(self.high) << 64 | i128::from(self.low)
    }
}

impl<'a> LossQueue<'a> {
    fn new(candidates: &'a Candidates) -> Self {
        Self { candidates, items: BinaryHeap::new(), queued: vec![i128::MAX; candidates.len()] }
    }

    /// Return whether there are many more items than candidates.
    fn is_long(&self) -> bool {
        self.items.len() > 2 * self.candidates.len() + 1024
    }

    fn clear(&mut self) {
        self.items.clear();
        self.queued.fill(i128::MAX);
    }

    /// Queue an entry if its loss is less than its items say, or if it has none.
    fn lower(&mut self, candidate: u32, loss: i128) {
        if loss < self.queued[candidate as usize] {
            self.push(candidate, loss);
        }
    }

    /// Ignore the items of an entry.
    fn forget(&mut self, candidate: u32) {
        self.queued[candidate as usize] = i128::MAX;
    }

    /// Return the entry with the least loss, and its loss; `losses` has those of all candidates.
    fn cheapest(&mut self, losses: &[i128]) -> Option<(u32, i128)> {
        while let Some(&Reverse(item)) = self.items.peek() {
            let candidate = self.candidates.by_rank[item.rank as usize];
            let (loss, queued) = (losses[candidate as usize], self.queued[candidate as usize]);
            let counts = item.loss() == queued;
            if counts && loss == queued {
                return Some((candidate, loss));
            }
            self.items.pop();
            if counts {
                self.push(candidate, loss);
            }
        }
        None
    }

    fn push(&mut self, candidate: u32, loss: i128) {
        self.queued[candidate as usize] = loss;
        self.items.push(Reverse(QueuedLoss::new(loss, self.candidates.rank[candidate as usize])));
    }
}

/// Return the words in which a candidate matches; some are repeated.
fn words_with(candidates: &Candidates, candidate: u32) -> impl Iterator<Item = u32> + '_ {
    candidates.positions_of(candidate).iter().map(|&position| candidates.index.text.word_of(position))
}
