//! Unigram as in SentencePiece: the Viterbi algorithm in 32-bit floats, summed from the beginning of the text.
//!
//! For each end of a character the pieces that end there are tried, the longest first; of equal sums the first is
//! kept. A sum beyond 100,000 is reset to 0, and sums of paths that already cross that position are reduced by as
//! much. (This is `sentencepiece` 0.2.3. Up to 0.2.1 sums grew without bound and were compared before rounding, which
//! decides other ties in long texts.) Rounding makes the segmentation of a word depend on all the text before it;
//! [`margin`] bounds by how much.
//!
//! [`super::Unigram`] sums 64-bit floats word by word without resets, so both have scorers of their own over
//! the same [`StreamingViterbi`]. [`fixed_point`] and [`parts`] read parts of texts forward by
//! the trie instead, for speed: the first in fixed point, so that sums do not depend on the text before.
//!
//! O(n) and the matches; [`StreamingViterbi`] bounds the memory.
//!
//! ```text
//! margin         when a part of a text has the same segmentation after any text
//! fixed_point    the best path through a part without context, and its margin
//! parts          segmentation of a text part by part, and the score of the text so far
//! nbest          the n best segmentations as `sentencepiece` lists them
//! ```

mod fixed_point;
mod margin;
mod nbest;
mod parts;
#[cfg(test)]
mod segmentation_tests;
#[cfg(test)]
mod tests;

pub use self::margin::{Margin, PathScore};

use self::fixed_point::{FixedPointScores, ViterbiScratch};
use super::automaton::PieceAutomaton;
use super::lattice::{LatticePieces, PieceLattice};
use super::segmentations::PathSampler;
use super::streaming::StreamingViterbi;
use crate::error::Error;
use crate::model::pieces::Pieces;
use crate::model::sampling::SamplingRng;
use crate::model::TokenSink;
use crate::spec::{PieceType, ScoredPiece, SentencePieceSpec};
use crate::table_sections::TableSections;
use crate::vocab::Vocab;

/// The score of an unknown character is so much less than the lowest score.
const UNKNOWN_PENALTY: f32 = 10.0;
/// The bonus of a user-defined piece for each byte after the first.
const USER_DEFINED_BONUS: f64 = 0.1;

/// The compiled Unigram model of SentencePiece.
#[derive(Clone, Debug)]
pub struct UnigramF32 {
    pieces: Pieces,
    automaton: PieceAutomaton,
    /// The score of each piece by id; for the unknown piece that of an unknown character.
    scores: Vec<f32>,
    /// The same for listed and sampled segmentations; empty if they are equal.
    rescored: Vec<f64>,
    unknown_score: f32,
    longest: usize,
    fixed_point: FixedPointScores,
}

/// The buffers of one text.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnigramF32Scratch {
    streaming: StreamingViterbi<f32>,
    viterbi: ViterbiScratch,
    /// The score of the text so far, if it is segmented in parts.
    score: f32,
    sampler: PathSampler,
}

impl UnigramF32 {
    /// Check the pieces and build the tables; read those that `sections` contains.
    pub(in crate::model) fn compile(
        spec: &SentencePieceSpec,
        vocab: &Vocab,
        sections: &TableSections,
    ) -> Result<Self, Error> {
        let pieces = Pieces::compile(spec, vocab)?;
        let unk_id = pieces.unk_id();
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
        let (automaton, longest) = (PieceAutomaton::restore(&found, sections)?, longest_of(&found));
        let rescored = if rescored == scores { Vec::new() } else { rescored };
        scores[unk_id as usize] = unknown_score.into();
        let fixed_point = FixedPointScores::of(automaton.trie(), &scores, unk_id, max_magnitude);
        // All scores are 32-bit floats.
        let scores = scores.into_iter().map(|score| score as f32).collect();
        Ok(Self { pieces, automaton, longest, rescored, scores, unknown_score, fixed_point })
    }

    /// Return the pieces of the model.
    #[must_use]
    pub fn pieces(&self) -> &Pieces {
        &self.pieces
    }

    /// Return the lattice of a text; reuse the memory of `states`.
    fn lattice<'w>(&'w self, text: &'w str, states: Vec<u32>) -> PieceLattice<'w> {
        let unknown = Some((self.pieces.unk_id(), f64::from(self.unknown_score)));
        PieceLattice::new(
            LatticePieces { pieces: &self.automaton, rescored: &self.rescored, unknown },
            text,
            states,
        )
    }

    /// Return the score that a piece adds to a listed or sampled segmentation.
    fn listed_score(&self, id: u32) -> f64 {
        match id == self.pieces.unk_id() {
            true => f64::from(self.unknown_score),
            false => self.rescored.get(id as usize).copied().unwrap_or(self.scores[id as usize].into()),
        }
    }

    /// Add the table sections of the trie.
    pub(in crate::model) fn store(&self, sections: &mut TableSections) {
        self.automaton.store(sections);
    }

    /// Return the bytes of memory without the trie.
    pub(in crate::model) fn derived_bytes(&self) -> usize {
        self.automaton.derived_bytes() + size_of_val(self.scores.as_slice()) + self.fixed_point.bytes()
    }

    /// Build every table that is not built yet.
    pub(in crate::model) fn warm_up(&self) {
        self.automaton.warm_up();
    }

    /// Segment a whole text; at random if there are random numbers.
    pub(in crate::model) fn run(
        &self,
        text: &str,
        scratch: &mut UnigramF32Scratch,
        rng: Option<&mut SamplingRng>,
        out: &mut impl TokenSink,
    ) {
        match rng {
            Some(rng) => {
                let path = scratch.sampler.sample(rng, |states| self.lattice(text, states));
                self.pieces.push_tokens(text, path, out);
            }
            None => {
                self.begin(scratch);
                self.run_next(text, scratch, out);
            }
        }
    }
}

/// Return the longest piece or unknown character in bytes.
fn longest_of(found: &[(&str, f64)]) -> usize {
    found.iter().map(|(text, _)| text.len()).max().unwrap_or(0).max(4)
}

/// Return the lowest score of the normal pieces.
fn lowest(pieces: &[ScoredPiece]) -> f32 {
    let normal = pieces.iter().filter(|piece| piece.kind == PieceType::Normal);
    normal.fold(f32::MAX, |lowest, piece| lowest.min(piece.score))
}

/// Return the score of a user-defined piece, above all others: it grows with each further byte, in listed and sampled
/// segmentations with each further character.
fn user_defined_score(length: usize) -> f64 {
    let score = USER_DEFINED_BONUS * (length as f64 - 1.0);
    f64::from(score as f32)
}
