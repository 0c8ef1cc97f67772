//! The loss of every entry: what its removal adds to the cost of the corpus, exact after every change.
//!
//! The loss of an entry is the sum, over the words that use it, of what the word costs without it minus what it
//! costs now, times the count of the word. So it depends on the segmentations of the words now, and on those
//! without one of the used entries. An index lists, for each entry, the words with a segmentation of either kind
//! that uses it. When an entry is removed, only these words are computed again.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::candidates::{Candidates, NONE};
use super::segmentation::Segmenter;
use super::token_cost::{CostRule, ONE};
use crate::error::Error;
use crate::spec::Segmentation;
use crate::train::progress::Progress;

/// Units of work for a word in progress reports.
const WORK: usize = 64;

/// The vocabulary while it shrinks, and the loss of each entry.
pub(super) struct Losses<'a> {
    candidates: &'a Candidates,
    segmenter: Segmenter<'a>,
    rule: CostRule,
    /// By candidate: the cost of a token.
    cost: Vec<i64>,
    loss: Vec<i128>,
    /// By candidate: words that depend on it; some of them no longer do, and some are repeated.
    words_of: Vec<Vec<u32>>,
    /// Items are outdated if the loss has changed since.
    queue: BinaryHeap<Reverse<QueuedLoss>>,
    /// By word: the last change that has updated it.
    updated: Vec<u32>,
    change: u32,
    /// The candidates whose loss the present change has updated.
    touched: Vec<u32>,
    is_touched: Vec<bool>,
    /// By word, as of its last update.
    of_word: Vec<WordLosses>,
    added: Vec<AddedCost>,
    depends_on: Vec<u32>,
    tokens: Vec<u32>,
    alternative: Vec<u32>,
}

/// What a word contributes to losses, and the removable candidates on which this depends.
#[derive(Clone, Default)]
struct WordLosses {
    /// What one occurrence of the word costs more without an entry that it uses.
    added: Box<[AddedCost]>,
    depends_on: Box<[u32]>,
}

/// An entry and the cost that its removal adds, in twelve bytes instead of sixteen.
#[derive(Clone, Copy)]
struct AddedCost {
    entry: u32,
    /// The bytes of an `i64`.
    cost: [u32; 2],
}

impl AddedCost {
    fn new(entry: u32, cost: i64) -> Self {
        let bits = cost as u64;
        Self { entry, cost: [bits as u32, (bits >> 32) as u32] }
    }

    fn cost(self) -> i64 {
        (u64::from(self.cost[0]) | u64::from(self.cost[1]) << 32) as i64
    }
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

/// What an absent entry would be used for.
#[derive(Clone, Copy, Default)]
pub(super) struct Gain {
    pub(super) uses: u64,
    /// The loss that the entry would have.
    pub(super) gain: i128,
}

impl<'a> Losses<'a> {
    /// Start with all candidates in the vocabulary, each at a cost of 1; the losses are not computed yet.
    pub(super) fn new(candidates: &'a Candidates, segmentation: Segmentation, rule: CostRule) -> Self {
        let size = candidates.len();
        Self {
            candidates,
            segmenter: Segmenter::new(candidates, segmentation),
            rule,
            cost: vec![ONE; size],
            loss: vec![0; size],
            words_of: vec![Vec::new(); size],
            queue: BinaryHeap::new(),
            updated: vec![0; candidates.text.words.len()],
            change: 0,
            touched: Vec::new(),
            is_touched: vec![false; size],
            of_word: vec![WordLosses::default(); candidates.text.words.len()],
            added: Vec::new(),
            depends_on: Vec::new(),
            tokens: Vec::new(),
            alternative: Vec::new(),
        }
    }

    /// Mark an entry as present or absent without updating losses; [`Self::recompute`] must follow.
    pub(super) fn mark(&mut self, candidate: u32, present: bool) {
        self.segmenter.present[candidate as usize] = present;
    }

    pub(super) fn is_present(&self, candidate: u32) -> bool {
        self.segmenter.present[candidate as usize]
    }

    /// Return the removable entry with the least loss, and its loss.
    pub(super) fn cheapest(&mut self) -> Option<(u32, i128)> {
        while let Some(&Reverse(queued)) = self.queue.peek() {
            let candidate = self.candidates.by_rank[queued.rank as usize];
            if self.is_present(candidate) && self.loss[candidate as usize] == queued.loss() {
                return Some((candidate, queued.loss()));
            }
            self.queue.pop();
        }
        None
    }

    /// Remove an entry.
    pub(super) fn remove(&mut self, candidate: u32, progress: &mut Progress<'_>) -> Result<(), Error> {
        let words = std::mem::take(&mut self.words_of[candidate as usize]);
        self.set_present(candidate, false, words.into_iter(), progress)
    }

