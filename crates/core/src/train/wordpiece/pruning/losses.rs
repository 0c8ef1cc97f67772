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
    cost: Vec<u64>,
    loss: Vec<i128>,
    /// By candidate: words that depend on it; some of them no longer do, and some are repeated.
    words_of: Vec<Vec<u32>>,
    /// (loss, rank); an item is outdated if the loss has changed since.
    queue: BinaryHeap<Reverse<(i128, u32)>>,
    /// By word: the last change that has updated it.
    updated: Vec<u32>,
    change: u32,
    /// The candidates whose loss the present change has updated.
    touched: Vec<u32>,
    is_touched: Vec<bool>,
    before: WordLosses,
    after: WordLosses,
}

/// What a word contributes to losses, and the removable candidates on which this depends.
#[derive(Default)]
struct WordLosses {
    losses: Vec<(u32, i128)>,
    depends_on: Vec<u32>,
    tokens: Vec<u32>,
    alternative: Vec<u32>,
}

/// What an absent entry would be used for.
#[derive(Clone, Copy, Default)]
pub(super) struct Gain {
    pub(super) uses: u64,
    /// The loss that the entry would have.
    pub(super) gain: i128,
}

impl<'a> Losses<'a> {
    /// Start with all candidates in the vocabulary.
    pub(super) fn new(
        candidates: &'a Candidates,
        segmentation: Segmentation,
        rule: CostRule,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let size = candidates.len();
        let mut losses = Self {
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
            before: WordLosses::default(),
            after: WordLosses::default(),
        };
        losses.estimate_costs(progress)?;
        losses.recompute(progress)?;
        Ok(losses)
    }

    pub(super) fn is_present(&self, candidate: u32) -> bool {
        self.segmenter.present[candidate as usize]
    }

