//! How far the segmentation of a part holds: the margin by which its decisions are made, against what
//! rounding can do.
//!
//! SentencePiece sums 32-bit floats from the beginning of the text, so all that stands before a word takes
//! part in the rounding of its sums. Let a part have `n` characters, so that no path through it has more than
//! `n` pieces, and let all sums stay below a power of two, `P = 2^p`, by size. Floats below `P` are at most
//! `2^(p - 24)` apart, a sum is rounded by at most half of that, and the sums of two paths that part and meet
//! again differ by at most `2n * 2^(p - 25)` from what exact numbers give. A lead of more than that decides as
//! exact numbers do, and so whatever the text before: with fewer than `2^k` characters a lead of `2^(p - 24 + k)` is
//! enough, so one of `2^(p - 18)` with the 63 that there may be. (The whole numbers of `2^-20`
//! that the lead is taken of are not exact either, by up to `2^-21` a piece, so by less than `2^-14` for two paths
//! of 63; what is left over is `2^(p - 24)`, and `p` is 11 at least.) The score of the text before the part may
//! then have any size below `P`, less what the part itself may add.

use super::unigram::MAX_SCORE;
use super::viterbi_fixed::MAX_BYTES;

/// How much a text may score, by size, before a part for that to be segmented as it is alone: the higher the
/// more. 0 is for parts that must be segmented where they stand.
pub type Margin = u32;

/// The highest margin: nothing but the bound of all scores.
pub(super) const MAX_MARGIN: Margin = 8;
/// The longest part, in characters, that is graded.
pub(super) const MAX_CHARS: usize = 63;
/// Scores that are weighed are whole numbers of this part of one.
pub(super) const ONE: f64 = (1 << ONE_BITS) as f64;
const ONE_BITS: u32 = 20;
/// The score that margin 1 allows, less than twice; every further one allows twice as much.
const MIN_LIMIT: f64 = 1024.0;

/// What the segmentation of a part is score elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathScore {
    /// After which texts it holds.
    pub margin: Margin,
    /// At least what it adds to the size of the score, in 64ths.
    pub cost: u32,
    /// Its ids do not tell its score, since unknown characters stand together or are given out as bytes.
    pub has_unknown: bool,
}

impl Default for PathScore {
    /// What no part at all is score.
    fn default() -> Self {
        Self { margin: MAX_MARGIN, cost: 0, has_unknown: false }
    }
}

impl PathScore {
    /// What two parts, one after the other, are score.
    #[must_use]
    pub fn and(self, next: Self) -> Self {
        Self {
            margin: self.margin.min(next.margin),
            cost: self.cost.saturating_add(next.cost),
            has_unknown: self.has_unknown || next.has_unknown,
        }
    }
}

/// By margin, in 64ths: what the score of the text before must stay below.
fn limits(worst: f64) -> [u64; MAX_MARGIN as usize + 1] {
    let most = f64::from(MAX_SCORE) - max_deviation(worst, MAX_CHARS);
    std::array::from_fn(|margin| match margin as Margin {
        0 => 0,
        MAX_MARGIN => (most * 64.0) as u64,
        _ => ((MIN_LIMIT * 2f64.powi(margin as i32 - 1)).min(most) * 64.0) as u64,
    })
}

/// What a size is in 64ths, rounded up.
pub(super) fn in_64ths(score: f64) -> u64 {
    (score.abs() * 64.0).ceil() as u64
}

/// What parts of a model are graded by.
#[derive(Clone, Debug)]
pub(super) struct MarginLimits {
    /// By margin, in 64ths: what the score must stay below.
    pub(super) limits: [u64; MAX_MARGIN as usize + 1],
    /// By the number of characters, in 64ths: how far sums within a part get from the score before it.
    max_deviations: [u64; MAX_CHARS + 1],
    /// A score of no more, by size, is not taken off within a part of `MAX_BYTES`.
    pub(super) max_score_before: f32,
}

impl MarginLimits {
    /// Those of a model whose largest score is so large, by size.
    pub(super) fn of(worst: f64) -> Self {
        let max_deviations =
            std::array::from_fn(|char_count| (max_deviation(worst, char_count) * 64.0).ceil() as u64);
        let max_score_before = (f64::from(MAX_SCORE) - max_deviation(worst, MAX_BYTES)) as f32;
        Self { limits: limits(worst), max_deviations, max_score_before }
    }

    /// The margin of a part of so many characters, all whose decisions are made by such a lead.
    #[inline]
    pub(super) fn margin_of(&self, lead: i64, char_count: usize) -> Margin {
        const MOST: u64 = MAX_SCORE as u64 * 64;
        let enough = 24 - (usize::BITS - char_count.leading_zeros());
        // The lead is 2^(p - enough) at least.
        let power = (lead.max(1).ilog2() + enough).checked_sub(ONE_BITS).filter(|_| lead > 0);
        let below = power.map_or(0, |power| if power > 16 { MOST } else { 64 << power });
        let limit = below.saturating_sub(self.max_deviations[char_count]);
        (1..=MAX_MARGIN).rev().find(|&margin| self.limits[margin as usize] <= limit).unwrap_or(0)
    }
}

/// What a part adds to the size of the score, in 64ths and rounded up, with what rounding adds: less than a 64th
/// for each piece.
#[inline]
pub(super) fn cost_of(score: u64, pieces: usize) -> u32 {
    const BITS: u32 = ONE_BITS - 6;
    u32::try_from(score.div_ceil(1 << BITS) + pieces as u64).unwrap_or(u32::MAX)
}

/// The same of one piece.
pub(super) fn cost(score: f64) -> u32 {
    in_64ths(score) as u32 + 1
}

/// How far sums within a part get from the score before it, with what rounding adds.
pub(super) fn max_deviation(worst: f64, char_count: usize) -> f64 {
    worst * (char_count + 1) as f64 + 1.0
}
