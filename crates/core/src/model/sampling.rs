//! Random numbers for sampled segmentations: one stream for each seed, row and sequence.
//!
//! The generator is SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators"), so
//! that a seed gives the same numbers everywhere. Streams start at hashed states, so the result of a row depends
//! neither on the rows before it nor on the thread.

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// How to sample segmentations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// The amount of randomness. For BPE, the probability from 0 to 1 that a merge is skipped. For Unigram, the
    /// factor of the scores; 0 makes all segmentations equally probable.
    pub alpha: f64,
    /// Sample from this number of best segmentations instead of all; Unigram only.
    pub nbest: Option<usize>,
    /// The seed of the random numbers.
    pub seed: u64,
    /// The index of the text in its batch.
    pub row: u64,
}

impl Sampling {
    /// Return the same settings for another text of the batch.
    #[must_use]
    pub fn at_row(self, row: usize) -> Self {
        Self { row: row as u64, ..self }
    }

    /// Sample the index of a score with a probability proportional to exp(alpha * score), for the first (0) or second
    /// (1) sequence. No score is greater than the first.
    pub(crate) fn choose(self, sequence: u64, scores: impl Iterator<Item = f64>) -> usize {
        let scores: Vec<f64> = scores.collect();
        let weight = |score: &f64| (self.alpha * (score - scores[0])).exp();
        let total: f64 = scores.iter().map(weight).sum();
        let mut left = self.rng(sequence).unit() * total;
        let chosen = scores.iter().position(|score| {
            left -= weight(score);
            left <= 0.0
        });
        chosen.unwrap_or(0)
    }

    /// Return the random numbers for the first (0) or second (1) sequence.
    pub(crate) fn rng(self, sequence: u64) -> SamplingRng {
        let stream = mix64(self.row.wrapping_mul(2).wrapping_add(sequence).wrapping_add(STEP));
        SamplingRng { state: mix64(self.seed) ^ stream, alpha: self.alpha }
    }
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct SamplingRng {
    state: u64,
    alpha: f64,
}

impl SamplingRng {
    /// Return the number of candidates to skip before one is chosen, when each is skipped with probability alpha. Draw
    /// one number from the geometric distribution instead of one for each candidate.
    pub(crate) fn skip_count(&mut self) -> usize {
        if self.alpha >= 1.0 {
            return usize::MAX;
        }
        (self.unit().ln() / self.alpha.ln()) as usize
    }

    /// Return whether a candidate is skipped, with probability alpha.
    pub(crate) fn drops(&mut self) -> bool {
        self.unit() <= self.alpha
    }

    /// Return the factor of the scores.
    pub(crate) fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Return a uniform number in (0, 1].
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Return a uniform number in (0, 1), without both ends.
    pub(crate) fn open_unit(&mut self) -> f64 {
        ((self.next() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix64(self.state)
    }
}

/// Mix the bits of a number so that each affects all others.
pub(crate) fn mix64(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

// Sampled, listed and scored segmentations, for the models that have several.

/// A chi-square test of sampled outcomes.
#[cfg(test)]
pub(super) mod chi_square {
    use std::collections::BTreeMap;

    /// Return whether counts agree with probabilities at a significance of one in a million (Wilson and Hilferty's
    /// approximation).
    pub(in crate::model) fn agrees(
        counts: &BTreeMap<String, u32>,
        probabilities: &BTreeMap<String, f64>,
    ) -> bool {
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

    pub(in crate::model) fn counted(outcomes: impl Iterator<Item = String>) -> BTreeMap<String, u32> {
        let mut counts = BTreeMap::new();
        outcomes.for_each(|outcome| *counts.entry(outcome).or_default() += 1);
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skip_counts(alpha: f64, seed: u64, row: usize, sequence: u64) -> Vec<usize> {
        let sampling = Sampling { alpha, nbest: None, seed, row: 0 };
        let mut rng = sampling.at_row(row).rng(sequence);
        (0..1000).map(|_| rng.skip_count()).collect()
    }

    #[test]
    fn streams_differ_by_seed_row_and_sequence_and_repeat() {
        let one = skip_counts(0.5, 7, 3, 0);
        assert_eq!(one, skip_counts(0.5, 7, 3, 0));
        for other in [skip_counts(0.5, 8, 3, 0), skip_counts(0.5, 7, 4, 0), skip_counts(0.5, 7, 3, 1)] {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn the_share_of_candidates_dropped_is_alpha() {
        for alpha in [0.05, 0.3, 0.9] {
            let skip_count: usize = (0..100).flat_map(|row| skip_counts(alpha, 1, row, 0)).sum();
            let share = skip_count as f64 / (skip_count + 100_000) as f64;
            assert!((share - alpha).abs() < 0.005, "{share} of {alpha}");
        }
        assert!(skip_counts(0.0, 1, 0, 0).iter().all(|&skip_count| skip_count == 0));
        assert!(skip_counts(1.0, 1, 0, 0).iter().all(|&skip_count| skip_count == usize::MAX));
    }
}
