//! A chi-square test of sampled outcomes.

use std::collections::BTreeMap;

/// Return whether counts agree with probabilities at a significance of one in a million (Wilson and Hilferty's
/// approximation).
pub(super) fn agrees(counts: &BTreeMap<String, u32>, probabilities: &BTreeMap<String, f64>) -> bool {
    let draws = f64::from(counts.values().sum::<u32>());
    let square = |(outcome, probability): (&String, &f64)| {
        let expected = probability * draws;
        assert!(expected >= 5.0, "too rare to tell: {outcome}");
        (f64::from(counts.get(outcome).copied().unwrap_or(0)) - expected).powi(2) / expected
    };
    let distance: f64 = probabilities.iter().map(square).sum();
    let freedom = (probabilities.len() - 1) as f64;
    let spread = 2.0 / (9.0 * freedom);
    let normal = ((distance / freedom).cbrt() - (1.0 - spread)) / spread.sqrt();
    counts.keys().all(|outcome| probabilities.contains_key(outcome)) && normal < 4.75
}

pub(super) fn counted(outcomes: impl Iterator<Item = String>) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    outcomes.for_each(|outcome| *counts.entry(outcome).or_default() += 1);
    counts
}
