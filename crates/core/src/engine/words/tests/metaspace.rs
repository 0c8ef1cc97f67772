//! Compares the metaspace route with the definition, which segments whole texts; each text twice, so that words are hits.

mod ties;

use std::sync::LazyLock;

use piecework_formats::normalization_rules::compile_named;
use proptest::prelude::*;

use crate::engine::route::Route;
use crate::engine::{Input, Options, Tokenizer};
use crate::spec::{
    BpeSpec, MetaspaceSpec, ModelSpec, NormalizerSpec, PatternSpec, PieceType, PreTokenizerSpec,
    PrependScheme, ScoredPiece, SentencePieceKind, SentencePieceNormalizerSpec, SentencePieceSpec,
    TokenizerSpec, UnigramSpec,
};
use crate::stages::added_tokens::Selector;

const METASPACE: &str = "\u{2581}";

/// Encode by the definition: runs every stage on the whole text.
fn plain(pipeline: &Tokenizer, text: &str) -> Vec<u32> {
    let selector = Selector::All;
    let options = Options { add_special_tokens: false, parse_special: &selector, sampling: None };
    let plain = pipeline.plain();
    let mut ids = Vec::new();
    plain.ids_into(Input::Text(text), 0, options, &mut plain.scratch(), &mut ids).unwrap();
    ids
}

/// Encode texts twice with the same scratch and compare the ids with the definition.
fn check(spec: &TokenizerSpec, texts: &[String]) -> Result<(), TestCaseError> {
    let pipeline = Tokenizer::compile(spec).unwrap();
    prop_assert!(matches!(pipeline.route(), Some(Route::Metaspace(_) | Route::SentencePieceUnigram(_))));
    let selector = Selector::All;
    let options = Options { add_special_tokens: false, parse_special: &selector, sampling: None };
    let mut scratch = pipeline.scratch();
    for text in texts.iter().chain(texts) {
        let mut ids = Vec::new();
        pipeline.ids_into(Input::Text(text), 0, options, &mut scratch, &mut ids).unwrap();
        prop_assert_eq!(ids, plain(&pipeline, text), "{:?}", text);
    }
    Ok(())
}

fn tokenizer(model: ModelSpec) -> TokenizerSpec {
    TokenizerSpec::of(model)
}

fn normalizer_with(
    charsmap: Vec<u8>,
    remove_extra_whitespaces: bool,
    add_dummy_prefix: bool,
) -> SentencePieceNormalizerSpec {
    SentencePieceNormalizerSpec {
        charsmap,
        add_dummy_prefix,
        remove_extra_whitespaces,
        escape_whitespaces: true,
        treat_whitespace_as_suffix: false,
        user_defined_symbols: Vec::new(),
    }
}

fn scored(pieces: &[(String, i32)]) -> Vec<(String, f32)> {
    let mut all = vec![(METASPACE.to_owned(), -3.3)];
    for (piece, score) in pieces {
        if !piece.is_empty() && all.iter().all(|(other, _)| other != piece) {
            // Many scores are equal or nearly equal.
            all.push((piece.clone(), -1.1 - *score as f32 / 7.0));
        }
    }
    all
}

fn sentencepiece(
    kind: SentencePieceKind,
    pieces: &[(String, i32)],
    normalizer: SentencePieceNormalizerSpec,
) -> TokenizerSpec {
    let unknown = ScoredPiece { text: "<unk>".into(), score: 0.0, kind: PieceType::Unknown };
    // Unigram may have unused pieces.
    let kind_of = |score: f32| match kind {
        SentencePieceKind::Unigram if score == -1.1 => PieceType::Unused,
        _ => PieceType::Normal,
    };
    let piece = |(text, score)| ScoredPiece { text, score, kind: kind_of(score) };
    let pieces = std::iter::once(unknown).chain(scored(pieces).into_iter().map(piece)).collect();
    TokenizerSpec {
        normalizer: Some(NormalizerSpec::SentencePiece(normalizer)),
        ..tokenizer(ModelSpec::SentencePiece(SentencePieceSpec {
            kind,
            pieces,
            ..SentencePieceSpec::default()
        }))
    }
}

fn unigram(pieces: &[(String, i32)]) -> ModelSpec {
    let unknown = ("<unk>".to_owned(), -9.0);
    let scored = scored(pieces).into_iter().map(|(text, score)| (text, f64::from(score)));
    ModelSpec::Unigram(UnigramSpec {
        vocab: std::iter::once(unknown).chain(scored).collect(),
        unk_id: Some(0),
        byte_fallback: false,
    })
}

