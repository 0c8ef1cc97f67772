//! What absent entries would be used for, and what they would save.

use std::ops::AddAssign;

use super::candidates::Candidates;
use super::effects::{EffectScratch, WordCosts};
use super::segmentation::VocabularyChange;
use crate::substrings::inner_starts;
use crate::substrings::DistinctWord;
use crate::substrings::NONE;
use piecework_core::spec::Segmentation;

/// What an absent entry would be used for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Gain {
    pub(super) uses: u64,
    /// The loss that the entry would have.
    pub(super) gain: i128,
}

/// The gains of absent entries, as far as one thread has added them.
pub(super) struct GainSums {
    /// By candidate.
    pub(super) gains: Vec<Gain>,
    scratch: EffectScratch,
    /// The tokens of the word that were visited, with the longest candidate at their start.
    before: Vec<(u32, u32)>,
    /// The absent candidates that match in the word.
    absent: Vec<u32>,
}

impl GainSums {
    pub(super) fn new(candidates: &Candidates) -> Self {
        let gains = vec![Gain::default(); candidates.len()];
        Self { gains, scratch: EffectScratch::default(), before: Vec::new(), absent: Vec::new() }
    }

    /// Add what absent entries would save in a word, each alone.
    pub(super) fn add(&mut self, costs: &WordCosts<'_>, word: &DistinctWord) {
        if costs.segmenter.segmentation == Segmentation::Shortest || word.begins_with_prefix {
            self.add_each(costs, word);
        } else {
            self.add_longer_matches(costs, word);
        }
    }

    /// Segment the word with each absent candidate that matches in it.
    fn add_each(&mut self, costs: &WordCosts<'_>, word: &DistinctWord) {
        let candidates = costs.segmenter.candidates;
        self.absent.clear();
        for position in std::iter::once(word.head).chain(inner_starts(&candidates.index.text, word)) {
            let mut candidate = candidates.longest_at(position);
            while candidate != NONE {
                if !costs.segmenter.present.contains(candidate) {
                    self.absent.push(candidate);
                }
                candidate = candidates.parent(candidate);
            }
        }
        self.absent.sort_unstable();
        self.absent.dedup();
        for &candidate in &self.absent {
            costs.add_gain(candidate, word, &mut self.scratch, &mut self.gains[candidate as usize]);
        }
    }

    /// Under longest match, an absent candidate is first used where a shorter token begins.
    fn add_longer_matches(&mut self, costs: &WordCosts<'_>, word: &DistinctWord) {
        let EffectScratch { tokens, alternative, fewest } = &mut self.scratch;
        let (segmenter, candidates) = (&costs.segmenter, costs.segmenter.candidates);
        segmenter.segment(word, &VocabularyChange::NONE, fewest, tokens);
        self.before.clear();
        let mut position = word.start;
        for (at, &token) in tokens.iter().enumerate() {
            let longest = candidates.longest_at(position);
            let mut candidate = longest;
            while candidates.chars(candidate) > candidates.chars(token) {
                let is_used_before = self.before.iter().any(|&(longest, token)| {
                    candidates.descendants(candidate).contains(&longest)
                        && candidates.chars(candidate) > candidates.chars(token)
                });
                if !is_used_before {
                    let change = VocabularyChange::adding(candidate, candidates);
                    alternative.clear();
                    segmenter.segment_from(word, position, &change, fewest, alternative);
                    let saved = costs.cost_of(&tokens[at..]) - costs.cost_of(alternative);
                    let gain = &mut self.gains[candidate as usize];
                    gain.add(costs, word, candidate, alternative, saved);
                }
                candidate = candidates.parent(candidate);
            }
            self.before.push((longest, token));
            position += candidates.chars(token);
        }
    }
}

impl AddAssign for Gain {
    fn add_assign(&mut self, other: Self) {
        self.uses += other.uses;
        self.gain += other.gain;
    }
}

impl Gain {
    /// Add the uses in a word, which save `saved`.
    fn add(
        &mut self,
        costs: &WordCosts<'_>,
        word: &DistinctWord,
        candidate: u32,
        tokens: &[u32],
        saved: i64,
    ) {
        let uses = tokens.iter().filter(|&&token| token == candidate).count();
        self.uses += word.count * uses as u64;
        self.gain += i128::from(word.count) * i128::from(costs.rule.capped(saved, uses));
    }
}

impl WordCosts<'_> {
    /// Add what an absent candidate would save in a word.
    pub(super) fn add_gain(
        &self,
        candidate: u32,
        word: &DistinctWord,
        scratch: &mut EffectScratch,
        gain: &mut Gain,
    ) {
        let EffectScratch { tokens, alternative, fewest } = scratch;
        let change = VocabularyChange::adding(candidate, self.segmenter.candidates);
        self.segmenter.segment(word, &change, fewest, alternative);
        if alternative.contains(&candidate) {
            self.segmenter.segment(word, &VocabularyChange::NONE, fewest, tokens);
            let saved = self.cost_of(tokens) - self.cost_of(alternative);
            gain.add(self, word, candidate, alternative, saved);
        }
    }
}
