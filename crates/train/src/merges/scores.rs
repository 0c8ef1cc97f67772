//! f(ab) / (f(a) f(b)), the score that courses publish for WordPiece, compared exactly as fractions.

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

    fn key(&self, counts: &PairCounts) -> Fraction {
        let one = gcd(counts.count, counts.left);
        let rest = counts.count / one;
        let two = gcd(rest, counts.right);
        Fraction {
            numerator: rest / two,
            denominator: u128::from(counts.left / one) * u128::from(counts.right / two),
        }
    }

    fn value(&self, key: Fraction, _total: u64) -> f64 {
        key.numerator as f64 / key.denominator as f64
    }

    fn quick_value(&self, counts: &PairCounts, _total: u64) -> f64 {
        counts.count as f64 / (counts.left as f64 * counts.right as f64)
    }

    fn compare(&self, one: (Fraction, f64), two: (Fraction, f64)) -> Ordering {
        multiply(one.0.numerator, two.0.denominator).cmp(&multiply(two.0.numerator, one.0.denominator))
    }

    /// Return the bound min(f, m) / (m M), where m is the lesser and M the greater of the least counts: f is at most
    /// f(a) and f(b).
    fn bound(&self, counts: &PairCounts, min_left: u64, min_right: u64, _total: u64) -> f64 {
        let (less, more) = (min_left.min(min_right).max(1), min_left.max(min_right).max(1));
        let bound = counts.count.min(less) as f64 / (less as f64 * more as f64);
        bound * (1.0 + 16.0 * UNIT)
    }

    fn bound_of_count(&self, _count: u64, _total: u64) -> f64 {
        1.0
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
