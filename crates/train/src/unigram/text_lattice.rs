//! The lattice of all segmentations of a text: forward-backward for expected counts, Viterbi for the best.
//!
//! Time is linear in the text and in the pieces that match in it.

use std::ops::Range;

use super::piece_set::{PieceLink, PieceSet, NONE};

/// Sums below `TINY` are multiplied by `HUGE`, so that long texts do not underflow.
const TINY: f64 = 1.0 / HUGE;
const HUGE: f64 = (1_u128 << 127) as f64 * (1_u128 << 127) as f64 * 4.0;
const LN_HUGE: f64 = 256.0 * std::f64::consts::LN_2;

/// A text, and the pieces that begin at its positions.
#[derive(Clone, Copy)]
pub(super) struct TextLattice<'a> {
    /// By position: the longest piece that begins there.
    longest: &'a [u32],
    links: &'a [PieceLink],
    max_chars: usize,
    /// The value of a character that is not a piece.
    unknown: f64,
}

/// The buffers of one thread.
#[derive(Default)]
pub(super) struct LatticeScratch {
    forward: Vec<f64>,
    backward: Vec<f64>,
    /// The positions where forward sums were multiplied, ascending.
    raised: Vec<usize>,
    best: Vec<ViterbiStep>,
}

/// The best segmentation up to a position: the sum of scores, and the last piece.
#[derive(Clone, Copy)]
struct ViterbiStep {
    score: f64,
    piece: u32,
    start: u32,
}

const UNREACHED: ViterbiStep = ViterbiStep { score: f64::NEG_INFINITY, piece: NONE, start: 0 };

impl<'a> TextLattice<'a> {
    /// Return the lattice of a range of the text; `links` and `unknown` are scores or probabilities.
    pub(super) fn new(
        pieces: &'a PieceSet,
        links: &'a [PieceLink],
        unknown: f64,
        range: Range<usize>,
    ) -> Self {
        Self { longest: &pieces.longest[range], links, max_chars: pieces.max_chars, unknown }
    }

    /// Call with (piece, end, value) for each piece that begins at `start` and ends within the text, the longest
    /// first; a character that is not a piece is `NONE`.
    #[inline]
    fn each_from(&self, start: usize, mut call: impl FnMut(u32, usize, f64)) {
        let mut piece = self.longest[start];
        let mut end = start;
        while let Some(link) = self.links.get(piece as usize) {
            end = start + link.chars as usize;
            if end <= self.longest.len() {
                call(piece, end, link.value);
            }
            piece = link.shorter;
        }
        if end != start + 1 {
            call(NONE, start + 1, self.unknown);
        }
    }

    /// Add the expected count of each piece, times `weight` and rounded down, to `expected`.
    ///
    /// Return the natural logarithm of the sum over all segmentations. `links` are probabilities.
    pub(super) fn expect(&self, weight: f64, scratch: &mut LatticeScratch, expected: &mut [u64]) -> f64 {
        let LatticeScratch { forward, backward, raised, .. } = scratch;
        let raises = self.sum_forward(forward, raised);
        let total = forward[self.longest.len()];
        backward.clear();
        backward.resize(self.longest.len() + 1, 0.0);
        backward[self.longest.len()] = 1.0;
        let mut excess = raises as i32 - raised.len() as i32;
        for start in (0..self.longest.len()).rev() {
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
                raise(&mut backward[start..], self.max_chars);
                excess -= 1;
            }
        }
        total.ln() - LN_HUGE * raises as f64
    }

    /// Compute the forward sum of each position; return how often sums were multiplied.
    fn sum_forward(&self, forward: &mut Vec<f64>, raised: &mut Vec<usize>) -> usize {
        raised.clear();
        forward.clear();
        forward.resize(self.longest.len() + 1, 0.0);
        forward[0] = 1.0;
        for start in 0..self.longest.len() {
            if is_tiny(forward[start]) {
                raise(&mut forward[start..], self.max_chars);
                raised.push(start);
            }
            let before = forward[start];
            self.each_from(start, |_, end, probability| forward[end] += before * probability);
        }
        raised.len()
    }

    /// Emit the pieces of the best segmentation, the last first; return the sum of their scores.
    ///
    /// Among equal segmentations, choose the longer last piece. A character that is not a piece is
    /// `NONE`. `allowed` is called with start and end of a piece. `links` are scores.
    pub(super) fn best(
        &self,
        scratch: &mut LatticeScratch,
        allowed: impl Fn(usize, usize) -> bool,
        mut emit: impl FnMut(u32),
    ) -> f64 {
        let best = &mut scratch.best;
        best.clear();
        best.resize(self.longest.len() + 1, UNREACHED);
        best[0].score = 0.0;
        for start in 0..self.longest.len() {
            let before = best[start].score;
            self.each_from(start, |piece, end, score| {
                let score = before + score;
                if score > best[end].score && allowed(start, end) {
                    best[end] = ViterbiStep { score, piece, start: start as u32 };
                }
            });
        }
        let mut end = self.longest.len();
        while end > 0 {
            emit(best[end].piece);
            end = best[end].start as usize;
        }
        best[self.longest.len()].score
    }
}

/// Return whether a sum must be multiplied; 0 stays 0 and must not multiply its neighbours.
fn is_tiny(sum: f64) -> bool {
    sum > 0.0 && sum < TINY
}

/// Multiply the sums in use, which are as far apart as the longest piece.
fn raise(sums: &mut [f64], max_chars: usize) {
    let used = sums.len().min(max_chars.max(1) + 1);
    sums[..used].iter_mut().for_each(|sum| *sum *= HUGE);
}
