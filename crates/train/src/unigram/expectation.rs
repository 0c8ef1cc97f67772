//! The E-step: expected counts of all pieces over all segmentations; and the M-step: scores from counts.
//!
//! The M-step uses digammas instead of logarithms, as SentencePiece does: a sparse prior of variational Bayes
//! (Liang and Klein 2007), which lowers the scores of rare pieces.

use super::piece_set::{PieceLink, PieceSet};
use super::segment_text::SegmentText;
use super::text_lattice::{LatticeScratch, TextLattice};
use crate::thread_team::{total, ThreadTeam};
use piecework_core::error::Error;

/// Pieces with a lower expected count are removed.
const THRESHOLD: f64 = 0.5;

/// Expected counts by piece, in units of `1 / SegmentText::one`.
pub(super) struct ExpectedCounts {
    pub(super) counts: Vec<u64>,
    pub(super) one: f64,
    pub(super) log_likelihood: f64,
}

/// The sums of one thread.
struct ThreadSums {
    scratch: LatticeScratch,
    counts: Vec<u64>,
    /// The log-likelihood of each part, with the number of the part.
    log_likelihoods: Vec<(usize, f64)>,
}

/// Run the E-step over all segments; the result does not depend on the order in which parts are done.
pub(super) fn expect(
    pieces: &PieceSet,
    corpus: &SegmentText,
    team: &mut ThreadTeam<'_, '_>,
) -> Result<ExpectedCounts, Error> {
    let probable = |link: &PieceLink| PieceLink { value: link.value.exp(), ..*link };
    let links: Vec<PieceLink> = pieces.links.iter().map(probable).collect();
    let unknown = pieces.unknown_score().exp();
    let new_state = || ThreadSums {
        scratch: LatticeScratch::default(),
        counts: vec![0; pieces.len()],
        log_likelihoods: Vec::new(),
    };
    let sums = team.run(corpus.len(), new_state, |sums, part, segments| {
        let mut log_likelihood = 0.0;
        for segment in corpus.segments(segments) {
            let lattice = TextLattice::new(pieces, &links, unknown, segment.range);
            let weight = segment.weight * corpus.one;
            let logarithm = lattice.expect(weight, &mut sums.scratch, &mut sums.counts);
            log_likelihood += segment.count as f64 * logarithm;
        }
        sums.log_likelihoods.push((part, log_likelihood));
    })?;
    Ok(combined(sums, corpus.one))
}

fn combined(sums: Vec<ThreadSums>, one: f64) -> ExpectedCounts {
    let mut parts: Vec<(usize, f64)> =
        sums.iter().flat_map(|sums| sums.log_likelihoods.iter().copied()).collect();
    parts.sort_unstable_by_key(|&(part, _)| part);
    let log_likelihood = parts.iter().map(|&(_, log_likelihood)| log_likelihood).sum();
    let counts = total(sums.into_iter().map(|sums| sums.counts));
    ExpectedCounts { counts, one, log_likelihood }
}

/// Run the M-step: remove pieces with low expected counts, but keep at least `wanted`, and set the scores.
pub(super) fn maximize(pieces: &mut PieceSet, expected: &ExpectedCounts, wanted: usize) {
    let counts = &expected.counts;
    let cutoff = lowest_kept(counts, (THRESHOLD * expected.one).ceil() as u64, wanted);
    let kept: Vec<bool> =
        counts.iter().enumerate().map(|(piece, &count)| cutoff.keeps(piece, count)).collect();
    let of_kept = || counts.iter().zip(&kept).filter(|(_, &kept)| kept).map(|(&count, _)| count);
    let total = of_kept().map(u128::from).sum::<u128>() as f64 / expected.one;
    let log_total = digamma(total.max(THRESHOLD));
    let scores = of_kept().map(|count| digamma((count as f64 / expected.one).max(THRESHOLD)) - log_total);
    let scores: Vec<f64> = scores.collect();
    if scores.len() < pieces.len() {
        pieces.retain(|piece| kept[piece]);
    }
    pieces.links.iter_mut().zip(scores).for_each(|(link, score)| link.value = score);
}

/// The condition for keeping a piece: a greater count, or an equal count and a number below `before`.
struct CountCutoff {
    count: u64,
    before: usize,
}

impl CountCutoff {
    fn keeps(&self, piece: usize, count: u64) -> bool {
        count > self.count || (count == self.count && piece < self.before)
    }
}

/// Return the cutoff at a threshold, lowered if fewer than `wanted` pieces would be left; of equal pieces, the first
/// are kept.
fn lowest_kept(counts: &[u64], threshold: u64, wanted: usize) -> CountCutoff {
    let enough = counts.iter().filter(|&&count| count >= threshold).count() >= wanted;
    if enough || counts.len() <= wanted {
        return CountCutoff { count: if enough { threshold } else { 0 }, before: usize::MAX };
    }
    let mut order: Vec<usize> = (0..counts.len()).collect();
    let rank = |&piece: &usize| (std::cmp::Reverse(counts[piece]), piece);
    let (_, &mut last, _) = order.select_nth_unstable_by_key(wanted - 1, rank);
    CountCutoff { count: counts[last], before: last + 1 }
}

/// Return the derivative of the logarithm of the gamma function, for positive arguments (Bernardo 1976, AS 103).
fn digamma(mut x: f64) -> f64 {
    let mut result = 0.0;
    while x < 10.0 {
        result -= 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = square * (1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square / 240.0)));
    result + x.ln() - 0.5 / x - series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digamma_has_its_published_values() {
        let euler = 0.577_215_664_901_532_9;
        for (x, expected) in [
            (1.0, -euler),
            (0.5, -euler - 2.0 * std::f64::consts::LN_2),
            (2.0, 1.0 - euler),
            (100.0, 4.600_161_852_738_087),
        ] {
            assert!((digamma(x) - expected).abs() < 1e-11, "{x}: {} is not {expected}", digamma(x));
        }
    }
}
