//! Compares the word cache with the definition for segmentations whose scores are equal except for rounding.
//!
//! The same pieces in another order have the same exact sum, so the order of the additions decides which
//! segmentation wins. Few letters and random scores make such texts common.

use proptest::prelude::*;

use super::{check, normalizer_with, rules, tokenizer, whitespace_then_metaspace, METASPACE};
use crate::spec::{
    ModelSpec, NormalizerSpec, PieceType, ScoredPiece, SentencePieceKind, SentencePieceSpec, TokenizerSpec,
    UnigramSpec,
};

type ScoredPieces = Vec<(String, f64)>;

/// Pieces of few letters: runs of each letter, some pairs, and some pieces after a `▁`. Scores are random 64-bit floats, so
/// that sums are rounded.
fn tie_pieces() -> impl Strategy<Value = ScoredPieces> {
    let text = prop_oneof![
        3 => "0{1,4}|1{1,3}|a{1,3}",
        2 => "[01]{2,3}|[ab]{2}|b",
        2 => "\u{2581}[014a]{1,2}",
    ];
    prop::collection::btree_map(text, -12.0..-0.5f64, 3..16).prop_map(|pieces| pieces.into_iter().collect())
}

fn tie_texts() -> impl Strategy<Value = Vec<String>> {
    let word =
        "[0-2]{1,9}|[14a]0{1,12}|0{1,20}|(0{1,3}4){1,6}|(ab|ba|aab){1,8}|a{1,15}x|[ab01\u{e9}]{1,24}";
    prop::collection::vec(prop::collection::vec(word, 1..8).prop_map(|words| words.join(" ")), 1..6)
}

fn unigram(pieces: &ScoredPieces) -> ModelSpec {
    let first = [("<unk>".to_owned(), 0.0), (METASPACE.to_owned(), -2.137_843)];
    ModelSpec::Unigram(UnigramSpec {
        vocab: first.into_iter().chain(pieces.iter().cloned()).collect(),
        unk_id: Some(0),
        byte_fallback: false,
    })
}

fn sentencepiece(pieces: &ScoredPieces) -> ModelSpec {
    let piece = |text: &str, score, kind| ScoredPiece { text: text.into(), score, kind };
    let first = [piece("<unk>", 0.0, PieceType::Unknown), piece(METASPACE, -2.137_843, PieceType::Normal)];
    let normal = pieces.iter().map(|(text, score)| piece(text, *score as f32, PieceType::Normal));
    ModelSpec::SentencePiece(SentencePieceSpec {
        kind: SentencePieceKind::Unigram,
        pieces: first.into_iter().chain(normal).collect(),
        ..SentencePieceSpec::default()
    })
}

fn of_unigram(pieces: &ScoredPieces, normalizer: Option<NormalizerSpec>) -> TokenizerSpec {
    TokenizerSpec { normalizer, pre_tokenizer: whitespace_then_metaspace(), ..tokenizer(unigram(pieces)) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn unigram_words_with_ties_are_segmented_as_a_whole(
        pieces in tie_pieces(),
        has_rules in any::<bool>(),
        texts in tie_texts(),
    ) {
        let normalizer = has_rules.then(|| NormalizerSpec::Precompiled { charsmap: rules() });
        check(&of_unigram(&pieces, normalizer), &texts)?;
    }
}

proptest! {
    #[test]
    fn sentencepiece_texts_with_ties_are_segmented_as_a_whole(
        pieces in tie_pieces(),
        has_rules in any::<bool>(),
        texts in tie_texts(),
    ) {
        let rules = if has_rules { rules() } else { Vec::new() };
        let normalizer = Some(NormalizerSpec::SentencePiece(normalizer_with(rules, has_rules, true)));
        check(&TokenizerSpec { normalizer, ..tokenizer(sentencepiece(&pieces)) }, &texts)?;
    }
}

/// No piece crosses the boundary after `▁4`, so `000` is a part of the word. From the score of `▁4` on, `00|0` and
/// `0|00` are rounded differently than from 0.
#[test]
fn a_part_with_a_tie_is_segmented_after_the_score_of_what_precedes_it() {
    let pieces = |first: f64, one: f64, two: f64| {
        [("\u{2581}4", first), ("0", one), ("00", two), ("x", -3.0)]
            .map(|(text, score)| (text.into(), score))
    };
    // The next `▁` begins a pre-token, also behind a character with the same first byte.
    let marked = "\u{201c}\u{2581}4000";
    let texts = ["4000", "x000", "4000 4000", "000", "4000x000", marked].map(str::to_owned);
    for step in 0..200 {
        let step = f64::from(step) * 0.037;
        let pieces = pieces(-5.3 - step, -3.1 - step / 3.0, -4.7 - step / 7.0).to_vec();
        check(&of_unigram(&pieces, None), &texts).unwrap();
    }
}
