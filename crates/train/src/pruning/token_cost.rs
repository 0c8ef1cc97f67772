//! The cost of a token in fixed point: 1 + balance x surprisal.
//!
//! All arithmetic is on integers, so results are the same on every platform.

use crate::wordpiece::spec::Pruning;

/// The fraction bits of a cost.
const FRACTION_BITS: u32 = 16;
/// The cost of a token without surprisal.
pub(super) const ONE: i64 = 1 << FRACTION_BITS;
/// ln 2, with `FRACTION_BITS`.
const LN_2: i64 = 45_426;

/// The settings as fixed-point numbers.
#[derive(Clone, Copy)]
pub(super) struct CostRule {
    pub(super) balance: i64,
    /// The most that a use of an entry counts for.
    pub(super) max_use_cost: Option<i64>,
}

impl CostRule {
    pub(super) fn new(settings: &Pruning) -> Self {
        Self {
            balance: to_fixed(settings.balance),
            max_use_cost: settings.max_use_cost.map(|cost| to_fixed(cost).max(1)),
        }
    }

    /// Return the cost of a token that is used `uses` of `total` times.
    pub(super) fn cost(&self, uses: u64, total: u64) -> i64 {
        let bits = (log2(total.max(1)) - log2(uses.max(1))).max(0);
        let surprisal = (bits * LN_2) >> FRACTION_BITS;
        ONE + ((self.balance * surprisal) >> FRACTION_BITS)
    }

    /// Limit what the uses of an entry in a word count for.
    pub(super) fn capped(&self, added: i64, uses: usize) -> i64 {
        self.max_use_cost.map_or(added, |cost| added.min(cost * uses as i64))
    }
}

/// Round to a fixed-point number; the settings have checked the range.
fn to_fixed(value: f64) -> i64 {
    (value * ONE as f64).round_ties_even() as i64
}

/// Return the logarithm to base 2 of a positive number, rounded down to `FRACTION_BITS`.
fn log2(value: u64) -> i64 {
    let whole = i64::from(value.ilog2());
    let mut mantissa = value << value.leading_zeros();
    let mut result = whole;
    for _ in 0..FRACTION_BITS {
        let square = u128::from(mantissa) * u128::from(mantissa);
        let carry = square >> 127;
        mantissa = (square >> (63 + carry)) as u64;
        result = (result << 1) | carry as i64;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_rounded_down() {
        for value in [1_u64, 2, 3, 5, 10, 1000, 65_535, 1 << 40, u64::MAX] {
            let exact = (value as f64).log2() * ONE as f64;
            assert!((log2(value) as f64 - exact.floor()).abs() <= 1.0, "{value}");
        }
        assert_eq!(log2(8), 3 * ONE);
    }

    #[test]
    fn a_rare_token_costs_more() {
        let rule = CostRule { balance: 2 * ONE, max_use_cost: None };
        assert_eq!(rule.cost(1, 1), ONE);
        let tenth = rule.cost(1, 10) as f64 / ONE as f64;
        assert!((tenth - (1.0 + 2.0 * 10_f64.ln())).abs() < 1e-3);
    }
}