/// Return BPE with the tokens of random merges.
fn bpe(pairs: &[(usize, usize)]) -> ModelSpec {
    let mut entries: Vec<String> =
        ["<unk>", METASPACE, "a", "b", "c", "e", "'", "\u{e9}"].map(str::to_owned).to_vec();
    let mut merges = Vec::new();
    for &(left, right) in pairs {
        let (left, right) = (left % (entries.len() - 1) + 1, right % (entries.len() - 1) + 1);
        let (left, right) = (entries[left].clone(), entries[right].clone());
        let merged = format!("{left}{right}");
        let crosses = merged.trim_start_matches(METASPACE).contains(METASPACE);
        if merged.len() < 12 && !crosses && !entries.contains(&merged) {
            entries.push(merged);
            merges.push((left, right));
        }
    }
    ModelSpec::Bpe(BpeSpec {
        vocab: entries.into_iter().zip(0..).collect(),
        merges: merges.into_iter().collect(),
        unk_token: Some("<unk>".into()),
        fuse_unk: true,
        ..BpeSpec::default()
    })
}

fn whitespace_then_metaspace() -> Option<PreTokenizerSpec> {
    let metaspace =
        MetaspaceSpec { replacement: '\u{2581}', prepend_scheme: PrependScheme::Always, split: true };
    Some(PreTokenizerSpec::Sequence(vec![
        PreTokenizerSpec::WhitespaceSplit,
        PreTokenizerSpec::Metaspace(metaspace),
    ]))
}

fn rules() -> Vec<u8> {
    static RULES: LazyLock<Vec<u8>> = LazyLock::new(|| compile_named("nmt_nfkc").unwrap());
    RULES.clone()
}

fn folding_rules() -> Vec<u8> {
    static RULES: LazyLock<Vec<u8>> = LazyLock::new(|| compile_named("nmt_nfkc_cf").unwrap());
    RULES.clone()
}

fn replace(from: &str, to: &str) -> NormalizerSpec {
    NormalizerSpec::Replace { pattern: PatternSpec::Text(from.into()), content: to.into() }
}

fn any_pieces() -> impl Strategy<Value = Vec<(String, i32)>> {
    prop::collection::vec(
        ("\u{2581}{0,1}[abce'\u{e9}\u{30ab}.]{0,4}|[\u{4e00}\u{438}\u{e9}]|a\u{4e01}", 0..9),
        0..25,
    )
}

/// Pieces of few letters, most of which merge with `▁`, and runs of `▁`.
fn any_pieces_with_runs() -> impl Strategy<Value = Vec<(String, i32)>> {
    let unit = prop_oneof![4 => "\u{2581}{0,1}[ab]{1,4}", 1 => "\u{2581}{2,5}", 1 => "\u{2581}{2,3}[ab]"];
    prop::collection::vec((unit, 0..30), 0..25)
}

fn any_indented_texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("( {1,6}[ab.\u{e9}]{0,6}){1,20}", 1..4)
}

/// Texts with many special cases at word boundaries.
fn any_texts() -> impl Strategy<Value = Vec<String>> {
    let unit = prop::sample::select(vec![
        "a",
        "b",
        "c",
        "e",
        "'",
        ".",
        "ab",
        "cab",
        "abcabcabcabcabcab",
        "E",
        " ",
        "  ",
        "     ",
        "\n",
        "\t",
        "\r\n",
        "\u{e9}",
        "e\u{301}",
        "\u{301}",
        "\u{344}\u{341}",
        "\u{3000}",
        "\u{a0}",
        "\u{200b}",
        "\u{ad}",
        "\u{fb01}",
        "\u{30ab}\u{3099}",
        "\u{600}",
        "\u{2581}",
        "<e.",
        "E'",
        "``",
        "''",
        "\u{7f}",
        "\u{1f600}",
        " \u{301}",
        " \u{340}\u{341}",
        "\u{4e00}",
        "\u{4e01}\u{4e02}",
        "\u{438}",
        "\u{306}",
        "\u{b4}",
        "\u{385}",
        "\u{fdfa}",
        "\u{1}",
        "{",
        "\u{ff5b}",
        "\u{ff21}",
        "\u{1100}\u{1161}\u{11a8}",
        "\u{2029}",
    ]);
    let text = prop::collection::vec(unit, 0..60).prop_map(|units| units.concat());
    prop::collection::vec(text, 1..4)
}

