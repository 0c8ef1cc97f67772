//! f(ab) / (f(a) f(b)), the score published for WordPiece, compared exactly.

use std::cmp::Ordering;

use super::objective::{Facts, Objective};

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

    fn key(&self, facts: &Facts) -> Fraction {
        let one = gcd(facts.count, facts.left);
        let rest = facts.count / one;
        let two = gcd(rest, facts.right);
        Fraction {
            numerator: rest / two,
            denominator: u128::from(facts.left / one) * u128::from(facts.right / two),
        }
    }

    fn value(&self, key: Fraction, _total: u64) -> f64 {
        key.numerator as f64 / key.denominator as f64
    }

    fn quick_value(&self, facts: &Facts, _total: u64) -> f64 {
        facts.count as f64 / (facts.left as f64 * facts.right as f64)
    }

    fn compare(&self, one: (Fraction, f64), two: (Fraction, f64)) -> Ordering {
        multiply(one.0.numerator, two.0.denominator).cmp(&multiply(two.0.numerator, one.0.denominator))
    }

    /// With m the lesser and M the greater of the least counts, f/(f(a) f(b)) cannot pass min(f, m)/(m M),
    /// because f is at most f(a) and f(b).
    fn bound(&self, facts: &Facts, least_left: u64, least_right: u64, _total: u64) -> f64 {
        let (less, more) = (least_left.min(least_right).max(1), least_left.max(least_right).max(1));
        let bound = facts.count.min(less) as f64 / (less as f64 * more as f64);
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
