//! Segmentation of a text part by part, and the score of the text so far.

use super::fixed_point::ViterbiScratch;
use super::margin::{self, PathScore};
use super::text_scorer::{begin, TextScorer};
use super::{UnigramF32, UnigramF32Scratch};
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
