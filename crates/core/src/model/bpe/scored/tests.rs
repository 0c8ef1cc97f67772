use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::model::pieces::test_models::{
    any_pieces, compiled, random_spec, scored_bpe, segmented, spec, texts, NORMAL, SPACE,
};
use crate::model::sampling::chi_square::{agrees, counted};
use crate::model::{part_end, Model, Sampling, TokenSpan};
use crate::spec::SentencePieceKind;

#[test]
fn bpe_merges_by_score_and_splits_unused_pieces() {
    let mut spec = spec(
        SentencePieceKind::Bpe,
        &[
            ("a", -9.0, NORMAL),
            ("b", -9.0, NORMAL),
            ("c", -9.0, NORMAL),
            ("ab", -0.0, NORMAL),
            ("abc", -1.0, NORMAL),
        ],
    );
    assert_eq!(texts(&spec, "abcc"), ["abc", "c"]);
    spec.pieces[5].kind = PieceType::Unused;
    assert_eq!(texts(&spec, "abcc"), ["ab", "c", "c"]);
}

/// The definition with unused pieces: the leftmost of the best pairs merges, and an unused piece splits where the pair of
/// it that was found last did.
struct NaiveMerges<'a> {
    spec: &'a SentencePieceSpec,
    text: &'a str,
    left_lengths: BTreeMap<&'a str, usize>,
}

impl<'a> NaiveMerges<'a> {
    fn ids(spec: &'a SentencePieceSpec, text: &'a str) -> Vec<u32> {
        let mut merges = Self { spec, text, left_lengths: BTreeMap::new() };
        let mut ends: Vec<usize> = text.char_indices().map(|(at, c)| at + c.len_utf8()).collect();
        ends.insert(0, 0);
        (1..ends.len() - 1).for_each(|at| merges.record(&ends, at));
        loop {
            let scored = (1..ends.len() - 1).filter_map(|at| Some((merges.score_of(&ends, at)?, at)));
            let Some((_, at)) = scored.reduce(|best, next| if next.0 > best.0 { next } else { best })
            else {
                break;
            };
            ends.remove(at);
            [at - 1, at].into_iter().for_each(|at| merges.record(&ends, at));
        }
        let mut ids = Vec::new();
        ends.windows(2).for_each(|ends| merges.split(&text[ends[0]..ends[1]], &mut ids));
        ids
    }

    /// Record where the pair of symbols splits that an end is between, if a piece has their text.
    fn record(&mut self, ends: &[usize], at: usize) {
        if self.score_of(ends, at).is_some() {
            self.left_lengths.insert(&self.text[ends[at - 1]..ends[at + 1]], ends[at] - ends[at - 1]);
        }
    }

    fn score_of(&self, ends: &[usize], at: usize) -> Option<f32> {
        let start = *ends.get(at.checked_sub(1)?)?;
        let merged = &self.text[start..*ends.get(at + 1)?];
        self.spec.pieces.iter().find(|piece| piece.text == merged).map(|piece| piece.score)
    }

    /// Append the ids of a symbol.
    fn split(&self, symbol: &str, ids: &mut Vec<u32>) {
        let (id, piece) = (0..).zip(&self.spec.pieces).find(|(_, piece)| piece.text == symbol).unwrap();
        if piece.kind != PieceType::Unused {
            return ids.push(id);
        }
        let (left, right) = symbol.split_at(self.left_lengths[symbol]);
        self.split(left, ids);
        self.split(right, ids);
    }
}

/// Return the tokens of a text by the heap alone.
fn merged_by_heap(spec: &SentencePieceSpec, text: &str) -> Vec<TokenSpan> {
    let (model, vocab) = scored_bpe(spec);
    let mut out = Vec::new();
    let mut writer = model.pieces.writer(text, &mut out);
    model.merge_all((text, 0), &vocab, &mut ScoredBpeScratch::default(), None, &mut writer);
    writer.finish();
    out
}

