//! What one word contributes to the losses of the entries, and what absent entries would save in it.
//!
//! The cost of a token is 1 + balance x surprisal, in fixed point: arithmetic on integers has the same results on every
//! platform.

use std::ops::AddAssign;

use super::candidates::Candidates;
use super::segmentation::{CandidateSegmenter, FewestScratch, VocabularyChange};
use crate::substrings::{inner_starts, DistinctWord, NONE};
use crate::wordpiece::spec::Pruning;
use piecework_core::spec::Segmentation;

/// The fraction bits of a cost.
const FRACTION_BITS: u32 = 16;
/// The cost of a token without surprisal.
pub(super) const ONE: i64 = 1 << FRACTION_BITS;
/// ln 2, with `FRACTION_BITS`.
const LN_2: i64 = 45_426;

/// The vocabulary with the cost of each token.
pub(super) struct WordCosts<'a> {
    pub(super) segmenter: CandidateSegmenter<'a>,
    pub(super) rule: CostRule,
    /// By candidate: the cost of a token.
    pub(super) cost: Vec<i64>,
}

/// What one occurrence of a word contributes.
#[derive(Default)]
pub(super) struct WordEffects {
    /// What it costs more without an entry that it uses, with that entry.
    pub(super) added: Vec<(u32, i64)>,
    /// The removable entries on which this depends.
    pub(super) depends_on: Vec<u32>,
}

/// Memory of one thread.
#[derive(Default)]
pub(super) struct EffectScratch {
    pub(super) tokens: Vec<u32>,
    alternative: Vec<u32>,
    pub(super) fewest: FewestScratch,
}

impl<'a> WordCosts<'a> {
    /// Start with all candidates in the vocabulary, each at a cost of 1.
    pub(super) fn new(candidates: &'a Candidates, segmentation: Segmentation, rule: CostRule) -> Self {
        let segmenter = CandidateSegmenter::new(candidates, segmentation);
        Self { segmenter, rule, cost: vec![ONE; candidates.len()] }
    }

    /// Write what a word contributes under a changed vocabulary.
    pub(super) fn effects(
        &self,
        word: &DistinctWord,
        change: VocabularyChange,
        scratch: &mut EffectScratch,
        effects: &mut WordEffects,
    ) {
        let EffectScratch { tokens, alternative, fewest } = scratch;
        let WordEffects { added, depends_on } = effects;
        let segmenter = &self.segmenter;
        let removable = |token: u32| !segmenter.candidates.protected[token as usize];
        added.clear();
        depends_on.clear();
        segmenter.segment(word, &change, fewest, tokens);
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
            segmenter.segment_from(word, from, &change.and_removing(token), fewest, alternative);
            let uses = tokens[at..].iter().filter(|&&other| other == token).count();
            let more = self.cost_of(alternative) - self.cost_of(&tokens[kept..]);
            added.push((token, self.rule.capped(more, uses)));
            for &other in std::iter::once(&token).chain(&*alternative) {
                if removable(other) && !depends_on.contains(&other) {
                    depends_on.push(other);
                }
            }
        }
    }

    /// Return the cost of some tokens.
    fn cost_of(&self, tokens: &[u32]) -> i64 {
        tokens.iter().map(|&token| self.cost[token as usize]).sum()
    }

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

    /// Add what absent candidates save under longest match: each is first used where a shorter token begins.
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

/// The settings as fixed-point numbers.
#[derive(Clone, Copy)]
pub(super) struct CostRule {
    pub(super) balance: i64,
    /// The most that a use of an entry counts for.
    max_use_cost: Option<i64>,
}

impl CostRule {
    pub(super) fn new(settings: &Pruning) -> Self {
        Self {
            balance: to_fixed(settings.balance),
            max_use_cost: settings.max_use_cost.map(|cost| to_fixed(cost).max(1)),
        }
    }

    /// Return the cost of a token that is used `uses` of `total` times.
    pub(super) fn cost(&self, uses: u64, total: u64) -> i64 {
        let bits = (log2(total.max(1)) - log2(uses.max(1))).max(0);
        let surprisal = (bits * LN_2) >> FRACTION_BITS;
        ONE + ((self.balance * surprisal) >> FRACTION_BITS)
    }

    /// Limit what the uses of an entry in a word count for.
    fn capped(&self, added: i64, uses: usize) -> i64 {
        self.max_use_cost.map_or(added, |cost| added.min(cost * uses as i64))
    }
}

/// Round to a fixed-point number; the settings have checked the range.
fn to_fixed(value: f64) -> i64 {
    (value * ONE as f64).round_ties_even() as i64
}

/// Return the logarithm to base 2 of a positive number, rounded down to `FRACTION_BITS`.
fn log2(value: u64) -> i64 {
    let whole = i64::from(value.ilog2());
    let mut mantissa = value << value.leading_zeros();
    let mut result = whole;
    for _ in 0..FRACTION_BITS {
        let square = u128::from(mantissa) * u128::from(mantissa);
        let carry = square >> 127;
        mantissa = (square >> (63 + carry)) as u64;
        result = (result << 1) | carry as i64;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_rounded_down() {
        for value in [1_u64, 2, 3, 5, 10, 1000, 65_535, 1 << 40, u64::MAX] {
            let exact = (value as f64).log2() * ONE as f64;
            assert!((log2(value) as f64 - exact.floor()).abs() <= 1.0, "{value}");
        }
        assert_eq!(log2(8), 3 * ONE);
    }

    #[test]
    fn a_rare_token_costs_more() {
        let rule = CostRule { balance: 2 * ONE, max_use_cost: None };
        assert_eq!(rule.cost(1, 1), ONE);
        let tenth = rule.cost(1, 10) as f64 / ONE as f64;
        assert!((tenth - (1.0 + 2.0 * 10_f64.ln())).abs() < 1e-3);
    }
}