proptest! {
    #[test]
    fn sentencepiece_normalizer_with(pieces in any_pieces(), is_bpe in any::<bool>(), texts in any_texts()) {
        let kind = if is_bpe { SentencePieceKind::Bpe } else { SentencePieceKind::Unigram };
        check(&sentencepiece(kind, &pieces, normalizer_with(rules(), true, true)), &texts)?;
    }

    #[test]
    fn sentencepiece_with_symbols(
        pieces in any_pieces(),
        folds in any::<bool>(),
        which in 0..512usize,
        texts in any_texts(),
    ) {
        let symbols =
            ["\u{4e00}", "\u{4e01}a", "\u{438}\u{306}", "\u{a0}", ".", "<e.", "E'", "a", "\u{301}"];
        let symbols = || symbols.iter().enumerate().filter(|(at, _)| which >> at & 1 == 1).map(|(_, symbol)| symbol);
        let rules = if folds { folding_rules() } else { rules() };
        let mut normalizer = normalizer_with(rules, true, true);
        normalizer.user_defined_symbols = symbols().map(|&symbol| symbol.to_owned()).collect();
        let mut spec = sentencepiece(SentencePieceKind::Unigram, &pieces, normalizer);
        if let ModelSpec::SentencePiece(model) = &mut spec.model {
            model.pieces.retain(|piece| symbols().all(|&symbol| piece.text != symbol));
            let kind = PieceType::UserDefined;
            model.pieces.extend(symbols().map(|&text| ScoredPiece { text: text.into(), score: 0.0, kind }));
        }
        check(&spec, &texts)?;
    }

    #[test]
    fn sentencepiece_that_keeps_every_space(
        pieces in any_pieces(),
        is_bpe in any::<bool>(),
        add_dummy_prefix in any::<bool>(),
        texts in any_texts(),
    ) {
        let kind = if is_bpe { SentencePieceKind::Bpe } else { SentencePieceKind::Unigram };
        let normalizer = normalizer_with(Vec::new(), false, add_dummy_prefix);
        check(&sentencepiece(kind, &pieces, normalizer), &texts)?;
    }

    #[test]
    fn words_behind_any_number_of_spaces(
        pieces in any_pieces_with_runs(),
        add_dummy_prefix in any::<bool>(),
        texts in any_indented_texts(),
    ) {
        let normalizer = normalizer_with(Vec::new(), false, add_dummy_prefix);
        check(&sentencepiece(SentencePieceKind::Bpe, &pieces, normalizer), &texts)?;
    }

    #[test]
    fn words_of_merges_behind_any_number_of_spaces(
        pairs in prop::collection::vec((0..20usize, 0..20usize), 0..30),
        texts in any_indented_texts(),
    ) {
        check(&TokenizerSpec { normalizer: Some(replace(" ", METASPACE)), ..tokenizer(bpe(&pairs)) }, &texts)?;
    }

    #[test]
    fn words_between_whitespace(pieces in any_pieces(), which in 0..6usize, texts in any_texts()) {
        let rules = || NormalizerSpec::Precompiled { charsmap: rules() };
        let one_space = || NormalizerSpec::Replace { pattern: PatternSpec::Regex(" {2,}".into()), content: " ".into() };
        let normalizer = match which {
            0 => None,
            1 => Some(rules()),
            2 => Some(one_space()),
            3 => Some(NormalizerSpec::Sequence(vec![replace("e", "E"), one_space()])),
            4 => Some(NormalizerSpec::Sequence(vec![rules(), one_space()])),
            _ => Some(NormalizerSpec::Sequence(vec![
                replace("``", "\""),
                replace("''", "\""),
                NormalizerSpec::Nfkd,
                NormalizerSpec::StripAccents,
                NormalizerSpec::Lowercase,
                one_space(),
            ])),
        };
        let spec = TokenizerSpec {
            normalizer,
            pre_tokenizer: whitespace_then_metaspace(),
            ..tokenizer(unigram(&pieces))
        };
        check(&spec, &texts)?;
    }

    #[test]
    fn bpe_over_whole_texts(
        pairs in prop::collection::vec((0..99usize, 0..99usize), 0..30),
        which in 0..4usize,
        texts in any_texts(),
    ) {
        let spaces = replace(" ", METASPACE);
        let prepend = NormalizerSpec::Prepend { prepend: METASPACE.into() };
        let metaspace = |prepend_scheme| {
            let replacement = '\u{2581}';
            Some(PreTokenizerSpec::Metaspace(MetaspaceSpec { replacement, prepend_scheme, split: false }))
        };
        let (normalizer, pre_tokenizer) = match which {
            0 => (Some(NormalizerSpec::Sequence(vec![prepend, spaces])), None),
            1 => (Some(spaces), None),
            2 => (None, metaspace(PrependScheme::First)),
            _ => (None, metaspace(PrependScheme::Always)),
        };
        check(&TokenizerSpec { normalizer, pre_tokenizer, ..tokenizer(bpe(&pairs)) }, &texts)?;
    }
}

