//! Segmentations compared with plain enumeration. tests/differential compares lists and the order of ties with
//! `sentencepiece`.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::model::pieces::test_models::{compiled, spec, unigram, NORMAL};
use crate::model::sampling::chi_square::{agrees, counted};
use crate::model::unigram::nbest::{BestBackpointers, BestPaths, Path};
use crate::model::unigram::segmentations::Segmentations;
use crate::model::{Sampling, TokenSpan};
use crate::spec::{PieceType, ScoredPiece, SentencePieceKind};

type Enumerated = Vec<(Vec<TokenSpan>, f64)>;

const DEFINED: PieceType = PieceType::UserDefined;
const UNUSED: PieceType = PieceType::Unused;

fn small() -> SentencePieceSpec {
    let pieces = [("a", -1.0), ("b", -1.5), ("ab", -1.25), ("ba", -2.0), ("aba", -2.5)];
    let mut all: Vec<_> = pieces.iter().map(|&(text, score)| (text, score, NORMAL)).collect();
    all.extend([("\u{e9}\u{e8}", 0.0, DEFINED), ("bab", 5.0, UNUSED)]);
    spec(SentencePieceKind::Unigram, &all)
}

/// Return the scores of pieces in listed segmentations.
fn score(piece: &ScoredPiece) -> f64 {
    match piece.kind {
        DEFINED => f64::from((0.1 * (piece.text.chars().count() as f64 - 1.0)) as f32),
        _ => f64::from(piece.score),
    }
}

/// Return every path through a text from byte `start` on.
fn enumerated(spec: &SentencePieceSpec, text: &str, start: usize) -> Enumerated {
    let Some(c) = text[start..].chars().next() else { return vec![(Vec::new(), 0.0)] };
    let normal = spec.pieces.iter().filter(|piece| piece.kind == NORMAL);
    let lowest = normal.fold(f32::MAX, |low, piece| low.min(piece.score));
    let mut steps: Vec<(u32, usize, f64)> = (0..)
        .zip(&spec.pieces)
        .filter(|(_, piece)| {
            matches!(piece.kind, NORMAL | DEFINED) && text[start..].starts_with(&piece.text)
        })
        .map(|(id, piece)| (id, piece.text.len(), score(piece)))
        .collect();
    if steps.iter().all(|&(_, len, _)| len != c.len_utf8()) {
        steps.push((0, c.len_utf8(), f64::from(lowest - 10.0)));
    }
    let mut paths = Vec::new();
    for (id, len, score) in steps {
        for (rest, of_rest) in enumerated(spec, text, start + len) {
            let first = TokenSpan { id, start: start as u32, end: (start + len) as u32 };
            paths.push(([vec![first], rest].concat(), score + of_rest));
        }
    }
    paths
}

fn name(pieces: &[TokenSpan]) -> String {
    format!("{pieces:?}")
}

fn sampling(alpha: f64, seed: u64) -> Sampling {
    Sampling { alpha, nbest: None, seed, row: 0 }
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-5 * (1.0 + one.abs().max(other.abs()))
}