/// Return the ids of a text that is segmented part by part.
fn segmented_in_parts(spec: &SentencePieceSpec, text: &str) -> Vec<u32> {
    let (model, vocab) = scored_bpe(spec);
    let (mut scratch, mut ids, mut start) = (ScoredBpeScratch::default(), Vec::new(), 0);
    assert!(model.pieces.splits());
    while start < text.len() {
        let end = part_end(text, start);
        model.run(&text[start..end], &vocab, &mut scratch, None, &mut ids);
        start = end;
    }
    ids
}

proptest! {
    #[test]
    fn parts_have_the_tokens_of_the_text(
        pieces in any_pieces(),
        text in "([ab\u{e9}x]{0,4}\u{2581}){0,300}[ab]{0,20}",
    ) {
        let spec = random_spec(SentencePieceKind::Bpe, pieces);
        let expected: Vec<u32> = segmented(&spec, &text).iter().map(|token| token.id).collect();
        prop_assert_eq!(segmented_in_parts(&spec, &text), expected);
    }

    #[test]
    fn backtracking_equals_merging_by_heap(
        texts in prop::collection::vec("[ab\u{e9}]{2,4}|\u{2581}[ab]{0,3}|\u{2581}{2,5}|[abd]{2}", 1..16),
        chars in "[ab\u{e9}\u{2581}]{1,4}",
        fixed in prop::collection::vec("[ab]{1,3}", 0..2),
        runs in prop::collection::btree_set(2..9usize, 0..5),
        text in "([abd\u{e9}x]{0,6}\u{2581}{0,20}){0,12}",
        (seed, ties) in (any::<u32>(), prop::sample::select(vec![1, 1, 3])),
    ) {
        let mut spec = spec(SentencePieceKind::Bpe, &[]);
        let mut add = |text: String, score: f32, kind| {
            if spec.pieces.iter().all(|piece| piece.text != text) {
                spec.pieces.push(ScoredPiece { text, score, kind });
            }
        };
        fixed.into_iter().for_each(|text| add(text, 0.0, PieceType::UserDefined));
        runs.into_iter().for_each(|length| add(SPACE.repeat(length), -1e9, NORMAL));
        // Shorter texts mostly score more; scores are all different or not.
        for (at, text) in (1u32..).zip(texts) {
            let shift = seed.rotate_left(at) % 7;
            let score = text.chars().count() as f32 * 100.0 + (shift / 6 * 150 + at / ties) as f32;
            add(text, -score, NORMAL);
        }
        chars.chars().for_each(|c| add(c.into(), -5000.0, NORMAL));
        prop_assert_eq!(segmented(&spec, &text), merged_by_heap(&spec, &text));
    }

    #[test]
    fn unused_pieces_split_where_their_last_pair_did(
        pieces in prop::collection::btree_map("[ab\u{e9}]{2,4}", any::<bool>(), 1..16),
        seed in 0..7usize,
        text in "[ab\u{e9}]{0,16}",
    ) {
        let mut spec = spec(SentencePieceKind::Bpe, &["a", "b", "\u{e9}"].map(|c| (c, -100.0, NORMAL)));
        for (at, (text, is_unused)) in pieces.into_iter().enumerate() {
            let kind = if is_unused { PieceType::Unused } else { NORMAL };
            let score = -(text.chars().count() as f32) - (at * (seed + 1) % 17) as f32 / 4.0;
            spec.pieces.push(ScoredPiece { text, score, kind });
        }
        let ids: Vec<u32> = segmented(&spec, &text).iter().map(|token| token.id).collect();
        prop_assert_eq!(ids, NaiveMerges::ids(&spec, &text));
    }

    #[test]
    fn short_texts_equal_merging_by_heap(
        pieces in any_pieces(),
        text in "[ab\u{e9}x\u{2581}]{0,30}",
    ) {
        let spec = random_spec(SentencePieceKind::Bpe, pieces);
        prop_assert_eq!(segmented(&spec, &text), merged_by_heap(&spec, &text));
    }
}

