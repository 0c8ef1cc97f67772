//! Whether a part of a word has the same best path after any text that precedes it in the word.
//!
//! No piece crosses the boundaries of a part, so exact sums would give a part the same path in every word. Scores are
//! 64-bit floats, added from left to right from the beginning of the word. The preceding score takes part in the
//! rounding, and segmentations with equal exact sums differ by rounding alone.
//!
//! Let a part have `n` bytes, and so at most `n` pieces; let `worst` be the largest absolute score, and let the word
//! have at most `2^24` bytes. Then every sum stays below `2^24 * worst`, an addition is rounded by at most `2^-53` of
//! that, and the sums of two paths through the part differ from their exact difference by at most `2n * 2^-29 *
//! worst`. The leads are computed with the part alone, which is rounded by less. So where each decision on the best
//! path leads by more than `n * 2^-26 * worst`, the same path wins by a true lead in every such word, and no tie rule
//! decides.

use super::{Backpointer, Unigram, UnigramScratch};
use crate::model::{TokenSink, TokenSpan};
use crate::vocab::Vocab;

/// Longer words, in bytes, are not segmented part by part.
const MAX_WORD_BYTES: usize = 1 << 24;
/// Longer parts, in bytes, are not segmented alone.
const MAX_PART_BYTES: usize = 1 << 12;
/// The lead that rounding can remove, for each byte of a part, as a share of the largest absolute score: `2^-26`.
const ROUNDING: f64 = 1.0 / (1 << 26) as f64;

impl Unigram {
    /// Return whether a word of this many bytes can be segmented part by part. Without an unknown token only the whole
    /// word shows whether it has a segmentation.
    pub fn supports_parts(&self, word_bytes: usize) -> bool {
        self.unk_id.is_some() && word_bytes <= MAX_WORD_BYTES
    }

    /// Segment a part that does not begin its word. Return whether the ids are the same in every word; if they are
    /// not, the word must be segmented as a whole.
    pub(in crate::model) fn run_part(
        &self,
        part: &str,
        vocab: &Vocab,
        scratch: &mut UnigramScratch,
        out: &mut impl TokenSink,
    ) -> bool {
        if part.len() > MAX_PART_BYTES || !self.pieces.has_links() {
            return false;
        }
        let Some(path) = self.find_best(part, scratch) else { return false };
        self.push_tokens(part, path, vocab, out);
        self.leads_everywhere(part, &scratch.backpointers, &scratch.path)
    }

    /// Return whether each decision on the best path through a part leads by more than rounding can remove.
    fn leads_everywhere(&self, part: &str, backpointers: &[Backpointer<f64>], path: &[TokenSpan]) -> bool {
        let least_lead = self.worst_score * part.len() as f64 * ROUNDING;
        let mut state = self.pieces.start();
        path.iter().all(|piece| {
            let (start, end) = (piece.start as usize, piece.end as usize);
            state = part.as_bytes()[start..end]
                .iter()
                .fold(state, |state, &byte| self.pieces.step(state, byte));
            let leads = |other: usize, score: f64| {
                other == start || backpointers[end].score - (score + backpointers[other].score) > least_lead
            };
            let mut shortest = end;
            let pieces_trail = self.pieces.ending_at(state).all(|(_, ending)| {
                shortest = end - ending.byte_len as usize;
                leads(shortest, ending.score)
            });
            let last_char = part[..end].char_indices().next_back().map_or(0, |(at, _)| at);
            pieces_trail && (shortest == last_char || leads(last_char, self.unknown_score))
        })
    }
}