/// Pieces of all kinds, many with equal scores.
fn any_spec() -> impl Strategy<Value = SentencePieceSpec> {
    let kind = prop_oneof![4 => Just(NORMAL), 1 => Just(DEFINED), 1 => Just(UNUSED)];
    prop::collection::btree_map("[ab\u{e9}]{1,3}", (-8i8..0, kind), 1..10).prop_map(|pieces| {
        let given =
            pieces.iter().map(|(text, (score, kind))| (text.as_str(), f32::from(*score) / 2.0, *kind));
        let always = ("c", -3.0, NORMAL);
        spec(SentencePieceKind::Unigram, &given.chain([always]).collect::<Vec<_>>())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn all_segmentations_are_those_of_enumeration(
        spec in any_spec(),
        text in "[abc\u{e9}\u{e8}]{1,8}",
        n in 2usize..40,
        alpha in 0.0..3.0,
    ) {
        let model = unigram(&spec);
        let mut expected = enumerated(&spec, &text, 0);
        expected.sort_by(|one, other| other.1.total_cmp(&one.1));
        let words = [text.as_str()];
        let all = model.segmentations(&words);

        let found = all.best(n).unwrap();
        prop_assert_eq!(found.len(), n.min(expected.len()));
        let by_path: BTreeMap<String, f64> =
            expected.iter().map(|(path, score)| (name(path), *score)).collect();
        let distinct: BTreeSet<String> = found.iter().map(|path| name(&path.tokens)).collect();
        prop_assert_eq!(distinct.len(), found.len());
        for (path, (_, score)) in found.iter().zip(&expected) {
            prop_assert!(near(path.score, *score), "{} for {}", path.score, score);
            prop_assert!(near(by_path[&name(&path.tokens)], path.score));
        }

        let total: f64 = expected.iter().map(|&(_, score)| f64::exp(alpha * score)).sum();
        prop_assert!((all.log_sum(alpha) - total.ln()).abs() < 1e-9);
        let of_path = |score: f64| {
            let log_share: f64 = alpha * score - total.ln();
            -log_share.exp() * log_share
        };
        let entropy: f64 = expected.iter().map(|&(_, score)| of_path(score)).sum();
        prop_assert!((all.entropy(alpha) - entropy).abs() < 1e-9);
    }

    #[test]
    fn the_best_segmentation_is_that_of_the_model(spec in any_spec(), text in "[abc\u{e9}\u{e8}]{1,12}") {
        let model = unigram(&spec);
        let (mut expected, mut written): (Vec<TokenSpan>, Vec<TokenSpan>) = Default::default();
        model.run(&text, &mut UnigramF32Scratch::default(), None, &mut expected);
        let best = model.segmentations(&[&text]).best(1).unwrap().swap_remove(0);
        model.pieces.push_tokens(&text, &best.tokens, &mut written);
        prop_assert_eq!(written, expected);
        let by_ids: f64 = best.tokens.iter().filter_map(|piece| model.score_of(piece.id)).sum();
        prop_assert!(near(by_ids, best.score));
    }
}

fn counts_of(model: &UnigramF32, text: &str, alpha: f64) -> BTreeMap<String, u32> {
    let all = model.segmentations(&[text]);
    let sampled = (0..100).flat_map(|block| {
        let sampling = Sampling { row: block * 1000, ..sampling(alpha, 23) };
        all.sample(1000, sampling).unwrap()
    });
    counted(sampled.map(|path| name(&path.tokens)))
}

#[test]
fn segmentations_are_sampled_with_their_probabilities() {
    let spec = small();
    let model = unigram(&spec);
    for (text, alpha) in [
        ("ababa", 0.0),
        ("ababa", 0.3),
        ("aba", 2.0),
        ("a\u{e9}\u{e8}b", 0.1),
        ("xab\u{e9}", 0.5),
        ("babab", 1.0),
    ] {
        let paths = enumerated(&spec, text, 0);
        let total: f64 = paths.iter().map(|(_, score)| (alpha * score).exp()).sum();
        let share = |(path, score): &(Vec<TokenSpan>, f64)| (name(path), (alpha * score).exp() / total);
        let expected: BTreeMap<String, f64> = paths.iter().map(share).collect();
        let counts = counts_of(&model, text, alpha);
        assert!(agrees(&counts, &expected), "{text:?} at {alpha}: {counts:?} for {expected:?}");
        let mut wrong = expected;
        *wrong.values_mut().next().unwrap() *= 1.2;
        assert!(!agrees(&counts, &wrong));
    }
}

#[test]
fn samples_without_replacement_have_their_probabilities() {
    let (spec, text, alpha) = (small(), "ab\u{e9}", 0.8);
    let model = unigram(&spec);
    let paths = enumerated(&spec, text, 0);
    let total: f64 = paths.iter().map(|(_, score)| (alpha * score).exp()).sum();
    let shares = paths.iter().map(|(path, score)| (name(path), (alpha * score).exp() / total));
    let shares: Vec<(String, f64)> = shares.collect();
    let mut expected = BTreeMap::new();
    for (first, share) in &shares {
        for (second, other) in shares.iter().filter(|(second, _)| second != first) {
            expected.insert(format!("{first} {second}"), share * other / (1.0 - share));
        }
    }
    let all = model.segmentations(&[text]);
    let sampled = (0..100_000).map(|row| {
        let two = all.sample_without_replacement(2, Sampling { row, ..sampling(alpha, 3) }, false).unwrap();
        format!("{} {}", name(&two[0].path.tokens), name(&two[1].path.tokens))
    });
    assert!(agrees(&counted(sampled), &expected));
}

#[test]
fn a_sampled_text_equals_its_sampled_segmentation() {
    let model = unigram(&small());
    let (text, sampling) = ("ababx\u{e9}\u{e8}a", sampling(0.2, 9));
    let sampled = model.segmentations(&[text]).sample(50, sampling).unwrap();
    for (row, path) in sampled.into_iter().enumerate() {
        let mut rng = sampling.at_row(row).rng(0);
        let (mut found, mut written): (Vec<TokenSpan>, Vec<TokenSpan>) = Default::default();
        model.run(text, &mut UnigramF32Scratch::default(), Some(&mut rng), &mut found);
        model.pieces.push_tokens(text, &path.tokens, &mut written);
        assert_eq!(found, written);
    }
}

#[test]
fn unknown_characters_of_a_segmentation_become_byte_tokens() {
    let mut spec = small();
    spec.byte_fallback = true;
    let byte = |byte| ScoredPiece { text: format!("<0x{byte:02X}>"), score: 0.0, kind: PieceType::Byte };
    spec.pieces.extend((0..=255).map(byte));
    let (model, vocab) = (unigram(&spec), compiled(&spec).1);
    let best = model.segmentations(&["x\u{e9}a"]).best(9).unwrap();
    assert_eq!(best.len(), 1);
    let mut ids: Vec<u32> = Vec::new();
    model.pieces.push_tokens("x\u{e9}a", &best[0].tokens, &mut ids);
    let tokens: Vec<&str> = ids.iter().map(|&id| vocab.token_of(id).unwrap()).collect();
    assert_eq!(tokens, ["<0x78>", "<0xC3>", "<0xA9>", "a"]);
    let by_ids: f64 = ids.iter().filter_map(|&id| model.score_of(id)).sum();
    assert_eq!(by_ids, best[0].score);
}

/// Long texts whose agenda is pruned, and whose search fails.
#[test]
fn pruning_the_agenda_loses_no_wanted_path() {
    let model = unigram(&small());
    for (times, n) in [(60, 512), (600, 64), (2000, 512), (3, 1024)] {
        let text = "abx".repeat(times);
        let words = [text.as_str()];
        let lattices: Vec<PieceLattice<'_>> = vec![model.lattice(&text, Vec::new())];
        let exact: Vec<Path> = BestPaths::best(&BestBackpointers::of(&lattices), &lattices, n);
        let found = model.segmentations(&words).best(n).unwrap();
        assert_eq!(found.len(), exact.len());
        let distinct: BTreeSet<String> = found.iter().map(|path| name(&path.tokens)).collect();
        assert_eq!(distinct.len(), found.len());
        for (one, other) in found.iter().zip(&exact) {
            assert!(near(one.score, other.score), "{} for {}", one.score, other.score);
        }
    }
}
