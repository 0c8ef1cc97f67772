//! Sums over lattices against sums of logarithms, however small the probabilities get.

use proptest::prelude::*;

use super::super::piece_set::{PieceLink, PieceSet};
use super::super::text_lattice::{LatticeScratch, TextLattice};
use super::seeds::seeded;
use super::small;

/// Return the sum over all segmentations in logarithms, which cannot underflow.
fn log_sum(text: &str, names: &[String], pieces: &PieceSet) -> f64 {
    let mut sums = vec![f64::NEG_INFINITY; text.len() + 1];
    sums[0] = 0.0;
    for start in 0..text.len() {
        for (name, link) in
            names.iter().zip(&pieces.links).filter(|(name, _)| text[start..].starts_with(name.as_str()))
        {
            let (sum, more) = (sums[start + name.len()], sums[start] + link.value);
            let greater = sum.max(more);
            sums[start + name.len()] = greater + ((sum - greater).exp() + (more - greater).exp()).ln();
        }
    }
    sums[text.len()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn long_runs_of_unlikely_pieces_are_summed_exactly(
        word in "[abc]{1,12}|[ab]{200,900}",
        penalty in prop_oneof![Just(0.0), 0.0_f64..30.0],
    ) {
        let (corpus, mut pieces) = seeded(&[(word.clone(), 2)], &small(1000));
        pieces.retain(|piece| piece % 3 != 2 || piece < 9);
        pieces.links.iter_mut().for_each(|link| link.value -= penalty);
        let names: Vec<String> = (0..pieces.len()).map(|piece| pieces.name(&corpus, piece)).collect();
        let expected_log = log_sum(&word, &names, &pieces);
        prop_assume!(expected_log.is_finite());

        let probable = |link: &PieceLink| PieceLink { value: link.value.exp(), ..*link };
        let links: Vec<PieceLink> = pieces.links.iter().map(probable).collect();
        let lattice = TextLattice::new(&pieces, &links, 0.0, 0..word.len());
        let one = f64::from(40).exp2();
        let mut counts = vec![0; pieces.len()];
        let log = lattice.expect(one, &mut LatticeScratch::default(), &mut counts);
        prop_assert!((log - expected_log).abs() <= 1e-9 * expected_log.abs().max(1.0));
        let covered: f64 = counts.iter().zip(&names).map(|(&count, name)| count as f64 * name.len() as f64).sum();
        prop_assert!((covered / one - word.len() as f64).abs() < 1e-6, "every character is covered once");
    }
}