/// Every outcome of BPE-dropout with its probability.
fn dropped(
    spec: &SentencePieceSpec,
    text: &str,
    ends: &[usize],
    gone: &BTreeSet<[usize; 3]>,
    (alpha, share): (f64, f64),
    outcomes: &mut BTreeMap<String, f64>,
) {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let pairs = starts.zip(ends.windows(2)).map(|(start, two)| [start, two[0], two[1]]);
    let scored = pairs.filter(|pair| !gone.contains(pair)).filter_map(|pair| {
        let found = spec.pieces.iter().find(|piece| piece.text == text[pair[0]..pair[2]])?;
        Some((found.score, pair))
    });
    // The leftmost of the best.
    let Some((_, pair)) = scored.reduce(|best, next| if next.0 > best.0 { next } else { best }) else {
        *outcomes.entry(format!("{ends:?}")).or_default() += share;
        return;
    };
    let merged: Vec<usize> = ends.iter().copied().filter(|&end| end != pair[1]).collect();
    dropped(spec, text, &merged, gone, (alpha, share * (1.0 - alpha)), outcomes);
    let without = gone.iter().copied().chain([pair]).collect();
    dropped(spec, text, ends, &without, (alpha, share * alpha), outcomes);
}

#[test]
fn merges_are_dropped_with_their_probability() {
    let pieces = [("a", -9.0), ("b", -9.0), ("ab", -1.0), ("ba", -2.0), ("abab", -3.0), ("aba", -0.5)];
    let spec = spec(SentencePieceKind::Bpe, &pieces.map(|(text, score)| (text, score, NORMAL)));
    let (model, vocab) = scored_bpe(&spec);
    let text = "ababa";
    for alpha in [0.1, 0.4, 0.8] {
        let mut expected = BTreeMap::new();
        let ends: Vec<usize> = (1..=text.len()).collect();
        dropped(&spec, text, &ends, &BTreeSet::new(), (alpha, 1.0), &mut expected);
        let sampled = (0..100_000).map(|row| {
            let mut rng = Sampling { alpha, nbest: None, seed: 4, row: 0 }.at_row(row).rng(0);
            let mut out: Vec<TokenSpan> = Vec::new();
            model.run(text, &vocab, &mut ScoredBpeScratch::default(), Some(&mut rng), &mut out);
            format!("{:?}", out.iter().map(|piece| piece.end as usize).collect::<Vec<_>>())
        });
        assert!(agrees(&counted(sampled), &expected), "{expected:?}");
    }
}

#[test]
fn the_tables_are_built_after_the_first_texts() {
    let spec =
        spec(SentencePieceKind::Bpe, &[("a", -2.0, NORMAL), ("b", -3.0, NORMAL), ("ab", -1.0, NORMAL)]);
    let (Model::ScoredBpe(model), vocab) = compiled(&spec) else { panic!("no BPE model") };
    let (mut scratch, mut ids) = (ScoredBpeScratch::default(), Vec::<u32>::new());
    for count in 1..=LOOKUPS + 1 {
        model.run("abb", &vocab, &mut scratch, None, &mut ids);
        assert_eq!(model.tables.get().is_some(), count > LOOKUPS);
    }
    assert_eq!(ids, [3, 2].repeat(LOOKUPS as usize + 1));
    let (Model::ScoredBpe(model), vocab) = compiled(&spec) else { panic!("no BPE model") };
    model.run(&"ab".repeat(MAX_FIRST_BYTES), &vocab, &mut scratch, None, &mut ids);
    assert!(model.tables.get().is_some());
}

#[test]
fn control_pieces_are_never_merged() {
    let pieces = [("a", -2.0, NORMAL), ("b", -3.0, NORMAL), ("ab", -1.0, PieceType::Control)];
    assert_eq!(texts(&spec(SentencePieceKind::Bpe, &pieces), "ab"), ["a", "b"]);
}