    /// The loss of an entry in tokens.
    pub(super) fn loss_in_tokens(&self, candidate: u32) -> f64 {
        self.loss[candidate as usize] as f64 / ONE as f64
    }

    /// Put an entry back.
    pub(super) fn insert(&mut self, candidate: u32, progress: &mut Progress<'_>) -> Result<(), Error> {
        let candidates = self.candidates;
        let positions = candidates.positions_of(candidate).iter();
        let words = positions.map(|&position| candidates.text.word_of[position as usize]);
        self.set_present(candidate, true, words, progress)
    }

    fn set_present(
        &mut self,
        candidate: u32,
        present: bool,
        words: impl Iterator<Item = u32>,
        progress: &mut Progress<'_>,
    ) -> Result<(), Error> {
        self.change += 1;
        self.segmenter.present[candidate as usize] = present;
        for word in words {
            if self.updated[word as usize] != self.change {
                progress.advance(WORK)?;
                self.updated[word as usize] = self.change;
                // A word can only be listed for an entry on which it depended at some time.
                if present || self.of_word[word as usize].depends_on.contains(&candidate) {
                    self.update_word(word);
                }
            }
        }
        if present {
            self.touch(candidate);
        }
        self.queue_touched();
        Ok(())
    }

    /// Replace what a word contributes.
    fn update_word(&mut self, word: u32) {
        let count = i128::from(self.candidates.text.words[word as usize].count);
        let before = std::mem::take(&mut self.of_word[word as usize]);
        let after = self.compute(word);
        for added in &before.added {
            self.loss[added.entry as usize] -= count * i128::from(added.cost());
            self.touch(added.entry);
        }
        for added in &after.added {
            self.loss[added.entry as usize] += count * i128::from(added.cost());
            self.touch(added.entry);
        }
        for &entry in after.depends_on.iter().filter(|entry| !before.depends_on.contains(entry)) {
            self.words_of[entry as usize].push(word);
        }
        self.of_word[word as usize] = after;
    }

    fn touch(&mut self, candidate: u32) {
        if !self.is_touched[candidate as usize] {
            self.is_touched[candidate as usize] = true;
            self.touched.push(candidate);
        }
    }

    /// Queue the entries whose loss has changed.
    fn queue_touched(&mut self) {
        while let Some(candidate) = self.touched.pop() {
            self.is_touched[candidate as usize] = false;
            self.enqueue(candidate);
        }
        if self.queue.len() > 2 * self.candidates.len() + 1024 {
            self.queue.clear();
            (0..self.candidates.len() as u32).for_each(|candidate| self.enqueue(candidate));
        }
    }

    fn enqueue(&mut self, candidate: u32) {
        if self.is_present(candidate) && !self.candidates.protected[candidate as usize] {
            let rank = self.candidates.rank[candidate as usize];
            self.queue.push(Reverse(QueuedLoss::new(self.loss[candidate as usize], rank)));
        }
    }

    /// Compute what a word contributes to the losses of the entries it uses.
    fn compute(&mut self, word: u32) -> WordLosses {
        let Self { tokens, alternative, added, depends_on, segmenter, candidates, cost, rule, .. } = self;
        let word = &candidates.text.words[word as usize];
        added.clear();
        depends_on.clear();
        segmenter.segment(word, NONE, tokens);
        let removable = |token: u32| !candidates.protected[token as usize];
        let mut position = word.start;
        for (at, &token) in tokens.iter().enumerate() {
            let from = position;
            position += segmenter.length_at(word, position, token);
            if !removable(token) || tokens[..at].contains(&token) {
                continue;
            }
            // Longest match keeps the tokens before the removed one.
            let (kept, from) = match segmenter.segmentation {
                Segmentation::Greedy => (at, from),
                Segmentation::Shortest => (0, word.start),
            };
            alternative.clear();
            segmenter.segment_from(word, from, token, alternative);
            let uses = tokens[at..].iter().filter(|&&other| other == token).count();
            let more = sum(cost, alternative) - sum(cost, &tokens[kept..]);
            added.push(AddedCost::new(token, rule.capped(more, uses)));
            for &other in std::iter::once(&token).chain(&*alternative) {
                if removable(other) && !depends_on.contains(&other) {
                    depends_on.push(other);
                }
            }
        }
        WordLosses { added: added.as_slice().into(), depends_on: depends_on.as_slice().into() }
    }

    /// Return what an absent entry would be used for.
    pub(super) fn gain(&mut self, candidate: u32, progress: &mut Progress<'_>) -> Result<Gain, Error> {
        self.gain_where(candidate, |_| true, progress)
    }

