//! The best path through a part in its context, summed in 32-bit floats from the score before it.
//!
//! Forward from each position by the trie. Each position keeps the first of equal sums, so ties are as in
//! [`super::text_scorer`], which has no bounds on the length. [`super::fixed_point`] also records leads and has no
//! float rounding, so each has a loop of its own over the same trie.

use piecework_unicode::char_len;

use super::fixed_point::ViterbiScratch;
use super::margin::MAX_BYTES;
use super::UnigramF32;
use crate::model::unigram::backpointers::{backtrace, Backpointer};

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
