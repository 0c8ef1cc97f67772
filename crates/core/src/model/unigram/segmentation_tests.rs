//! Segmentations compared with plain enumeration.

use std::collections::BTreeMap;

use super::*;
use crate::model::sampling::chi_square::{agrees, counted};
use crate::model::Sampling;
use proptest::prelude::*;

type Enumerated = Vec<(Vec<TokenSpan>, f64)>;

fn compiled(pieces: &[(String, f64)]) -> Unigram {
    let mut vocab = vec![("<unk>".to_string(), -1.0)];
    vocab.extend_from_slice(pieces);
    let numbered: Vec<_> = vocab.iter().zip(0..).map(|((token, _), id)| (token.clone(), id)).collect();
    let spec = UnigramSpec { vocab, unk_id: Some(0), byte_fallback: false };
    Unigram::compile(
        &spec,
        &Vocab::compile(&numbered).unwrap(),
        &TableSections::default(),
        &HashSet::default(),
    )
    .unwrap()
}

fn small() -> Unigram {
    let pieces = [("a", -1.0), ("b", -1.5), ("ab", -1.25), ("ba", -2.0), ("aba", -2.5)];
    compiled(&pieces.map(|(token, score)| (token.to_string(), score)))
}

/// Return every path through a word from byte `start` on.
fn enumerated(pieces: &[(String, f64)], word: &str, start: usize) -> Enumerated {
    let Some(c) = word[start..].chars().next() else { return vec![(Vec::new(), 0.0)] };
    let lowest = pieces.iter().fold(-1.0, |low: f64, (_, score)| low.min(*score));
    let mut steps: Vec<(u32, usize, f64)> = (1..)
        .zip(pieces)
        .filter(|(_, (token, _))| word[start..].starts_with(token.as_str()))
        .map(|(id, (token, score))| (id, token.len(), *score))
        .collect();
    if steps.iter().all(|&(_, len, _)| len != c.len_utf8()) {
        steps.push((0, c.len_utf8(), lowest - 10.0));
    }
    let mut paths = Vec::new();
    for (id, len, score) in steps {
        for (rest, of_rest) in enumerated(pieces, word, start + len) {
            let first = TokenSpan { id, start: start as u32, end: (start + len) as u32 };
            paths.push(([vec![first], rest].concat(), score + of_rest));
        }
    }
    paths
}

/// Return every path through words, the best first.
fn enumerated_text(pieces: &[(String, f64)], words: &[&str]) -> Enumerated {
    let mut paths: Enumerated = vec![(Vec::new(), 0.0)];
    for word in words {
        let of_word = enumerated(pieces, word, 0);
        let with = |(before, score): &(Vec<TokenSpan>, f64)| -> Enumerated {
            of_word.iter().map(|(path, more)| ([&before[..], path].concat(), score + more)).collect()
        };
        paths = paths.iter().flat_map(with).collect();
    }
    paths.sort_by(|a, b| b.1.total_cmp(&a.1));
    paths
}