    /// Return what each absent entry would be used for alone, by candidate.
    pub(super) fn gains(&mut self, progress: &mut Progress<'_>) -> Result<Vec<Gain>, Error> {
        let matched = self.matched_lengths(progress)?;
        let mut gains = vec![Gain::default(); self.candidates.len()];
        for candidate in 0..self.candidates.len() as u32 {
            if !self.is_present(candidate) {
                let chars = self.candidates.chars(candidate);
                let can_match = |position: u32| u32::from(matched[position as usize]) < chars;
                gains[candidate as usize] = self.gain_where(candidate, can_match, progress)?;
            }
        }
        Ok(gains)
    }

    /// The length of the token at each position, `u8::MAX` where no token begins.
    ///
    /// Under longest match, an absent entry is used only where a shorter token begins. Where this does not hold,
    /// the length is 0: for the fewest tokens, and in words that begin with the prefix.
    fn matched_lengths(&mut self, progress: &mut Progress<'_>) -> Result<Vec<u8>, Error> {
        let Self { tokens, segmenter, candidates, .. } = self;
        if segmenter.segmentation == Segmentation::Shortest {
            return Ok(vec![0; candidates.text.codes.len()]);
        }
        let mut lengths = vec![u8::MAX; candidates.text.codes.len()];
        for word in &candidates.text.words {
            progress.advance(WORK / 4)?;
            if word.begins_with_prefix() {
                let end = word.head + candidates.text.prefix_chars;
                lengths[word.start as usize..end as usize].fill(0);
                continue;
            }
            segmenter.segment(word, NONE, tokens);
            let mut position = word.start;
            for &token in &*tokens {
                lengths[position as usize] = candidates.chars(token) as u8;
                position += candidates.chars(token);
            }
        }
        Ok(lengths)
    }

    fn gain_where(
        &mut self,
        candidate: u32,
        can_match: impl Fn(u32) -> bool,
        progress: &mut Progress<'_>,
    ) -> Result<Gain, Error> {
        let Self { tokens, alternative, segmenter, candidates, cost, rule, updated, .. } = self;
        let mut total = Gain::default();
        self.change += 1;
        segmenter.present[candidate as usize] = true;
        let mut outcome = Ok(());
        for &position in candidates.positions_of(candidate) {
            outcome = progress.advance(1);
            let index = candidates.text.word_of[position as usize] as usize;
            if outcome.is_err() || updated[index] == self.change || !can_match(position) {
                continue;
            }
            outcome = progress.advance(WORK / 4);
            updated[index] = self.change;
            let word = &candidates.text.words[index];
            segmenter.segment(word, NONE, tokens);
            let uses = tokens.iter().filter(|&&token| token == candidate).count();
            if uses > 0 {
                segmenter.segment(word, candidate, alternative);
                let saved = sum(cost, alternative) - sum(cost, tokens);
                total.uses += word.count * uses as u64;
                total.gain += i128::from(word.count) * i128::from(rule.capped(saved, uses));
            }
        }
        segmenter.present[candidate as usize] = false;
        outcome.map(|()| total)
    }

    /// Count the uses of each candidate in all words.
    pub(super) fn uses(&mut self, progress: &mut Progress<'_>) -> Result<Vec<u64>, Error> {
        let mut uses = vec![0_u64; self.candidates.len()];
        let mut tokens = Vec::new();
        for word in &self.candidates.text.words {
            progress.advance(WORK / 4)?;
            self.segmenter.segment(word, NONE, &mut tokens);
            for &token in &tokens {
                uses[token as usize] += word.count;
            }
        }
        Ok(uses)
    }

    /// Estimate the costs of the entries from their uses, and of absent ones from those they would have.
    pub(super) fn estimate_costs(&mut self, progress: &mut Progress<'_>) -> Result<(), Error> {
        if self.rule.balance == 0 {
            return Ok(());
        }
        let mut uses = self.uses(progress)?;
        let total = uses.iter().sum();
        for (uses, gain) in uses.iter_mut().zip(self.gains(progress)?) {
            *uses += gain.uses;
        }
        self.cost = uses.into_iter().map(|uses| self.rule.cost(uses, total)).collect();
        Ok(())
    }

    /// Compute all losses anew.
    pub(super) fn recompute(&mut self, progress: &mut Progress<'_>) -> Result<(), Error> {
        self.loss.fill(0);
        self.words_of.iter_mut().for_each(Vec::clear);
        for word in 0..self.candidates.text.words.len() as u32 {
            progress.advance(WORK)?;
            self.of_word[word as usize] = WordLosses::default();
            self.update_word(word);
        }
        while let Some(candidate) = self.touched.pop() {
            self.is_touched[candidate as usize] = false;
        }
        self.queue.clear();
        (0..self.candidates.len() as u32).for_each(|candidate| self.enqueue(candidate));
        Ok(())
    }
}

/// The cost of some tokens.
fn sum(cost: &[i64], tokens: &[u32]) -> i64 {
    tokens.iter().map(|&token| cost[token as usize]).sum()
}
