//! Margins: why the segmentation of a part of a text may be cached, although SentencePiece's depends on all the text
//! before it. This is the whole argument; the engine's files on cached Unigram words rely on it.
//!
//! **The problem.** SentencePiece sums 32-bit floats from the beginning of the text, so the score of the text before a
//! part takes part in the rounding of its sums and may change which path wins.
//!
//! **Rounding.** Let a part have `n` characters, so that no path through it has more than `n` pieces, and let the absolute
//! value of all sums stay below a power of two, `P = 2^p`. Floats below `P` are at most `2^(p - 24)` apart, a sum is
//! rounded by at most half of that, and the sums of two paths between the same positions differ by at most `2n * 2^(p -
//! 25)` from exact numbers. A larger lead decides as exact numbers do, whatever the text before: with fewer than `2^k`
//! characters a lead of `2^(p - 24 + k)` is sufficient, so one of `2^(p - 18)` for the at most 63 characters.
//!
//! **Leads** are taken of fixed-point numbers of `2^-20` ([`super::fixed_point`]), which are not exact either: they
//! differ by up to `2^-21` a piece, so by less than `2^-14` for two paths of 63. The rest is `2^(p - 24)`, and `p` is at
//! least 11. So the absolute score of the text before the part may have any value below `P`, less what the part itself
//! may add ([`max_deviation`]).
//!
//! **Classes.** [`Margin`] rounds that value down to one of nine limits ([`limits`]). No limit is so high that a sum within
//! the part could be reset, which SentencePiece does beyond [`MAX_SCORE`].
//!
//! **The bound.** The engine does not sum scores while words are cached. It adds the cost of each word to an upper bound
//! of the absolute score so far, in 64ths. A cost is rounded up, and a 64th for each piece covers the rounding of sums
//! ([`cost_of`]). A cached word is valid if the bound with its cost is below the limit of its class. Then every sum
//! within it is below `P`, and its ids are those that SentencePiece gives at this position. Otherwise the exact score is
//! made up for by the same additions in the same order, the part is segmented with it ([`super::parts`]), and the bound
//! becomes exact.
//!
//! **What a cache entry keeps** is the class, the cost and whether there are unknown characters, all exactly: a word
//! whose cost does not fit the entry is not cached.
//!
//! **Unknown characters** are fused with those before them, so ids do not determine the score of a word that has some.
//! Such a word is segmented again where its exact score is needed. It stays valid: fusing changes no sum.
//!
//! **Single characters** are in no longer piece, so a run of them has one path, no decision, and the highest class.

/// A class of absolute scores of the preceding text up to which a part has the segmentation it has alone; higher
/// classes allow more. 0 is for parts that must be segmented in their context.
pub type Margin = u32;

/// The highest class, which allows any score.
pub(super) const MAX_MARGIN: Margin = 8;
/// A larger absolute sum is reset.
pub(super) const MAX_SCORE: f32 = 100_000.0;
/// The longest part in bytes, with the pieces that begin in it.
pub(super) const MAX_BYTES: usize = 512;
/// The longest part, in characters, with a margin.
pub(super) const MAX_CHARS: usize = 63;
/// The fixed-point representation of 1.
pub(super) const ONE: f64 = (1 << ONE_BITS) as f64;
const ONE_BITS: u32 = 20;
/// Half the limit of class 1; each further class has twice the limit.
const MIN_LIMIT: f64 = 1024.0;

/// The score of the segmentation of a part, as far as the word cache keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathScore {
    /// The class of preceding texts with which the segmentation is the same.
    pub margin: Margin,
    /// An upper bound of what the part adds to the absolute score, in 64ths.
    pub cost: u32,
    /// Whether unknown characters prevent computing the score from the ids: they are fused or byte tokens.
    pub has_unknown: bool,
}

impl Default for PathScore {
    /// Return the score of an empty part.
    fn default() -> Self {
        Self { margin: MAX_MARGIN, cost: 0, has_unknown: false }
    }
}

impl PathScore {
    /// Return the score of two adjacent parts.
    #[must_use]
    pub fn and(self, next: Self) -> Self {
        Self {
            margin: self.margin.min(next.margin),
            cost: self.cost.saturating_add(next.cost),
            has_unknown: self.has_unknown || next.has_unknown,
        }
    }
}

/// Return the limit of the absolute score before a part, in 64ths, by class.
fn limits(worst: f64) -> [u64; MAX_MARGIN as usize + 1] {
    let most = f64::from(MAX_SCORE) - max_deviation(worst, MAX_CHARS);
    std::array::from_fn(|margin| match margin as Margin {
        0 => 0,
        MAX_MARGIN => (most * 64.0) as u64,
        _ => ((MIN_LIMIT * 2f64.powi(margin as i32 - 1)).min(most) * 64.0) as u64,
    })
}

/// Return an absolute score in 64ths, rounded up.
pub(super) fn in_64ths(score: f64) -> u64 {
    (score.abs() * 64.0).ceil() as u64
}

/// The limits of a model.
#[derive(Clone, Debug)]
pub(super) struct MarginLimits {
    /// By class, in 64ths: the bound of the absolute score.
    pub(super) limits: [u64; MAX_MARGIN as usize + 1],
    /// By the number of characters, in 64ths: how far sums within a part may differ from the score before it.
    max_deviations: [u64; MAX_CHARS + 1],
    /// Up to this absolute score no sum within a part of `MAX_BYTES` is reset.
    pub(super) max_score_before: f32,
}

impl MarginLimits {
    /// Return the limits of a model with this largest absolute score.
    pub(super) fn of(worst: f64) -> Self {
        let max_deviations =
            std::array::from_fn(|char_count| (max_deviation(worst, char_count) * 64.0).ceil() as u64);
        let max_score_before = (f64::from(MAX_SCORE) - max_deviation(worst, MAX_BYTES)) as f32;
        Self { limits: limits(worst), max_deviations, max_score_before }
    }

    /// Return the margin of a part of `char_count` characters whose decisions all have at least this lead.
    #[inline]
    pub(super) fn margin_of(&self, lead: i64, char_count: usize) -> Margin {
        const MOST: u64 = MAX_SCORE as u64 * 64;
        let enough = 24 - (usize::BITS - char_count.leading_zeros());
        // The lead is at least 2^(p - enough).
        let power = (lead.max(1).ilog2() + enough).checked_sub(ONE_BITS).filter(|_| lead > 0);
        let below = power.map_or(0, |power| if power > 16 { MOST } else { 64 << power });
        let limit = below.saturating_sub(self.max_deviations[char_count]);
        (1..=MAX_MARGIN).rev().find(|&margin| self.limits[margin as usize] <= limit).unwrap_or(0)
    }
}

/// Return an upper bound of what a part adds to the absolute score, in 64ths: rounded up, and with the rounding of
/// sums, less than a 64th for each piece.
#[inline]
pub(super) fn cost_of(score: u64, pieces: usize) -> u32 {
    const BITS: u32 = ONE_BITS - 6;
    u32::try_from(score.div_ceil(1 << BITS) + pieces as u64).unwrap_or(u32::MAX)
}

/// Return the same for one piece.
pub(super) fn cost(score: f64) -> u32 {
    in_64ths(score) as u32 + 1
}

/// Return how far sums within a part may differ from the score before it, with rounding.
pub(super) fn max_deviation(worst: f64, char_count: usize) -> f64 {
    worst * (char_count + 1) as f64 + 1.0
}