    /// Return the removable entry with the least loss, and its loss.
    pub(super) fn cheapest(&mut self) -> Option<(u32, i128)> {
        while let Some(&Reverse((loss, rank))) = self.queue.peek() {
            let candidate = self.candidates.by_rank[rank as usize];
            if self.is_present(candidate) && self.loss[candidate as usize] == loss {
                return Some((candidate, loss));
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

    /// Put an entry back.
    pub(super) fn insert(&mut self, candidate: u32, progress: &mut Progress<'_>) -> Result<(), Error> {
        let words = self.candidates.words_with(candidate);
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
        for word in words {
            if self.updated[word as usize] != self.change {
                progress.advance(WORK)?;
                self.updated[word as usize] = self.change;
                self.update_word(word, candidate, present);
            }
        }
        self.segmenter.present[candidate as usize] = present;
        if present {
            self.touch(candidate);
        }
        self.queue_touched();
        Ok(())
    }

    /// Replace what a word contributes, as the presence of a candidate changes.
    fn update_word(&mut self, word: u32, candidate: u32, present: bool) {
        let (mut before, mut after) = (std::mem::take(&mut self.before), std::mem::take(&mut self.after));
        let [one, two] = if present { [&mut after, &mut before] } else { [&mut before, &mut after] };
        self.segmenter.present[candidate as usize] = true;
        self.compute(word, one);
        if one.depends_on.contains(&candidate) {
            self.segmenter.present[candidate as usize] = false;
            self.compute(word, two);
            for &(other, loss) in &before.losses {
                self.loss[other as usize] -= loss;
                self.touch(other);
            }
            for &(other, loss) in &after.losses {
                self.loss[other as usize] += loss;
                self.touch(other);
            }
            for &other in after.depends_on.iter().filter(|other| !before.depends_on.contains(other)) {
                self.words_of[other as usize].push(word);
            }
        }
        (self.before, self.after) = (before, after);
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
        if self.queue.len() > 4 * self.candidates.len() + 1024 {
            self.queue.clear();
            (0..self.candidates.len() as u32).for_each(|candidate| self.enqueue(candidate));
        }
    }

    fn enqueue(&mut self, candidate: u32) {
        if self.is_present(candidate) && !self.candidates.protected[candidate as usize] {
            let rank = self.candidates.rank[candidate as usize];
            self.queue.push(Reverse((self.loss[candidate as usize], rank)));
        }
    }

    /// Compute what a word contributes to the losses of the entries it uses.
    fn compute(&mut self, word: u32, result: &mut WordLosses) {
        let WordLosses { losses, depends_on, tokens, alternative } = result;
        let word = &self.candidates.text.words[word as usize];
        losses.clear();
        depends_on.clear();
        self.segmenter.segment(word, NONE, tokens);
        let removable = |token: u32| !self.candidates.protected[token as usize];
        let mut position = word.start;
        for (at, &token) in tokens.iter().enumerate() {
            let from = position;
            position += self.segmenter.length_at(word, position, token);
            if !removable(token) || tokens[..at].contains(&token) {
                continue;
            }
            let kept = match self.segmenter.segmentation {
                Segmentation::Greedy => at,
                Segmentation::Shortest => 0,
            };
            alternative.clear();
            let from = if kept == at { from } else { word.start };
            self.segmenter.segment_from(word, from, token, alternative);
            let uses = tokens[at..].iter().filter(|&&other| other == token).count();
            let added = sum(&self.cost, alternative) - sum(&self.cost, &tokens[kept..]);
            losses.push((token, i128::from(word.count) * self.capped(added, uses)));
            for &other in std::iter::once(&token).chain(&*alternative) {
                if removable(other) && !depends_on.contains(&other) {
                    depends_on.push(other);
                }
            }
        }
    }

    /// Limit what the uses of an entry in a word count for.
    fn capped(&self, added: i128, uses: usize) -> i128 {
        self.rule.use_cap.map_or(added, |cap| added.min(cap * uses as i128))
    }

    /// Return what an absent entry would be used for.
    pub(super) fn gain(&mut self, candidate: u32, progress: &mut Progress<'_>) -> Result<Gain, Error> {
        let mut total = Gain::default();
        let mut tokens = std::mem::take(&mut self.before.tokens);
        let mut others = std::mem::take(&mut self.after.tokens);
        self.change += 1;
        for index in self.candidates.words_with(candidate) {
            if self.updated[index as usize] == self.change {
                continue;
            }
            progress.advance(WORK / 4)?;
            self.updated[index as usize] = self.change;
            let word = &self.candidates.text.words[index as usize];
            self.segmenter.present[candidate as usize] = true;
            self.segmenter.segment(word, NONE, &mut tokens);
            let uses = tokens.iter().filter(|&&token| token == candidate).count();
            if uses > 0 {
                self.segmenter.segment(word, candidate, &mut others);
                let saved = sum(&self.cost, &others) - sum(&self.cost, &tokens);
                total.uses += word.count * uses as u64;
                total.gain += i128::from(word.count) * self.capped(saved, uses);
            }
        }
        self.segmenter.present[candidate as usize] = false;
        (self.before.tokens, self.after.tokens) = (tokens, others);
        Ok(total)
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
        let uses = self.uses(progress)?;
        let total = uses.iter().sum();
        for candidate in 0..self.candidates.len() as u32 {
            let uses = match self.is_present(candidate) {
                true => uses[candidate as usize],
                false => self.gain(candidate, progress)?.uses,
            };
            self.cost[candidate as usize] = self.rule.cost(uses, total);
        }
        Ok(())
    }

    /// Compute all losses anew.
    pub(super) fn recompute(&mut self, progress: &mut Progress<'_>) -> Result<(), Error> {
        self.loss.fill(0);
        self.words_of.iter_mut().for_each(Vec::clear);
        let mut result = std::mem::take(&mut self.after);
        for word in 0..self.candidates.text.words.len() as u32 {
            progress.advance(WORK)?;
            self.compute(word, &mut result);
            for &(token, loss) in &result.losses {
                self.loss[token as usize] += loss;
            }
            for &token in &result.depends_on {
                self.words_of[token as usize].push(word);
            }
        }
        self.after = result;
        self.queue.clear();
        (0..self.candidates.len() as u32).for_each(|candidate| self.enqueue(candidate));
        Ok(())
    }
}

/// The cost of some tokens.
fn sum(cost: &[u64], tokens: &[u32]) -> i128 {
    tokens.iter().map(|&token| i128::from(cost[token as usize])).sum()
}
