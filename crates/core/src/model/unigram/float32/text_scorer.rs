//! The scores of a text's paths: sums of 32-bit floats from the beginning of the text, reset when they are too large.

use std::ops::Range;

use super::margin::MAX_SCORE;
use super::UnigramF32;
use crate::model::unigram::automaton::PieceAutomaton;
use crate::model::unigram::backpointers::{Backpointer, BackpointerTable};
use crate::model::unigram::streaming::PathScorer;

/// Positions where a sum was reset that a piece may still cross, each with the sum.
pub(super) type ScoreResets = Vec<(usize, f32)>;

/// A model with the length of a text.
pub(super) struct TextScorer<'a> {
    model: &'a UnigramF32,
    end: usize,
}

impl<'a> TextScorer<'a> {
    pub(super) fn of(model: &'a UnigramF32, text: &str) -> Self {
        Self { model, end: text.len() }
    }
}

/// Return the initial state of a text after this score.
pub(super) fn begin(score: f32) -> (f32, ScoreResets) {
    let (mut first, mut resets) = (Backpointer { score, id: 0, start: 0 }, ScoreResets::new());
    reset_large_score(&mut first, 0, &mut resets);
    (first.score, resets)
}

impl PathScorer for TextScorer<'_> {
    type Score = f32;
    type Memory = ScoreResets;

    fn pieces(&self) -> &PieceAutomaton {
        &self.model.automaton
    }

    #[inline]
    fn best_backpointer(
        &self,
        state: u32,
        last: Range<usize>,
        backpointers: &BackpointerTable<f32>,
        resets: &mut ScoreResets,
    ) -> Option<Backpointer<f32>> {
        let UnigramF32 { automaton, longest, unknown_score, .. } = self.model;
        let mut best = BestPiece { found: None, resets };
        let mut shortest = last.end;
        for (id, piece) in automaton.ending_at(state) {
            shortest = last.end - piece.byte_len as usize;
            best.consider(id, shortest, plus(backpointers.at(shortest).score, piece.score));
        }
        if shortest != last.start {
            let unk_id = self.model.pieces.unk_id();
            best.consider(unk_id, last.start, unknown_score + backpointers.at(last.start).score);
        }
        let mut best = best.found?;
        if last.end < self.end {
            resets.retain(|(position, _)| position + longest > last.end);
            reset_large_score(&mut best, last.end, resets);
        }
        Some(best)
    }
}

/// The best piece so far that ends at a position.
struct BestPiece<'a> {
    found: Option<Backpointer<f32>>,
    /// Resets not applied yet, by position.
    resets: &'a [(usize, f32)],
}

impl BestPiece<'_> {
    /// Keep a piece if it is better. Pieces come in the order of their starts.
    #[inline]
    fn consider(&mut self, id: u32, start: usize, score: f32) {
        while let Some(((position, sum), rest)) = self.resets.split_first() {
            if *position > start {
                break;
            }
            if let Some(found) = &mut self.found {
                found.score -= sum;
            }
            self.resets = rest;
        }
        if self.found.is_none_or(|found| score > found.score) {
            self.found = Some(Backpointer { score, id, start: start as u32 });
        }
    }
}

/// Reset a sum that is too large.
fn reset_large_score(reached: &mut Backpointer<f32>, position: usize, resets: &mut ScoreResets) {
    if reached.score.abs() > MAX_SCORE {
        resets.push((position, reached.score));
        reached.score = 0.0;
    }
}

/// Return the sum of two 32-bit floats, one of them stored in 64 bits; rounded once, like a 32-bit sum.
#[inline]
fn plus(sum: f32, score: f64) -> f32 {
    (f64::from(sum) + score) as f32
}