#[test]
fn long_parts_and_unknown_runs_equal_the_definition() {
    let pieces = [("a", 0), ("aa", 1), ("aaa", 4), ("b", 2), ("ab", 3)]
        .map(|(text, score)| (text.to_owned(), score));
    let spec = sentencepiece(SentencePieceKind::Unigram, &pieces, normalizer_with(rules(), true, true));
    let run = |text: &str, count: usize| text.repeat(count);
    let mut texts = Vec::new();
    for count in [1, 62, 63, 64, 65, 200, 600, 3000, 9000] {
        texts.extend([run("a", count), run("\u{4e00}", count), format!("xy{}zb1", run("aa", count))]);
        texts.push(format!("{} {}\u{4e00}c{}", run("\u{4e00}a", count), run("a", count), run("ab", count)));
    }
    check(&spec, &texts).unwrap();
}

#[test]
fn parts_with_more_ids_than_a_cache_entry_equal_the_definition() {
    // No piece crosses the boundaries of `aa`, but it has `a` next to `a`: one part with seven ids.
    let long = "aaaaaaaaaaaaa";
    let texts = ["", "\u{438}", "b"].map(|last| format!("b {long}{last} b"));
    let pieces = [("aa", 0), ("\u{2581}a", 1), ("a", 2), ("\u{438}", 3), ("b", 4)];
    let pieces = pieces.map(|(text, score)| (text.to_owned(), score));
    for normalizer in [normalizer_with(rules(), true, true), normalizer_with(Vec::new(), false, true)] {
        check(&sentencepiece(SentencePieceKind::Bpe, &pieces, normalizer), &texts).unwrap();
    }
    let spec =
        TokenizerSpec { normalizer: Some(replace(" ", METASPACE)), ..tokenizer(bpe(&[(1, 1), (0, 1)])) };
    check(&spec, &texts).unwrap();
}

#[test]
fn long_runs_of_single_characters() {
    let pieces: Vec<(String, i32)> = [METASPACE, "a", "\u{3b1}", "\u{3b2}"]
        .into_iter()
        .zip(0..)
        .map(|(text, at)| (text.into(), at))
        .collect();
    let spec = sentencepiece(SentencePieceKind::Unigram, &pieces, normalizer_with(rules(), true, true));
    let run = "\u{3b1}\u{3b2}".repeat(500);
    check(&spec, &[run.clone(), format!("a {run}"), format!("{run} a {run}{run}")]).unwrap();
}

#[test]
fn thousands_of_words_equal_the_definition() {
    let pairs: Vec<(usize, usize)> = (0..60).map(|at| (at * 7 % 31, at * 5 % 23)).collect();
    let pieces = [
        "\u{2581}\u{2581}",
        "\u{2581}a",
        "ab",
        "\u{2581}ab",
        "bc",
        "abc",
        "cc",
        "\u{2581}c",
        "a",
        "b",
        "c",
    ];
    let pieces: Vec<(String, i32)> =
        pieces.iter().zip(0..).map(|(text, at)| ((*text).into(), at)).collect();
    let mut state = 1u32;
    let mut random = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as usize % below
    };
    // Repeated short words, words with more ids than a cache entry, long words and unknown characters.
    let units = ["a", "b", "c", "ab", "e", "'", ".", "\u{e9}", "\u{4e00}", "abcabcabc", "bbbb", "\n", "7"];
    let mut text = |words: usize| -> String {
        (0..words)
            .flat_map(|_| {
                let word: Vec<&str> = (0..1 + random(5)).map(|_| units[random(units.len())]).collect();
                [" ".repeat(1 + random(4)), word.concat().repeat(1 + random(40) / 38 * 50)]
            })
            .collect()
    };
    let again = format!("a {0}\u{e9} b {0}e {0}\u{e9} ", "abcabcabcabcabcabc").repeat(500);
    let texts = [text(300), text(1024), text(5000), again];
    let bpe = TokenizerSpec { normalizer: Some(replace(" ", METASPACE)), ..tokenizer(bpe(&pairs)) };
    check(&bpe, &texts).unwrap();
    for removes in [false, true] {
        let rules = if removes { rules() } else { Vec::new() };
        check(
            &sentencepiece(SentencePieceKind::Bpe, &pieces, normalizer_with(rules, removes, true)),
            &texts,
        )
        .unwrap();
    }
    let spec = TokenizerSpec { pre_tokenizer: whitespace_then_metaspace(), ..tokenizer(unigram(&pieces)) };
    check(&spec, &texts).unwrap();
}