fn sampling(alpha: f64, seed: u64) -> Sampling {
    Sampling { alpha, nbest: None, seed, row: 0 }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn all_segmentations_are_those_of_enumeration(
        tokens in prop::collection::btree_map("[abé]{1,3}", -8i8..0, 0..10),
        words in prop::collection::vec("[abéè]{1,5}", 0..4),
        n in 1usize..40,
        alpha in 0.0..3.0,
    ) {
        let pieces: Vec<_> = tokens.into_iter().map(|(token, score)| (token, f64::from(score) / 2.0)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let model = compiled(&pieces);
        let expected = enumerated_text(&pieces, &words);
        let all = model.segmentations(&words).unwrap();

        let found = all.best(n).unwrap();
        prop_assert_eq!(found.len(), n.min(expected.len()));
        let by_path: BTreeMap<String, f64> =
            expected.iter().map(|(path, score)| (format!("{path:?}"), *score)).collect();
        let distinct: BTreeMap<String, f64> =
            found.iter().map(|path| (format!("{:?}", path.tokens), path.score)).collect();
        prop_assert_eq!(distinct.len(), found.len());
        for (path, (_, score)) in found.iter().zip(&expected) {
            prop_assert!(close(path.score, *score), "{} for {}", path.score, score);
            let name = format!("{:?}", path.tokens);
            prop_assert!(close(by_path[&name], path.score), "{}", name);
        }

        let total: f64 = expected.iter().map(|&(_, score)| f64::exp(alpha * score)).sum();
        prop_assert!(close(all.log_sum(alpha), total.ln()));
        let of_path = |score: f64| {
            let log_share: f64 = alpha * score - total.ln();
            -log_share.exp() * log_share
        };
        let entropy: f64 = expected.iter().map(|&(_, score)| of_path(score)).sum();
        prop_assert!((all.entropy(alpha) - entropy).abs() < 1e-9);
    }

    #[test]
    fn the_best_segmentation_is_that_of_the_model(
        tokens in prop::collection::btree_map("[abé]{1,3}", -4i8..0, 0..10),
        words in prop::collection::vec("[abéè]{1,9}", 1..4),
    ) {
        let pieces: Vec<_> = tokens.into_iter().map(|(token, score)| (token, f64::from(score) / 2.0)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let model = compiled(&pieces);
        let best = model.segmentations(&words).unwrap().best(3).unwrap().swap_remove(0);
        let mut memory = UnigramScratch::default();
        let mut expected = Vec::new();
        for word in &words {
            expected.extend_from_slice(model.find_best(word, &mut memory).unwrap());
        }
        prop_assert_eq!(best.tokens, expected);
    }

    #[test]
    fn samples_without_replacement_are_all_segmentations(
        words in prop::collection::vec("[abè]{1,4}", 1..3),
        seed: u64,
        alpha in 0.0..3.0,
        include_best: bool,
    ) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let model = small();
        let all = model.segmentations(&words).unwrap();
        let best = all.best(1000).unwrap();
        let sampled = all.sample_without_replacement(best.len() + 3, sampling(alpha, seed), include_best).unwrap();
        let sorted = |paths: Vec<String>| {
            let mut paths = paths;
            paths.sort();
            paths
        };
        let names = sorted(sampled.iter().map(|found| format!("{:?}", found.path.tokens)).collect());
        prop_assert_eq!(names, sorted(best.iter().map(|path| format!("{:?}", path.tokens)).collect()));
        prop_assert!(sampled.iter().all(|found| found.log_inclusion == 0.0));
        if include_best {
            prop_assert_eq!(&sampled[0].path.tokens, &best[0].tokens);
        }
    }
}

fn shares(model: &Unigram, words: &[&str], alpha: f64) -> Vec<(String, f64)> {
    let all = model.segmentations(words).unwrap();
    let sum = all.log_sum(alpha);
    let share = |path: Path| (format!("{:?}", path.tokens), (alpha * path.score - sum).exp());
    all.best(1000).unwrap().into_iter().map(share).collect()
}

#[test]
fn segmentations_are_sampled_with_their_probabilities() {
    let model = small();
    for (words, alpha) in [
        (&["ababa"][..], 0.0),
        (&["ababa"], 0.3),
        (&["ababa"], 1.0),
        (&["ab", "aba"], 0.5),
        (&["aba"], 2.0),
    ] {
        let expected: BTreeMap<_, _> = shares(&model, words, alpha).into_iter().collect();
        let all = model.segmentations(words).unwrap();
        let sampled = (0..100).flat_map(|block| {
            let sampling = Sampling { row: block * 1000, ..sampling(alpha, 17) };
            all.sample(1000, sampling).unwrap()
        });
        let counts = counted(sampled.map(|path| format!("{:?}", path.tokens)));
        assert_eq!(counts.values().sum::<u32>(), 100_000);
        assert!(agrees(&counts, &expected), "{words:?} at {alpha}: {counts:?} for {expected:?}");
        let mut wrong = expected;
        *wrong.values_mut().next().unwrap() *= 1.2;
        assert!(!agrees(&counts, &wrong));
    }
}

#[test]
fn samples_without_replacement_have_their_probabilities() {
    let (model, words, alpha) = (small(), ["aba"], 0.8);
    let shares = shares(&model, &words, alpha);
    let mut expected = BTreeMap::new();
    for (first, share) in &shares {
        for (second, other) in shares.iter().filter(|(second, _)| second != first) {
            expected.insert(format!("{first} {second}"), share * other / (1.0 - share));
        }
    }
    let all = model.segmentations(&words).unwrap();
    let sampled = (0..100_000).map(|row| {
        let sampling = Sampling { row, ..sampling(alpha, 3) };
        let two = all.sample_without_replacement(2, sampling, false).unwrap();
        format!("{:?} {:?}", two[0].path.tokens, two[1].path.tokens)
    });
    let counts = counted(sampled);
    assert!(agrees(&counts, &expected), "{counts:?} for {expected:?}");
}

#[test]
fn inclusion_probabilities_make_sums_unbiased() {
    let (model, words, alpha) = (small(), ["ababa"], 0.8);
    let shares: BTreeMap<_, _> = shares(&model, &words, alpha).into_iter().collect();
    let all = model.segmentations(&words).unwrap();
    for include_best in [false, true] {
        let mut sum = 0.0;
        for row in 0..20_000 {
            let sampling = Sampling { row, ..sampling(alpha, 5) };
            for found in all.sample_without_replacement(3, sampling, include_best).unwrap() {
                sum += shares[&format!("{:?}", found.path.tokens)] / found.log_inclusion.exp();
            }
        }
        assert!((sum / 20_000.0 - 1.0).abs() < 0.01, "{sum}");
    }
}

#[test]
fn sampling_word_by_word_samples_the_text() {
    let model = small();
    let all = model.segmentations(&["abab", "ba"]).unwrap();
    let sampling = sampling(0.4, 9);
    for (row, path) in all.sample(50, sampling).unwrap().into_iter().enumerate() {
        let (mut memory, mut rng) = (UnigramScratch::default(), sampling.at_row(row).rng(0));
        let mut expected = Vec::new();
        for word in ["abab", "ba"] {
            expected.extend_from_slice(model.sample(word, &mut rng, &mut memory).unwrap());
        }
        assert_eq!(path.tokens, expected);
    }
}

#[test]
fn listed_segmentations_are_bounded() {
    let (model, long) = (small(), "ab".repeat(1 << 13));
    let words = [long.as_str()];
    let all = model.segmentations(&words).unwrap();
    assert_eq!(all.best(1025).unwrap_err().place, "n");
    assert_eq!(all.best(513).unwrap_err().expected, "at most 512 for this text");
    let best = all.best(512).unwrap();
    assert!(best.windows(2).all(|two| two[0].score >= two[1].score));
    assert_eq!(all.sample_without_replacement(20, sampling(1.0, 1), true).unwrap().len(), 20);
}

#[test]
fn extreme_scores_do_not_overflow() {
    let pieces = [("a", -1e308), ("b", 1e308), ("ab", 1e308), ("ba", -1e308)];
    let model = compiled(&pieces.map(|(token, score)| (token.to_string(), score)));
    let all = model.segmentations(&["ababab", "bbbb"]).unwrap();
    assert!(!all.best(5).unwrap().is_empty());
    for alpha in [0.0, 1.0, 1e300] {
        assert_eq!(all.sample(5, sampling(alpha, 1)).unwrap().len(), 5);
        assert!(all.sample_without_replacement(5, sampling(alpha, 1), false).unwrap().len() <= 5);
        all.entropy(alpha);
    }
}
