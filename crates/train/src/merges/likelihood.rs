//! The gain of the unigram log-likelihood of the corpus by a merge, in 64-bit floats by one fixed expression.
//!
//! Let c be the entry counts, N their sum, f the count of the pair and g(x) = x ln x. The gain is
//! `((g(ca-f) - g(ca)) + (g(cb-f) - g(cb))) + (g(cab+f) - g(cab))` plus `g(N) - g(N-f)`. The first part does
//! not depend on N. So pairs with the same f and the same first part tie for every N: they share a key.
//!
//! Source: the greedy merge by likelihood of Schuster and Nakajima 2012, section 3; the expression follows
//! from the definition.
//!
//! *Upper bounds.* In real numbers, the gain falls as `ca` or `cb` rise, and rises with `cab` and N; N only
//! falls. In f the gain is convex and 0 at f = 0, so with fixed counts a positive gain falls when f falls. As
//! f is at most `ca` and `cb`, the bound is the gain at the least counts, or at f if f is more. Along counts
//! equal to f the gain rises with f: its slope is ln((N-f)/(cb-f)) plus ln((cab+f)/f) where one count is f,
//! and ln((cab+f)(N-f)/f²) where both are, and N is at least 2f. So the bound is valid while the counts stay
//! at or above the least counts. Doubled pairs have no such bound and are always active.
//!
//! *Rounding.* Each g(x) is off by at most 4 units in the last place of g(N), and the sum of eight by at
//! most 64. `error` is twice as much, and every use of a bound allows for it.

use std::cmp::Ordering;

use super::objective::{Objective, PairCounts};

/// The gain of the log-likelihood, with its error bound for a corpus.
pub(super) struct Likelihood {
    /// The largest difference between a computed gain and the real one.
    error: f64,
}

/// The pair count, and the bits of the part of the gain that does not depend on N.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct GainKey {
    count: u64,
    local_bits: u64,
}

impl Likelihood {
    /// Return the objective for a corpus of `total` characters.
    pub(super) fn new(total: u64) -> Self {
        Self { error: 64.0 * f64::EPSILON * g(total).max(1.0) }
    }
}

impl Objective for Likelihood {
    type Key = GainKey;
    const NEEDS_MERGED: bool = true;

    fn key(&self, counts: &PairCounts) -> GainKey {
        GainKey { count: counts.count, local_bits: local_gain(counts).to_bits() }
    }

    fn value(&self, key: GainKey, total: u64) -> f64 {
        f64::from_bits(key.local_bits) + size_gain(key.count, total)
    }

    fn quick_value(&self, counts: &PairCounts, total: u64) -> f64 {
        local_gain(counts) + size_gain(counts.count, total)
    }

    fn compare(&self, one: (GainKey, f64), two: (GainKey, f64)) -> Ordering {
        one.1.total_cmp(&two.1)
    }

    fn bound(&self, counts: &PairCounts, min_left: u64, min_right: u64, total: u64) -> f64 {
        if counts.doubled {
            return f64::INFINITY;
        }
        let lowest =
            PairCounts { left: min_left.max(counts.count), right: min_right.max(counts.count), ..*counts };
        self.quick_value(&lowest, total).max(0.0) + 2.0 * self.error
    }

    fn bound_of_count(&self, count: u64, total: u64) -> f64 {
        // The sum of the largest gain of each part: both entries occur as often as the pair, and the merged
        // entry makes up the rest of the corpus.
        let count = count.min(total / 2);
        (2.0 * (size_gain(count, total) - g(count))).max(0.0) + 2.0 * self.error
    }

    fn slack(&self, _value: f64) -> f64 {
        2.0 * self.error
    }

    fn floor(&self) -> f64 {
        4.0 * self.error
    }

    fn gains(&self, value: f64) -> bool {
        value > 0.0
    }

    fn reason(&self, min_frequency: u64) -> String {
        format!("no pair that occurs {min_frequency} times raises the likelihood any more")
    }
}

/// Return the part of the gain that does not depend on N.
fn local_gain(counts: &PairCounts) -> f64 {
    let count = counts.count;
    let merged = g(counts.merged + count) - g(counts.merged);
    if counts.doubled {
        return (g(counts.left - 2 * count) - g(counts.left)) + merged;
    }
    ((g(counts.left - count) - g(counts.left)) + (g(counts.right - count) - g(counts.right))) + merged
}

/// Return the part of the gain that depends on N.
fn size_gain(count: u64, total: u64) -> f64 {
    g(total) - g(total - count)
}

fn g(x: u64) -> f64 {
    if x == 0 {
        return 0.0;
    }
    let x = x as f64;
    x * x.ln()
}
