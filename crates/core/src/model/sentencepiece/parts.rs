//! Segmentation of a text part by part, and of batches of short words.

use super::margin::{self, PathScore};
use super::viterbi_fixed::ViterbiScratch;
use super::{Algorithm, Scratch, SentencePiece};
use crate::model::ModelScratch;

impl SentencePiece {
    /// Whether what stands before a part can change its segmentation.
    #[must_use]
    pub fn is_contextual(&self) -> bool {
        matches!(self.algorithm, Algorithm::Unigram(_))
    }

    /// Segment the part of a text that begins at byte `start` as if it stood alone, whatever the score before it;
    /// says where it ends and where that is right, if anywhere. No piece goes on over the end of a part; unknown
    /// characters may, which are one token with those that `is_after_unknown` says to stand before it.
    #[inline]
    pub fn segment_part(
        &self,
        text: &str,
        start: usize,
        is_after_unknown: bool,
        scratch: &mut ModelScratch,
        out: &mut Vec<u32>,
    ) -> (usize, Option<PathScore>) {
        let Algorithm::Unigram(unigram) = &self.algorithm else { return (text.len(), None) };
        let viterbi = &mut scratch.sentencepiece.lattice.viterbi;
        let (end, score) = unigram.fixed_point.find_path(text, start, viterbi);
        match score {
            Some(score) if score.has_unknown => self.write_part(text, viterbi, is_after_unknown, out),
            _ => out.extend(viterbi.path.iter().map(|piece| piece.id)),
        }
        (end, score)
    }

    /// Segment the part of a text that begins at byte `start` as it is after the score of all before; says where it
    /// ends, or nothing where only [`SentencePiece::run_next`] can.
    pub fn segment_part_f32(
        &self,
        text: &str,
        start: usize,
        is_after_unknown: bool,
        scratch: &mut ModelScratch,
        out: &mut Vec<u32>,
    ) -> Option<usize> {
        let Algorithm::Unigram(unigram) = &self.algorithm else { return None };
        let Scratch { lattice, score, .. } = &mut scratch.sentencepiece;
        let end = unigram.segment_part_f32(text, start, score, &mut lattice.viterbi)?;
        self.write_part(text, &lattice.viterbi, is_after_unknown, out);
        Some(end)
    }

    /// Append the path through a part.
    fn write_part(&self, text: &str, viterbi: &ViterbiScratch, is_after_unknown: bool, out: &mut Vec<u32>) {
        let from = out.len();
        self.push_tokens(text, &viterbi.path, out);
        self.fuse_unknown(from, is_after_unknown, out);
    }

    /// How many pieces there are.
    #[must_use]
    pub fn piece_count(&self) -> usize {
        self.kinds.len()
    }

    /// The id of unknown characters.
    #[must_use]
    pub fn unk_id(&self) -> u32 {
        self.unk_id
    }

    /// At least what a piece, or a single unknown character, adds to the size of a score, in 64ths; nothing where parts
    /// are not weighed.
    #[must_use]
    pub fn cost(&self, id: u32) -> Option<u32> {
        let Algorithm::Unigram(unigram) = &self.algorithm else { return None };
        unigram.fixed_point.is_available().then(|| margin::cost(unigram.scores[id as usize].into()))
    }

    /// Whether ids end with unknown characters that go on with others.
    #[must_use]
    pub fn ends_with_unknown(&self, ids: &[u32]) -> bool {
        ids.last() == Some(&self.unk_id)
    }

    /// Make one token of unknown characters before and after the place in `ids` where a part was written.
    pub fn fuse_unknown(&self, from: usize, is_after_unknown: bool, ids: &mut Vec<u32>) {
        if is_after_unknown && ids.get(from) == Some(&self.unk_id) {
            ids.remove(from);
        }
    }

    /// By margin, what the size of the score must stay below with a part, in 64ths.
    #[must_use]
    pub fn limits(&self) -> [u64; 16] {
        let mut limits = [0; 16];
        if let Algorithm::Unigram(unigram) = &self.algorithm {
            let of_margins = &unigram.fixed_point.margins.limits;
            limits[..of_margins.len()].copy_from_slice(of_margins);
        }
        limits
    }

    /// Go on with a text that consists of parts each of which is segmented as if it stood alone.
    pub fn add_scores_of_parts(&self, text: &str, scratch: &mut ModelScratch) {
        let Algorithm::Unigram(unigram) = &self.algorithm else { return };
        let Scratch { lattice, score, .. } = &mut scratch.sentencepiece;
        let mut at = 0;
        while at < text.len() {
            (at, _) = unigram.fixed_point.find_path(text, at, &mut lattice.viterbi);
            *score = unigram.score_after(*score, lattice.viterbi.path.iter().map(|piece| piece.id));
        }
    }

    /// Go on with pieces that an earlier part was segmented into; none may stand for unknown characters.
    pub fn add_scores(&self, ids: &[u32], scratch: &mut ModelScratch) {
        if let Algorithm::Unigram(unigram) = &self.algorithm {
            let score = &mut scratch.sentencepiece.score;
            *score = unigram.score_after(*score, ids.iter().copied());
        }
    }

    /// The size of the score of the text so far, in 64ths, rounded up.
    #[must_use]
    pub fn score_magnitude(&self, scratch: &ModelScratch) -> u64 {
        margin::in_64ths(scratch.sentencepiece.score.into())
    }

    /// Whether short words are merged at once.
    #[must_use]
    pub fn merges_in_batches(&self, scratch: &ModelScratch) -> bool {
        matches!(&self.algorithm, Algorithm::Bpe(bpe) if bpe.merges_in_batches()) && scratch.rng.is_none()
    }

    /// MergeCandidate up to `MAX_WORDS` words at once, given as ASCII with spaces for marks and as long as `ShortWords` take them.
    pub fn merge_batch(&self, words: &[&[u8]], scratch: &mut ModelScratch) {
        if let Algorithm::Bpe(bpe) = &self.algorithm {
            bpe.merge_batch(words, &mut scratch.sentencepiece.symbols);
        }
    }

    /// Append the ids of one of the words that were merged last; false where it cannot be told from them.
    pub fn push_merged(&self, row: usize, scratch: &mut ModelScratch, out: &mut Vec<u32>) -> bool {
        let Algorithm::Bpe(bpe) = &self.algorithm else { return false };
        bpe.push_merged(row, &mut scratch.sentencepiece.symbols, out)
    }
}
