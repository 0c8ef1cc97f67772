//! The scores that `best_first` maximizes, and the counts from which pairs are scored.
//!
//! `Pmi` is f(ab) / (f(a) f(b)), the score that courses publish for WordPiece, compared exactly as fractions.
//!
//! `Likelihood` is the gain of the unigram log-likelihood of the corpus by a merge, in 64-bit floats by one fixed
//! expression. Let c be the entry counts, N their sum, f the count of the pair and g(x) = x ln x. The gain is
//! `((g(ca-f) - g(ca)) + (g(cb-f) - g(cb))) + (g(cab+f) - g(cab))` plus `g(N) - g(N-f)`. The first part does
//! not depend on N. So pairs with the same f and the same first part tie for every N: they share a key. As N only
//! falls, the gain of a key only falls.
//!
//! Source: the greedy merge by likelihood of Schuster and Nakajima 2012, section 3; the expression follows
//! from the definition.
//!
//! *Upper bounds.* In real numbers, the gain falls as `ca` or `cb` rise, and rises with `cab` and N; N only
//! falls. In f the gain is convex and 0 at f = 0, so with fixed counts a positive gain falls when f falls. As
//! f is at most `ca` and `cb`, the bound is the gain at the least counts, or at f if f is more. Along counts
//! equal to f the gain rises with f: its slope is ln((N-f)/(cb-f)) plus ln((cab+f)/f) where one count is f,
//! and ln((cab+f)(N-f)/f²) where both are, and N is at least 2f. So the bound is valid while the counts stay
//! at or above the least counts. Doubled pairs have no such bound.
//!
//! *Rounding.* Each g(x) is off by at most 4 units in the last place of g(N), and the sum of eight by at
//! most 64. `error` is twice as much, and every use of an earlier score allows for it.

use std::cmp::Ordering;
use std::hash::Hash;

/// A score of pairs. `total` is the number of entries in the segmented corpus.
pub(super) trait Objective {
    /// The exact score, up to a function of `total` that never rises: pairs with equal keys tie whatever `total` is.
    type Key: Copy + Eq + Hash;
    /// Whether the score depends on `PairCounts::merged`.
    const NEEDS_MERGED: bool;

    /// Return the key of a pair.
    fn key(&self, counts: &PairCounts) -> Self::Key;
    /// Return the score of a key as a float, within half of `slack` of the exact score.
    fn value(&self, key: Self::Key, total: u64) -> f64;
    /// Return the score of a merge that is made, whose `value` this is.
    fn score(&self, _key: Self::Key, value: f64) -> f64 {
        value
    }
    /// Compare two keys exactly; each comes with its `value`.
    fn compare(&self, one: (Self::Key, f64), two: (Self::Key, f64)) -> Ordering;
    /// Return an upper bound of the pair's score.
    ///
    /// It is valid while the pair gains no occurrences and its entries occur at least `min_left` and
    /// `min_right` times.
    fn bound(&self, counts: &PairCounts, min_left: u64, min_right: u64, total: u64) -> f64;
    /// Return an upper bound of the score of any pair that occurs at most `count` times.
    fn bound_of_count(&self, count: u64, total: u64) -> f64;
    /// Return how far below the best value the value of the exact maximum may be.
    fn slack(&self, value: f64) -> f64;
    /// Return whether a merge of this score is made at all.
    fn gains(&self, value: f64) -> bool;
    /// Return the message for a training that stops early.
    fn reason(&self, min_frequency: u64) -> String;
}

/// The counts from which a pair is scored.
#[derive(Clone, Copy)]
pub(super) struct PairCounts {
    /// Occurrences of the pair.
    pub(super) count: u64,
    /// Occurrences of its left entry, of its right entry and of the merged entry.
    pub(super) left: u64,
    pub(super) right: u64,
    pub(super) merged: u64,
    /// Whether both entries are the same.
    pub(super) doubled: bool,
}

/// The published score.
pub(super) struct Pmi;

/// A fraction, not always in lowest terms.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Fraction {
    numerator: u64,
    left: u64,
    right: u64,
}

impl Fraction {
    fn denominator(self) -> u128 {
        u128::from(self.left) * u128::from(self.right)
    }
}

impl Objective for Pmi {
    type Key = Fraction;
    const NEEDS_MERGED: bool = false;

    fn key(&self, counts: &PairCounts) -> Fraction {
        Fraction { numerator: counts.count, left: counts.left, right: counts.right }
    }

    fn value(&self, key: Fraction, _total: u64) -> f64 {
        key.numerator as f64 / (key.left as f64 * key.right as f64)
    }

    /// Return the fraction in lowest terms as a float.
    fn score(&self, key: Fraction, _value: f64) -> f64 {
        let one = gcd(key.numerator, key.left);
        let two = gcd(key.numerator / one, key.right);
        let denominator = u128::from(key.left / one) * u128::from(key.right / two);
        (key.numerator / one / two) as f64 / denominator as f64
    }

    fn compare(&self, one: (Fraction, f64), two: (Fraction, f64)) -> Ordering {
        multiply(one.0.numerator, two.0.denominator()).cmp(&multiply(two.0.numerator, one.0.denominator()))
    }

    /// Return the bound min(f, m) / (m M), where m is the lesser and M the greater of the least counts: f is at most
    /// f(a) and f(b).
    fn bound(&self, counts: &PairCounts, min_left: u64, min_right: u64, _total: u64) -> f64 {
        let (less, more) = (min_left.min(min_right).max(1), min_left.max(min_right).max(1));
        let bound = counts.count.min(less) as f64 / (less as f64 * more as f64);
        bound * (1.0 + 8.0 * f64::EPSILON)
    }

    fn bound_of_count(&self, _count: u64, _total: u64) -> f64 {
        1.0
    }

    fn slack(&self, value: f64) -> f64 {
        8.0 * f64::EPSILON * value
    }

    fn gains(&self, _value: f64) -> bool {
        true
    }

    fn reason(&self, min_frequency: u64) -> String {
        format!("no pair occurs {min_frequency} times any more")
    }
}

/// The gain of the log-likelihood.
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

    fn compare(&self, one: (GainKey, f64), two: (GainKey, f64)) -> Ordering {
        one.1.total_cmp(&two.1)
    }

    fn bound(&self, counts: &PairCounts, min_left: u64, min_right: u64, total: u64) -> f64 {
        if counts.doubled {
            return f64::INFINITY;
        }
        let lowest =
            PairCounts { left: min_left.max(counts.count), right: min_right.max(counts.count), ..*counts };
        self.value(self.key(&lowest), total).max(0.0) + 2.0 * self.error
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

/// Multiply 64 by 128 bits; return the upper 128 and the lower 64 bits of the product.
fn multiply(one: u64, two: u128) -> (u128, u64) {
    let low = u128::from(one) * u128::from(two as u64);
    let high = u128::from(one) * (two >> 64);
    (high + (low >> 64), low as u64)
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
