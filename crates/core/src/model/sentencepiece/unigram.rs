//! SpmUnigram as SentencePiece computes it: scores are 32-bit floats, summed from the beginning of the text.
//!
//! For every end of a character the pieces that end there are tried, longest first; of equal sums the
//! first is taken. Where a sum has grown beyond 100,000 it counts as 0 from there on, and what has already
//! been reached beyond that place loses as much. (That is `sentencepiece` 0.2.3; up to 0.2.1 sums grew without
//! bound and were compared before they were rounded, which decides other ties in long texts.) Rounding makes the
//! segmentation of a word depend on all the text before it; see [`super::margin`] for how far.
//!
//! O(n) and the pieces found; how memory is bounded, [`StreamingViterbi`] says.

use std::ops::Range;

use super::super::unigram::automaton::PieceAutomaton;
use super::super::unigram::{
    Backpointer, BackpointerTable, LatticePieces, PathScorer, PieceLattice, StreamingViterbi,
};
use super::super::{Piece, PieceSink};
use super::piece_writer::PieceWriter;
use super::viterbi_fixed::{FixedPointScores, ViterbiScratch};
use crate::error::Error;
use crate::spec::{PieceType, ScoredPiece, SentencePieceSpec};
use crate::table_sections::TableSections;

/// How much worse than the max_magnitude piece an unknown character is.
const UNKNOWN_PENALTY: f32 = 10.0;
/// How much better a user-defined piece is by every byte after the first.
const USER_DEFINED_BONUS: f64 = 0.1;

/// A larger sum is taken off.
pub(super) const MAX_SCORE: f32 = 100_000.0;

/// The pieces with what they add to a sum.
#[derive(Clone, Debug)]
pub(super) struct SpmUnigram {
    pub(super) pieces: PieceAutomaton,
    /// What a piece adds to a sum, by id; for the unknown one, what an unknown character does.
    pub(super) scores: Vec<f32>,
    /// The same where all segmentations are considered; empty if they are.
    rescored: Vec<f64>,
    unknown_score: f32,
    pub(super) unk_id: u32,
    longest: usize,
    pub(super) fixed_point: FixedPointScores,
}

/// Memory for one text.
#[derive(Clone, Debug, Default)]
pub(super) struct SpmUnigramScratch {
    window: StreamingViterbi<f32>,
    pub(super) viterbi: ViterbiScratch,
}

impl SpmUnigramScratch {
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.window.capacity()
    }
}

impl SpmUnigram {
    pub(super) fn compile(
        spec: &SentencePieceSpec,
        unk_id: u32,
        parts: &TableSections,
    ) -> Result<Self, Error> {
        let low = spec.lowest_score.unwrap_or_else(|| lowest(&spec.pieces));
        let scores_by = |length: fn(&str) -> usize| -> Vec<f64> {
            let score = |piece: &ScoredPiece| match piece.kind {
                PieceType::UserDefined => user_defined_score(length(&piece.text)),
                _ => f64::from(piece.score),
            };
            spec.pieces.iter().map(score).collect()
        };
        let is_found =
            |piece: &ScoredPiece| matches!(piece.kind, PieceType::Normal | PieceType::UserDefined);
        let (mut scores, rescored) = (scores_by(str::len), scores_by(|text| text.chars().count()));
        let found: Vec<(&str, f64)> = spec
            .pieces
            .iter()
            .zip(&scores)
            .map(|(piece, &score)| (if is_found(piece) { piece.text.as_str() } else { "" }, score))
            .collect();
        let unknown_score = low - UNKNOWN_PENALTY;
        let max_magnitude = found
            .iter()
            .fold(f64::from(unknown_score).abs(), |max_magnitude, found| max_magnitude.max(found.1.abs()));
        let (pieces, longest) = (PieceAutomaton::restore(&found, parts)?, longest_of(&found));
        let rescored = if rescored == scores { Vec::new() } else { rescored };
        scores[unk_id as usize] = unknown_score.into();
        let fixed_point = FixedPointScores::of(pieces.trie(), &scores, unk_id, max_magnitude);
        // They are 32-bit floats.
        let scores = scores.into_iter().map(|score| score as f32).collect();
        Ok(Self { pieces, longest, rescored, scores, unknown_score, unk_id, fixed_point })
    }

    /// All segmentations of a text, in memory that may have been used before.
    pub(super) fn lattice<'w>(&'w self, text: &'w str, states: Vec<u32>) -> PieceLattice<'w> {
        let unknown = Some((self.unk_id, f64::from(self.unknown_score)));
        PieceLattice::new(
            LatticePieces { pieces: &self.pieces, rescored: &self.rescored, unknown },
            text,
            states,
        )
    }

    /// What a piece adds to the score of a segmentation.
    pub(super) fn score_of(&self, id: u32) -> f64 {
        match id == self.unk_id {
            true => f64::from(self.unknown_score),
            false => self.rescored.get(id as usize).copied().unwrap_or(self.scores[id as usize].into()),
        }
    }

