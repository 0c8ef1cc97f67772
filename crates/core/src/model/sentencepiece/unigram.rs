//! Unigram as in SentencePiece: the Viterbi algorithm in 32-bit floats, summed from the beginning of the text.
//!
//! For each end of a character the pieces that end there are tried, the longest first; of equal sums the first is
//! kept. A sum beyond 100,000 is reset to 0, and sums of paths that already cross that position are reduced by as
//! much. (This is `sentencepiece` 0.2.3. Up to 0.2.1 sums grew without bound and were compared before rounding, which
//! decides other ties in long texts.) Rounding makes the segmentation of a word depend on all the text before it;
//! [`super::margin`] bounds by how much.
//!
//! [`crate::model::Unigram`] sums 64-bit floats word by word without resets, so both have scorers of their own over
//! the same [`StreamingViterbi`]. [`super::viterbi_fixed`] and [`super::viterbi_f32`] read parts of texts forward by
//! the trie instead, for speed: the first in fixed point, so that sums do not depend on the text before.
//!
//! O(n) and the matches; [`StreamingViterbi`] bounds the memory.

use std::ops::Range;

use super::super::unigram::automaton::PieceAutomaton;
use super::super::unigram::{
    Backpointer, BackpointerTable, LatticePieces, PathScorer, PieceLattice, StreamingViterbi,
};
use super::super::{TokenSink, TokenSpan};
use super::margin::MAX_SCORE;
use super::piece_writer::PieceWriter;
use super::viterbi_fixed::{FixedPointScores, ViterbiScratch};
use crate::error::Error;
use crate::spec::{PieceType, ScoredPiece, SentencePieceSpec};
use crate::table_sections::TableSections;

/// The score of an unknown character is so much less than the lowest score.
const UNKNOWN_PENALTY: f32 = 10.0;
/// The bonus of a user-defined piece for each byte after the first.
const USER_DEFINED_BONUS: f64 = 0.1;

/// The pieces with their scores.
#[derive(Clone, Debug)]
pub(super) struct SpmUnigram {
    pub(super) pieces: PieceAutomaton,
    /// The score of each piece by id; for the unknown piece that of an unknown character.
    pub(super) scores: Vec<f32>,
    /// The same for listed and sampled segmentations; empty if they are equal.
    rescored: Vec<f64>,
    unknown_score: f32,
    pub(super) unk_id: u32,
    longest: usize,
    pub(super) fixed_point: FixedPointScores,
}

/// The buffers of one text.
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
        sections: &TableSections,
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
        let (pieces, longest) = (PieceAutomaton::restore(&found, sections)?, longest_of(&found));
        let rescored = if rescored == scores { Vec::new() } else { rescored };
        scores[unk_id as usize] = unknown_score.into();
        let fixed_point = FixedPointScores::of(pieces.trie(), &scores, unk_id, max_magnitude);
        // All scores are 32-bit floats.
        let scores = scores.into_iter().map(|score| score as f32).collect();
        Ok(Self { pieces, longest, rescored, scores, unknown_score, unk_id, fixed_point })
    }

    /// The lattice of a text; reuses the memory of `states`.
    pub(super) fn lattice<'w>(&'w self, text: &'w str, states: Vec<u32>) -> PieceLattice<'w> {
        let unknown = Some((self.unk_id, f64::from(self.unknown_score)));
        PieceLattice::new(
            LatticePieces { pieces: &self.pieces, rescored: &self.rescored, unknown },
            text,
            states,
        )
    }

    /// The score that a piece adds to a segmentation.
    pub(super) fn score_of(&self, id: u32) -> f64 {
        match id == self.unk_id {
            true => f64::from(self.unknown_score),
            false => self.rescored.get(id as usize).copied().unwrap_or(self.scores[id as usize].into()),
        }
    }

    /// Add the table sections of the trie.
    pub(super) fn store(&self, sections: &mut TableSections) {
        self.pieces.store(sections);
    }

    /// The bytes of memory without the trie.
    pub(super) fn derived_bytes(&self) -> usize {
        self.pieces.derived_bytes() + size_of_val(self.scores.as_slice()) + self.fixed_point.bytes()
    }

    /// Segment the text after one with this score; returns the score with it.
    pub(super) fn run(
        &self,
        text: &str,
        score: f32,
        lattice: &mut SpmUnigramScratch,
        writer: &mut PieceWriter<'_, impl TokenSink>,
    ) -> f32 {
        let out = |piece: TokenSpan| writer.push(piece.id, piece.start as usize, piece.end as usize);
        // Every character is a piece or unknown.
        lattice.window.run(&TextScorer::of(self, text), text, begin(score), out).unwrap_or(score)
    }

    /// The score after these pieces.
    pub(super) fn score_after(&self, score: f32, ids: impl Iterator<Item = u32>) -> f32 {
        ids.fold(score, |sum, id| sum + self.scores[id as usize])
    }
}

/// Positions where a sum was reset that a piece may still cross, each with the sum.
pub(super) type ScoreResets = Vec<(usize, f32)>;

/// A model with the length of a text.
pub(super) struct TextScorer<'a> {
    model: &'a SpmUnigram,
    end: usize,
}

impl<'a> TextScorer<'a> {
    pub(super) fn of(model: &'a SpmUnigram, text: &str) -> Self {
        Self { model, end: text.len() }
    }
}

/// The initial state of a text after this score.
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
        backpointers: &BackpointerTable<f32>,
        resets: &mut ScoreResets,
    ) -> Option<Backpointer<f32>> {
        let SpmUnigram { pieces, longest, unk_id, unknown_score, .. } = self.model;
        let mut best = BestPiece { found: None, resets };
        let mut shortest = last.end;
        for (id, piece) in pieces.ending_at(state) {
            shortest = last.end - piece.byte_len as usize;
            best.consider(id, shortest, plus(backpointers.at(shortest).score, piece.score));
        }
        if shortest != last.start {
            best.consider(*unk_id, last.start, unknown_score + backpointers.at(last.start).score);
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

/// The longest piece or unknown character in bytes.
fn longest_of(found: &[(&str, f64)]) -> usize {
    found.iter().map(|(text, _)| text.len()).max().unwrap_or(0).max(4)
}

/// The lowest score of the normal pieces.
fn lowest(pieces: &[ScoredPiece]) -> f32 {
    let normal = pieces.iter().filter(|piece| piece.kind == PieceType::Normal);
    normal.fold(f32::MAX, |lowest, piece| lowest.min(piece.score))
}

/// Reset a sum that is too large.
fn reset_large_score(reached: &mut Backpointer<f32>, position: usize, resets: &mut ScoreResets) {
    if reached.score.abs() > MAX_SCORE {
        resets.push((position, reached.score));
        reached.score = 0.0;
    }
}

/// The sum of two 32-bit floats, one of them stored in 64 bits; rounded once, like a 32-bit sum.
#[inline]
fn plus(sum: f32, score: f64) -> f32 {
    (f64::from(sum) + score) as f32
}

/// The score of a user-defined piece, above all others: it grows with each further byte, in listed and sampled
/// segmentations with each further character.
fn user_defined_score(length: usize) -> f64 {
    let score = USER_DEFINED_BONUS * (length as f64 - 1.0);
    f64::from(score as f32)
}
