//! The lattice of all segmentations of a text: forward-backward for expected counts, Viterbi for the best.
//!
//! Time is linear in the text and in the pieces that match in it.

use piecework_unicode::{begins_char, char_len};

use super::piece_set::{PieceLink, PieceSet, NONE};

/// Sums below `TINY` are multiplied by `HUGE`, so that long texts do not underflow.
const TINY: f64 = 1.0 / HUGE;
const HUGE: f64 = (1_u128 << 127) as f64 * (1_u128 << 127) as f64 * 4.0;
const LN_HUGE: f64 = 256.0 * std::f64::consts::LN_2;

/// A text, and the pieces that begin at its positions.
#[derive(Clone, Copy)]
pub(super) struct TextLattice<'a> {
    text: &'a [u8],
    longest: &'a [u32],
    links: &'a [PieceLink],
    max_bytes: usize,
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
    /// The lattice of a range of the text; `links` and `unknown` are scores or probabilities.
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

    /// Call with (piece, end, value) for each piece that begins at `start` and ends within the text, the longest
    /// first; a character that is not a piece is `NONE`.
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

    /// Add the expected count of each piece, times `weight` and rounded down, to `expected`.
    ///
    /// Returns the natural logarithm of the sum over all segmentations. `links` are probabilities.
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

    /// Compute the forward sum of each position; returns how often sums were multiplied.
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

    /// Emit the pieces of the best segmentation, the last first; returns the sum of their scores.
    ///
    /// Of equal segmentations, the one with the longer last piece is taken. A character that is not a piece is
    /// `NONE`. `allowed` is called with start and end of a piece. `links` are scores.
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

/// Whether a sum must be multiplied; 0 stays 0 and must not multiply its neighbours.
fn is_tiny(sum: f64) -> bool {
    sum > 0.0 && sum < TINY
}

/// Multiply the sums in use: pieces have at most `max_bytes`, characters at most 4 bytes.
fn raise(sums: &mut [f64], max_bytes: usize) {
    let used = sums.len().min(max_bytes.max(4) + 1);
    sums[..used].iter_mut().for_each(|sum| *sum *= HUGE);
}
