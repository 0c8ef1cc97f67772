//! All segmentations of a stretch of text: the sum of their probabilities, how often each piece is expected
//! in them, and the best of them. Time is linear in the stretch and in the pieces found.

use super::piece_set::{PieceLink, PieceSet, NONE};
use crate::text::{begins_char, char_len};

/// Sums below the first are multiplied by the second, so that no stretch is too long.
const TINY: f64 = 1.0 / HUGE;
const HUGE: f64 = (1_u128 << 127) as f64 * (1_u128 << 127) as f64 * 4.0;
const LN_HUGE: f64 = 256.0 * std::f64::consts::LN_2;

/// A stretch of text, and what begins at its places.
#[derive(Clone, Copy)]
pub(super) struct TextLattice<'a> {
    text: &'a [u8],
    longest: &'a [u32],
    links: &'a [PieceLink],
    max_bytes: usize,
    /// The value of a character that is no piece.
    unknown: f64,
}

/// Memory for one thread.
#[derive(Default)]
pub(super) struct LatticeScratch {
    forward: Vec<f64>,
    backward: Vec<f64>,
    /// Where forward sums were made greater, in order.
    raised: Vec<usize>,
    best: Vec<ViterbiStep>,
}

/// The best way to reach a place: the sum of scores, and the last piece.
#[derive(Clone, Copy)]
struct ViterbiStep {
    score: f64,
    piece: u32,
    start: u32,
}

const UNREACHED: ViterbiStep = ViterbiStep { score: f64::NEG_INFINITY, piece: NONE, start: 0 };

impl<'a> TextLattice<'a> {
    /// Look at a range of the text; `links` has scores or probabilities, as `unknown` has.
    pub(super) fn new(
        text: &'a [u8],
        pieces: &'a PieceSet,
        links: &'a [PieceLink],
        unknown: f64,
        range: std::ops::Range<usize>,
    ) -> Self {
        let longest = &pieces.longest[range.clone()];
        Self { text: &text[range], longest, links, max_bytes: pieces.max_bytes, unknown }
    }

    /// Call with (piece, end, value) for all that begins at `start`, the longest first, up to the end of the
    /// stretch; a character that is no piece is `NONE`.
    #[inline]
    fn each_from(&self, start: usize, mut call: impl FnMut(u32, usize, f64)) {
        let mut piece = self.longest[start];
        let mut end = start;
        while let Some(link) = self.links.get(piece as usize) {
            end = start + link.bytes as usize;
            if end <= self.text.len() {
                call(piece, end, link.value);
            }
            piece = link.shorter;
        }
        let character = start + char_len(self.text[start]);
        if end != character {
            call(NONE, character, self.unknown);
        }
    }

    /// Add the expected number of each piece, times `weight` and rounded down, to `expected`; gives the
    /// natural logarithm of the sum over all segmentations. Links have probabilities.
    pub(super) fn expect(&self, weight: f64, scratch: &mut LatticeScratch, expected: &mut [u64]) -> f64 {
        let LatticeScratch { forward, backward, raised, .. } = scratch;
        let raises = self.sum_forward(forward, raised);
        let total = forward[self.text.len()];
        backward.clear();
        backward.resize(self.text.len() + 1, 0.0);
        backward[self.text.len()] = 1.0;
        let mut excess = raises as i32 - raised.len() as i32;
        for start in (0..self.text.len()).rev().filter(|&start| self.begins_char(start)) {
            while raised.last().is_some_and(|&at| at > start) {
                raised.pop();
                excess += 1;
            }
            let share = forward[start] / total * weight;
            let factor = if excess == 0 { 1.0 } else { HUGE.powi(excess) };
            let mut sum = 0.0;
            self.each_from(start, |piece, end, probability| {
                let ahead = probability * backward[end];
                sum += ahead;
                if let Some(count) = expected.get_mut(piece as usize) {
                    *count += (share * ahead * factor) as u64;
                }
            });
            backward[start] = sum;
            if is_tiny(sum) {
                raise(&mut backward[start..], self.max_bytes);
                excess -= 1;
            }
        }
        total.ln() - LN_HUGE * raises as f64
    }

    /// By place, the sum over all segmentations of what comes before; gives how often sums were raised.
    fn sum_forward(&self, forward: &mut Vec<f64>, raised: &mut Vec<usize>) -> usize {
        raised.clear();
        forward.clear();
        forward.resize(self.text.len() + 1, 0.0);
        forward[0] = 1.0;
        for start in (0..self.text.len()).filter(|&start| self.begins_char(start)) {
            if is_tiny(forward[start]) {
                raise(&mut forward[start..], self.max_bytes);
                raised.push(start);
            }
            let before = forward[start];
            self.each_from(start, |_, end, probability| forward[end] += before * probability);
        }
        raised.len()
    }

    /// Append the pieces of the best segmentation, from the last to the first; of equal ones that with the
    /// longer last piece. A character that is no piece is `NONE`. Links have scores.
    ///
    /// `allowed` says whether a piece from a place may be taken. Gives the sum of the scores.
    pub(super) fn best(
        &self,
        scratch: &mut LatticeScratch,
        allowed: impl Fn(usize, usize) -> bool,
        mut emit: impl FnMut(u32),
    ) -> f64 {
        let best = &mut scratch.best;
        best.clear();
        best.resize(self.text.len() + 1, UNREACHED);
        best[0].score = 0.0;
        for start in (0..self.text.len()).filter(|&start| self.begins_char(start)) {
            let before = best[start].score;
            self.each_from(start, |piece, end, score| {
                let score = before + score;
                if score > best[end].score && allowed(start, end) {
                    best[end] = ViterbiStep { score, piece, start: start as u32 };
                }
            });
        }
        let mut end = self.text.len();
        while end > 0 {
            emit(best[end].piece);
            end = best[end].start as usize;
        }
        best[self.text.len()].score
    }

    fn begins_char(&self, position: usize) -> bool {
        begins_char(self.text[position])
    }
}

/// Whether a sum is to be raised; one of nothing at all would stay nothing, and its neighbours grow.
fn is_tiny(sum: f64) -> bool {
    sum > 0.0 && sum < TINY
}

/// Multiply the sums that are in use: no piece goes beyond `max_bytes`, nor does a character beyond 4.
fn raise(sums: &mut [f64], max_bytes: usize) {
    let used = sums.len().min(max_bytes.max(4) + 1);
    sums[..used].iter_mut().for_each(|sum| *sum *= HUGE);
}
