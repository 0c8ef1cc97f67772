//! f(ab) / (f(a) f(b)), the score published for WordPiece, compared exactly.

use std::cmp::Ordering;

use super::objective::{Objective, PairCounts};

/// The published score.
pub(super) struct Pmi;

/// A fraction in lowest terms.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Fraction {
    numerator: u64,
    denominator: u128,
}

/// Half the distance from 1.0 to the next float.
const UNIT: f64 = f64::EPSILON / 2.0;

impl Objective for Pmi {
    type Key = Fraction;
    const NEEDS_MERGED: bool = false;

    fn key(&self, pair_counts: &PairCounts) -> Fraction {
        let one = gcd(pair_counts.count, pair_counts.left);
        let rest = pair_counts.count / one;
        let two = gcd(rest, pair_counts.right);
        Fraction {
            numerator: rest / two,
            denominator: u128::from(pair_counts.left / one) * u128::from(pair_counts.right / two),
        }
    }

    fn value(&self, key: Fraction, _total: u64) -> f64 {
        key.numerator as f64 / key.denominator as f64
    }

    fn quick_value(&self, pair_counts: &PairCounts, _total: u64) -> f64 {
        pair_counts.count as f64 / (pair_counts.left as f64 * pair_counts.right as f64)
    }

    fn compare(&self, one: (Fraction, f64), two: (Fraction, f64)) -> Ordering {
        multiply(one.0.numerator, two.0.denominator).cmp(&multiply(two.0.numerator, one.0.denominator))
    }

    /// With m the lesser and M the greater of the least counts, f/(f(a) f(b)) cannot pass min(f, m)/(m M),
    /// because f is at most f(a) and f(b).
    fn bound(&self, pair_counts: &PairCounts, least_left: u64, least_right: u64, _total: u64) -> f64 {
        let (less, more) = (least_left.min(least_right).max(1), least_left.max(least_right).max(1));
        let bound = pair_counts.count.min(less) as f64 / (less as f64 * more as f64);
        bound * (1.0 + 16.0 * UNIT)
    }

    fn slack(&self, value: f64) -> f64 {
        16.0 * UNIT * value
    }

    fn floor(&self) -> f64 {
        0.0
    }

    fn gains(&self, _value: f64) -> bool {
        true
    }

    fn reason(&self, min_frequency: u64) -> String {
        format!("no pair occurs {min_frequency} times any more")
    }
}

/// Multiply 64 by 128 bits: upper and lower half of the product.
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
