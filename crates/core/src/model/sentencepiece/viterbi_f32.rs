//! The best path through a part as it is where it stands: summed in 32-bit floats from the score before it.
//!
//! BackpointerTable come from left to right, and each keeps the first of equal sums: of pieces that end together the longest
//! begins first, so ties fall as [`super::unigram`] says. Its twin is the window there, which has no bounds.

use super::super::unigram::{backtrace, Backpointer};
use super::unigram::Unigram;
use super::viterbi_fixed::{Weighing, MAX_BYTES};
use crate::text::char_len;

const UNREACHED: Backpointer<f32> = Backpointer { score: f32::NEG_INFINITY, id: 0, start: 0 };

impl Unigram {
    /// Find the best path through the part that begins at `floor`, after a text that scores `score`, which gets what
    /// the part adds. Says where it ends; nothing where it is too long, or where a sum may be taken off.
    pub(super) fn sum_part(
        &self,
        text: &str,
        floor: usize,
        score: &mut f32,
        memory: &mut Weighing,
    ) -> Option<usize> {
        let Weighing { sums, path, .. } = memory;
        if !self.weights.are_there() || score.abs() > self.weights.grades.most_before {
            return None;
        }
        sums.clear();
        sums.push(Backpointer { score: *score, ..UNREACHED });
        let (mut at, mut furthest) = (floor, floor);
        while at < text.len() && (at < furthest || at == floor) {
            let reached = self.sum_pieces(&text.as_bytes()[at..], at - floor, sums)?;
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

    /// Take every piece that `rest` begins with, which begins at place `from`. How far the longest reaches, or
    /// `None` where that is too far.
    fn sum_pieces(&self, rest: &[u8], from: usize, sums: &mut Vec<Backpointer<f32>>) -> Option<usize> {
        let before = sums[from].score;
        self.weights.each_piece(rest, char_len(rest[0]), |len, ending| {
            let end = from + len;
            if end >= sums.len() {
                // Most parts are short, so no more places are made than are reached.
                (end <= MAX_BYTES).then(|| sums.resize(end + 1, UNREACHED))?;
            }
            let best = &mut sums[end];
            let score = before + self.scores[ending.id as usize];
            if score > best.score {
                *best = Backpointer { score, id: ending.id, start: from as u32 };
            }
            Some(())
        })
    }
}