    /// Take the trie apart.
    pub(super) fn store(&self, parts: &mut TableSections) {
        self.pieces.store(parts);
    }

    /// The memory of all but the trie.
    pub(super) fn derived_bytes(&self) -> usize {
        self.pieces.derived_bytes() + size_of_val(self.scores.as_slice()) + self.fixed_point.bytes()
    }

    /// Segment what follows a text that scores `score`; gives the score with it.
    pub(super) fn run(
        &self,
        text: &str,
        score: f32,
        lattice: &mut SpmUnigramScratch,
        writer: &mut PieceWriter<'_, impl PieceSink>,
    ) -> f32 {
        let out = |piece: Piece| writer.push(piece.id, piece.start as usize, piece.end as usize);
        // Every character is a piece or unknown.
        lattice.window.run(&TextScorer::of(self, text), text, begin(score), out).unwrap_or(score)
    }

    /// The score of a text that scores `score` and goes on with these pieces.
    pub(super) fn score_after(&self, score: f32, ids: impl Iterator<Item = u32>) -> f32 {
        ids.fold(score, |sum, id| sum + self.scores[id as usize])
    }
}

/// BackpointerTable where a sum was taken off, and the sum; those that a piece can still cross.
pub(super) type ScoreResets = Vec<(usize, f32)>;

/// A model at work on a text of some length.
pub(super) struct TextScorer<'a> {
    model: &'a SpmUnigram,
    end: usize,
}

impl<'a> TextScorer<'a> {
    pub(super) fn of(model: &'a SpmUnigram, text: &str) -> Self {
        Self { model, end: text.len() }
    }
}

/// What a text that follows a score begins with.
pub(super) fn begin(score: f32) -> (f32, ScoreResets) {
    let (mut first, mut resets) = (Backpointer { score, id: 0, start: 0 }, ScoreResets::new());
    reset_large_score(&mut first, 0, &mut resets);
    (first.score, resets)
}

impl PathScorer for TextScorer<'_> {
    type Score = f32;
    type Memory = ScoreResets;

    fn pieces(&self) -> &PieceAutomaton {
        &self.model.pieces
    }

    #[inline]
    fn best_backpointer(
        &self,
        state: u32,
        last: Range<usize>,
        places: &BackpointerTable<f32>,
        resets: &mut ScoreResets,
    ) -> Option<Backpointer<f32>> {
        let SpmUnigram { pieces, longest, unk_id, unknown_score, .. } = self.model;
        let mut best = BestPiece { found: None, resets };
        let mut shortest = last.end;
        for (id, piece) in pieces.ending_at(state) {
            shortest = last.end - piece.byte_len as usize;
            best.consider(id, shortest, plus(places.at(shortest).score, piece.score));
        }
        if shortest != last.start {
            best.consider(*unk_id, last.start, unknown_score + places.at(last.start).score);
        }
        let mut best = best.found?;
        if last.end < self.end {
            resets.retain(|(place, _)| place + longest > last.end);
            reset_large_score(&mut best, last.end, resets);
        }
        Some(best)
    }
}

/// The best piece so far of those that end at one place.
struct BestPiece<'a> {
    found: Option<Backpointer<f32>>,
    /// What is still to be taken off, by place.
    resets: &'a [(usize, f32)],
}

impl BestPiece<'_> {
    /// Take a piece if it is better; pieces come by where they begin, the first place first.
    #[inline]
    fn consider(&mut self, id: u32, start: usize, score: f32) {
        while let Some(((place, sum), rest)) = self.resets.split_first() {
            if *place > start {
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

/// The most bytes that a piece or an unknown character has.
fn longest_of(found: &[(&str, f64)]) -> usize {
    found.iter().map(|(text, _)| text.len()).max().unwrap_or(0).max(4)
}

/// The lowest score of the normal pieces.
fn lowest(pieces: &[ScoredPiece]) -> f32 {
    let normal = pieces.iter().filter(|piece| piece.kind == PieceType::Normal);
    normal.fold(f32::MAX, |lowest, piece| lowest.min(piece.score))
}

/// Count a sum that has become too large as 0.
fn reset_large_score(reached: &mut Backpointer<f32>, place: usize, resets: &mut ScoreResets) {
    if reached.score.abs() > MAX_SCORE {
        resets.push((place, reached.score));
        reached.score = 0.0;
    }
}

/// The sum of two 32-bit floats, one of them kept in 64 bits; rounded once, as if both were in 32.
#[inline]
fn plus(sum: f32, score: f64) -> f32 {
    (f64::from(sum) + score) as f32
}

/// User-defined pieces score above all others, more by every further byte; in lists of segmentations and
/// where these are sampled, by every further character.
fn user_defined_score(length: usize) -> f64 {
    let score = USER_DEFINED_BONUS * (length as f64 - 1.0);
    f64::from(score as f32)
}
