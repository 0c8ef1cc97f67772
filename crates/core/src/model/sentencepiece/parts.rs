//! Segmentation of a text part by part, and of batches of short words.

use super::margin::{self, PathScore};
use super::viterbi_fixed::ViterbiScratch;
use super::{Algorithm, SentencePiece, SpmScratch};

impl SentencePiece {
    /// Whether the text before a part can change its segmentation.
    #[must_use]
    pub fn is_contextual(&self) -> bool {
        matches!(self.algorithm, Algorithm::Unigram(_))
    }

    /// Segment the part that begins at byte `start` without the score before it. Returns its end and the score with
    /// the margin within which the segmentation is right; `None` if it is unknown. No piece crosses the end of a
    /// part. Unknown characters may: `is_after_unknown` fuses the first token with those before.
    #[inline]
    pub(crate) fn segment_part(
        &self,
        text: &str,
        start: usize,
        is_after_unknown: bool,
        scratch: &mut SpmScratch,
        out: &mut Vec<u32>,
    ) -> (usize, Option<PathScore>) {
        let Algorithm::Unigram(unigram) = &self.algorithm else { return (text.len(), None) };
        let viterbi = &mut scratch.lattice.viterbi;
        let (end, score) = unigram.fixed_point.find_path(text, start, viterbi);
        match score {
            Some(score) if score.has_unknown => self.write_part(text, viterbi, is_after_unknown, out),
            _ => out.extend(viterbi.path.iter().map(|piece| piece.id)),
        }
        (end, score)
    }

    /// Segment the part that begins at byte `start` with the score before it. Returns its end; `None` if only
    /// [`SentencePiece::run_next`] can segment it.
    pub(crate) fn segment_part_f32(
        &self,
        text: &str,
        start: usize,
        is_after_unknown: bool,
        scratch: &mut SpmScratch,
        out: &mut Vec<u32>,
    ) -> Option<usize> {
        let Algorithm::Unigram(unigram) = &self.algorithm else { return None };
        let SpmScratch { lattice, score, .. } = scratch;
        let end = unigram.segment_part_f32(text, start, score, &mut lattice.viterbi)?;
        self.write_part(text, &lattice.viterbi, is_after_unknown, out);
        Some(end)
    }

    /// Append the tokens of the path through a part.
    fn write_part(&self, text: &str, viterbi: &ViterbiScratch, is_after_unknown: bool, out: &mut Vec<u32>) {
        let from = out.len();
        self.push_tokens(text, &viterbi.path, out);
        self.fuse_unknown(from, is_after_unknown, out);
    }

    /// The number of pieces.
    #[must_use]
    pub fn piece_count(&self) -> usize {
        self.symbols.kinds.len()
    }

    /// The id of the unknown piece.
    #[must_use]
    pub fn unk_id(&self) -> u32 {
        self.symbols.unk_id
    }

    /// An upper bound of what a piece, or one unknown character, adds to the absolute score, in 64ths; `None` without
    /// margins.
    #[must_use]
    pub fn cost(&self, id: u32) -> Option<u32> {
        let Algorithm::Unigram(unigram) = &self.algorithm else { return None };
        unigram.fixed_point.is_available().then(|| margin::cost(unigram.scores[id as usize].into()))
    }

    /// Whether ids end with an unknown token that fuses with the next one.
    #[must_use]
    pub fn ends_with_unknown(&self, ids: &[u32]) -> bool {
        ids.last() == Some(&self.symbols.unk_id)
    }

    /// Fuse the unknown token at index `from` with the one before it.
    pub fn fuse_unknown(&self, from: usize, is_after_unknown: bool, ids: &mut Vec<u32>) {
        if is_after_unknown && ids.get(from) == Some(&self.symbols.unk_id) {
            ids.remove(from);
        }
    }

    /// The bound of the absolute score by margin, in 64ths.
    #[must_use]
    pub fn limits(&self) -> [u64; 16] {
        let mut limits = [0; 16];
        if let Algorithm::Unigram(unigram) = &self.algorithm {
            let of_margins = &unigram.fixed_point.margins.limits;
            limits[..of_margins.len()].copy_from_slice(of_margins);
        }
        limits
    }

    /// Add the scores of all parts of a text whose parts have the segmentation they have alone.
    pub(crate) fn add_scores_of_parts(&self, text: &str, scratch: &mut SpmScratch) {
        let Algorithm::Unigram(unigram) = &self.algorithm else { return };
        let SpmScratch { lattice, score, .. } = scratch;
        let mut at = 0;
        while at < text.len() {
            (at, _) = unigram.fixed_point.find_path(text, at, &mut lattice.viterbi);
            *score = unigram.score_after(*score, lattice.viterbi.path.iter().map(|piece| piece.id));
        }
    }

    /// Add the scores of pieces, none of which is an unknown token.
    pub(crate) fn add_scores(&self, ids: &[u32], scratch: &mut SpmScratch) {
        if let Algorithm::Unigram(unigram) = &self.algorithm {
            let score = &mut scratch.score;
            *score = unigram.score_after(*score, ids.iter().copied());
        }
    }

    /// The absolute score of the text so far, in 64ths, rounded up.
    #[must_use]
    pub(crate) fn score_magnitude(&self, scratch: &SpmScratch) -> u64 {
        margin::in_64ths(scratch.score.into())
    }

    /// Whether short words can be merged in batches.
    #[must_use]
    pub fn merges_in_batches(&self) -> bool {
        matches!(&self.algorithm, Algorithm::Bpe(bpe) if bpe.merges_in_batches())
    }

    /// Merge up to `MAX_WORDS` words, given as ASCII with spaces instead of metaspaces, of at most
    /// `ShortWordBatch::MAX_BYTES`.
    pub(crate) fn merge_batch(&self, words: &[&[u8]], scratch: &mut SpmScratch) {
        if let Algorithm::Bpe(bpe) = &self.algorithm {
            bpe.merge_batch(words, &mut scratch.symbols);
        }
    }

    /// Append the ids of one word of the last batch; returns `false` if the batch cannot segment it.
    pub(crate) fn push_merged(&self, row: usize, scratch: &mut SpmScratch, out: &mut Vec<u32>) -> bool {
        let Algorithm::Bpe(bpe) = &self.algorithm else { return false };
        bpe.push_merged(row, &mut scratch.symbols, out)
    }
}
