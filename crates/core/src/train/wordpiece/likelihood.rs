//! The gain of the unigram corpus log-likelihood by a merge, in 64-bit floats by one fixed expression.
//!
//! With c the entry counts, N their sum, f the matches and g(x) = x ln x, the gain is
//! `((g(ca-f) - g(ca)) + (g(cb-f) - g(cb))) + (g(cab+f) - g(cab))` plus `g(N) - g(N-f)`. The part before
//! the last does not know N, so with f it names a class of pairs that tie whatever N is.
//!
//! *Upper bounds.* As real numbers: the gain falls as `ca` or `cb` rise, rises with `cab` and N, and N only
//! falls. In f it is convex and 0 at f = 0, so with the counts fixed a gain above zero falls when f does.
//! As f is at most `ca` and `cb`, take the gain at the least counts, or at f where that is more: along
//! counts equal to f it rises with f (its slope is ln((N-f)/(cb-f)) plus ln((cab+f)/f) where one count is f
//! and ln((cab+f)(N-f)/f²) where both are, and N is at least 2f), so this bounds whatever pair may come of
//! this one while the counts stay above the least. Pairs of twins have no such bound and stay in sight.
//! *In floats*, each g(x) is off by at most 4 units in the last place of g(N) and the sum of eight by at
//! most 64; `error` is twice as much for safety, and every use of a bound allows for it.

use std::cmp::Ordering;

use super::objective::{Objective, PairCounts};

/// The exact gain, with what depends on the size of the corpus alone.
pub(super) struct Likelihood {
    /// How far any computed gain may be from the real one.
    error: f64,
}

/// Matches and the bits of the part of the gain that does not depend on N.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct GainKey {
    count: u64,
    part: u64,
}

impl Likelihood {
    pub(super) fn new(total: u64) -> Self {
        Self { error: 64.0 * f64::EPSILON * g(total).max(1.0) }
    }
}

impl Objective for Likelihood {
    type Key = GainKey;
    const NEEDS_MERGED: bool = true;

    fn key(&self, pair_counts: &PairCounts) -> GainKey {
        GainKey { count: pair_counts.count, part: local_gain(pair_counts).to_bits() }
    }

    fn value(&self, key: GainKey, total: u64) -> f64 {
        f64::from_bits(key.part) + size_gain(key.count, total)
    }

    fn quick_value(&self, pair_counts: &PairCounts, total: u64) -> f64 {
        local_gain(pair_counts) + size_gain(pair_counts.count, total)
    }

    fn compare(&self, one: (GainKey, f64), two: (GainKey, f64)) -> Ordering {
        one.1.total_cmp(&two.1)
    }

    fn bound(&self, pair_counts: &PairCounts, least_left: u64, least_right: u64, total: u64) -> f64 {
        if pair_counts.doubled {
            return f64::INFINITY;
        }
        let lowest = PairCounts {
            left: least_left.max(pair_counts.count),
            right: least_right.max(pair_counts.count),
            ..*pair_counts
        };
        self.quick_value(&lowest, total).max(0.0) + 2.0 * self.error
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

/// The part of the gain that does not depend on the number of entries in the corpus.
fn local_gain(pair_counts: &PairCounts) -> f64 {
    let count = pair_counts.count;
    let merged = g(pair_counts.merged + count) - g(pair_counts.merged);
    if pair_counts.doubled {
        return (g(pair_counts.left - 2 * count) - g(pair_counts.left)) + merged;
    }
    ((g(pair_counts.left - count) - g(pair_counts.left))
        + (g(pair_counts.right - count) - g(pair_counts.right)))
        + merged
}

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
