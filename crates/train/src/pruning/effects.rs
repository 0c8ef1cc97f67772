//! What one word contributes to the losses of the entries.

use super::candidates::Candidates;
use super::segmentation::{CandidateSegmenter, FewestScratch, VocabularyChange};
use super::token_cost::{CostRule, ONE};
use crate::substrings::DistinctWord;
use piecework_core::spec::Segmentation;

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
    pub(super) alternative: Vec<u32>,
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
    pub(super) fn cost_of(&self, tokens: &[u32]) -> i64 {
        tokens.iter().map(|&token| self.cost[token as usize]).sum()
    }
}
