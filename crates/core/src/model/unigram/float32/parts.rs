//! Segmentation of a text part by part, and the score of the text so far.

use std::ops::Range;

use piecework_unicode::char_len;

use super::fixed_point::ViterbiScratch;
use super::margin::{self, PathScore, MAX_BYTES, MAX_SCORE};
use super::{UnigramF32, UnigramF32Scratch};
use crate::model::unigram::automaton::PieceAutomaton;
use crate::model::unigram::backpointers::{backtrace, Backpointer, BackpointerTable};
use crate::model::unigram::streaming::PathScorer;
use crate::model::{TokenSink, TokenSpan};

impl UnigramF32 {
    /// Start a text that is segmented in parts.
    pub(crate) fn begin(&self, scratch: &mut UnigramF32Scratch) {
        scratch.score = 0.0;
    }

    /// Segment the next part of a text, with any score before it.
    pub(crate) fn run_next(&self, text: &str, scratch: &mut UnigramF32Scratch, out: &mut impl TokenSink) {
        let UnigramF32Scratch { streaming, score, .. } = scratch;
        let mut writer = self.pieces.writer(text, out);
        let sums = TextScorer::of(self, text);
        let write = |piece: TokenSpan| writer.push(piece.id, piece.start as usize, piece.end as usize);
        // Every character is a piece or unknown.
        *score = streaming.run(&sums, text, begin(*score), write).unwrap_or(*score);
        writer.finish();
    }

    /// Segment the part that begins at byte `start` without the score before it. Return its end and the score with
    /// the margin within which the segmentation is right; `None` if it is unknown. No piece crosses the end of a
    /// part. Unknown characters may: `is_after_unknown` fuses the first token with those before.
    #[inline]
    pub(crate) fn segment_part(
        &self,
        text: &str,
        start: usize,
        is_after_unknown: bool,
        scratch: &mut UnigramF32Scratch,
        out: &mut Vec<u32>,
    ) -> (usize, Option<PathScore>) {
        let viterbi = &mut scratch.viterbi;
        let (end, score) = self.fixed_point.find_path(text, start, viterbi);
        match score {
            Some(score) if score.has_unknown => self.write_part(text, viterbi, is_after_unknown, out),
            _ => out.extend(viterbi.path.iter().map(|piece| piece.id)),
        }
        (end, score)
    }

    /// Segment the part that begins at byte `start` with the score before it. Return its end; `None` if only
    /// [`UnigramF32::run_next`] can segment it.
    pub(crate) fn segment_part_f32(
        &self,
        text: &str,
        start: usize,
        is_after_unknown: bool,
        scratch: &mut UnigramF32Scratch,
        out: &mut Vec<u32>,
    ) -> Option<usize> {
        let end = self.best_path_after(text, start, &mut scratch.score, &mut scratch.viterbi)?;
        self.write_part(text, &scratch.viterbi, is_after_unknown, out);
        Some(end)
    }

    /// Append the tokens of the path through a part.
    fn write_part(&self, text: &str, viterbi: &ViterbiScratch, is_after_unknown: bool, out: &mut Vec<u32>) {
        let from = out.len();
        self.pieces.push_tokens(text, &viterbi.path, out);
        self.pieces.fuse_unknown(from, is_after_unknown, out);
    }

    /// Return an upper bound of what a piece, or one unknown character, adds to the absolute score, in 64ths; `None`
    /// without margins.
    #[must_use]
    pub fn cost(&self, id: u32) -> Option<u32> {
        self.fixed_point.is_available().then(|| margin::cost(self.scores[id as usize].into()))
    }

    /// Return the bound of the absolute score by margin, in 64ths.
    #[must_use]
    pub fn limits(&self) -> [u64; 16] {
        let mut limits = [0; 16];
        let of_margins = &self.fixed_point.margins.limits;
        limits[..of_margins.len()].copy_from_slice(of_margins);
        limits
    }

    /// Add the scores of all parts of a text whose parts have the segmentation they have alone.
    pub(crate) fn add_scores_of_parts(&self, text: &str, scratch: &mut UnigramF32Scratch) {
        let UnigramF32Scratch { viterbi, score, .. } = scratch;
        let mut at = 0;
        while at < text.len() {
            (at, _) = self.fixed_point.find_path(text, at, viterbi);
            *score = self.score_after(*score, viterbi.path.iter().map(|piece| piece.id));
        }
    }

    /// Add the scores of pieces, none of which is an unknown token.
    pub(crate) fn add_scores(&self, ids: &[u32], scratch: &mut UnigramF32Scratch) {
        scratch.score = self.score_after(scratch.score, ids.iter().copied());
    }

    /// Return the absolute score of the text so far, in 64ths, rounded up.
    #[must_use]
    pub(crate) fn score_magnitude(&self, scratch: &UnigramF32Scratch) -> u64 {
        margin::in_64ths(scratch.score.into())
    }

    /// Return the score after these pieces.
    fn score_after(&self, score: f32, ids: impl Iterator<Item = u32>) -> f32 {
        ids.fold(score, |sum, id| sum + self.scores[id as usize])
    }
}

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

// The best path through a part in its context, summed in 32-bit floats from the score before it.
//
// Forward from each position by the trie. Each position keeps the first of equal sums, so ties are as in
// [`TextScorer`], which has no bounds on the length. [`super::fixed_point`] also records leads and has no
// float rounding, so each has a loop of its own over the same trie.

const UNREACHED: Backpointer<f32> = Backpointer { score: f32::NEG_INFINITY, id: 0, start: 0 };

impl UnigramF32 {
    /// Find the best path through the part that begins at `floor`, after a text with this score, and add the part to
    /// the score. Return the end of the part; `None` if it is too long or a sum may be reset.
    pub(super) fn best_path_after(
        &self,
        text: &str,
        floor: usize,
        score: &mut f32,
        memory: &mut ViterbiScratch,
    ) -> Option<usize> {
        let ViterbiScratch { sums, path, .. } = memory;
        if !self.fixed_point.is_available() || score.abs() > self.fixed_point.margins.max_score_before {
            return None;
        }
        sums.clear();
        sums.push(Backpointer { score: *score, ..UNREACHED });
        let (mut at, mut furthest) = (floor, floor);
        while at < text.len() && (at < furthest || at == floor) {
            let reached = self.relax_pieces_f32(&text.as_bytes()[at..], at - floor, sums)?;
            furthest = furthest.max(at + reached);
            at += char_len(text.as_bytes()[at]);
        }
        *score = sums[at - floor].score;
        backtrace((0, at - floor), |end| sums[end], path);
        path.iter_mut().for_each(|piece| {
            piece.start += floor as u32;
            piece.end += floor as u32;
        });
        Some(at)
    }

    /// Try every piece that begins at offset `from` of the part, where `rest` begins. Return the length of the
    /// longest; `None` if it is too long.
    fn relax_pieces_f32(
        &self,
        rest: &[u8],
        from: usize,
        sums: &mut Vec<Backpointer<f32>>,
    ) -> Option<usize> {
        let before = sums[from].score;
        self.fixed_point.for_each_piece(rest, char_len(rest[0]), |len, scored| {
            let end = from + len;
            if end >= sums.len() {
                // Most parts are short, so the vector grows only as far as pieces reach.
                (end <= MAX_BYTES).then(|| sums.resize(end + 1, UNREACHED))?;
            }
            let best = &mut sums[end];
            let score = before + self.scores[scored.id as usize];
            if score > best.score {
                *best = Backpointer { score, id: scored.id, start: from as u32 };
            }
            Some(())
        })
    }
}
