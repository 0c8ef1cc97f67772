//! The law of the router: every fixture through its route equals the definition, `Tokenizer::plain`.
//!
//! Ids, offsets, pairs, batches of several threads, at each cache budget and each SIMD level; each text twice, so that
//! words are misses first and hits later.

use std::sync::LazyLock;

use piecework_formats::normalization_rules::compile_named;
use piecework_kernels::code_units::CodeUnits;
use piecework_kernels::level::Level;
use proptest::prelude::*;

use super::*;
use crate::engine::offsets::ROWS_AGAIN;
use crate::ranks::RanksSpec;
use crate::spec::{
    AddedToken, BertNormalizerSpec, BpeSpec, ByteLevelSpec, Cleaning, MetaspaceSpec, ModelSpec,
    NormalizerSpec, PatternSpec, PieceType, PostProcessorSpec, PreTokenizerSpec, PrependScheme,
    ScoredPiece, Segmentation, SentencePieceKind, SentencePieceNormalizerSpec, SentencePieceSpec,
    SplitBehavior, TokenizerSpec, UnigramSpec, UnknownUnit, WordPieceSpec, WordSpec,
};
use crate::stages::added_tokens::Selector;
use crate::text::printable_of;
use crate::vocab::Vocab;

const CL100K: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const KIMI: &str = r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// A pattern that no scanner recognizes.
const OTHER_PATTERN: &str = r"\p{L}+|[0-9]{1,2}|[^\p{L}0-9]";
const ALL: Options<'_> =
    Options { add_special_tokens: true, parse_special: &Selector::All, sampling: None };

/// Complete a specification: added tokens, one of them within whitespace that others include, and a template of the
/// ids 1 and 2.
fn spec(
    normalizer: Option<NormalizerSpec>,
    pre_tokenizer: Option<PreTokenizerSpec>,
    model: ModelSpec,
    names: [&str; 2],
) -> TokenizerSpec {
    let [cls, sep] = names.map(str::to_owned);
    TokenizerSpec {
        added_tokens: vec![
            AddedToken { lstrip: true, ..AddedToken::special("<x>", 5000) },
            AddedToken { rstrip: true, ..AddedToken::special("<y>", 5001) },
            AddedToken::special("\u{3000}\u{3000}", 5002),
        ],
        normalizer,
        pre_tokenizer,
        post_processor: Some(PostProcessorSpec::Bert { sep: (sep, 2), cls: (cls, 1) }),
        ..TokenizerSpec::of(model)
    }
}

fn regex(pattern: &str) -> PreTokenizerSpec {
    PreTokenizerSpec::Split {
        pattern: PatternSpec::Regex(pattern.into()),
        behavior: SplitBehavior::Isolated,
        invert: false,
    }
}

fn byte_level(
    normalizer: Option<NormalizerSpec>,
    pattern: Option<&str>,
    add_prefix_space: bool,
) -> TokenizerSpec {
    let bytes = (0..=255).map(|byte| printable_of(byte).to_string());
    let merges = [
        ("a", "b"),
        ("c", "c"),
        ("ab", "ab"),
        ("Ġ", "ab"),
        ("cc", "a"),
        ("Ã", "©"),
        ("Ġab", "cc"),
        ("e", "e"),
    ];
    let merged = merges.iter().map(|(left, right)| format!("{left}{right}"));
    let model = BpeSpec {
        vocab: bytes.chain(merged).zip(0..).collect(),
        merges: merges.into_iter().collect(),
        ..BpeSpec::default()
    };
    let bytes = ByteLevelSpec { add_prefix_space, trim_offsets: true, use_regex: pattern.is_none() };
    let bytes = PreTokenizerSpec::ByteLevel(bytes);
    let pre_tokenizer = match pattern {
        Some(pattern) => PreTokenizerSpec::Sequence(vec![regex(pattern), bytes]),
        None => bytes,
    };
    let names = [printable_of(1).to_string(), printable_of(2).to_string()];
    spec(normalizer, Some(pre_tokenizer), ModelSpec::Bpe(model), [&names[0], &names[1]])
}

fn wordpiece(unk: UnknownUnit) -> ModelSpec {
    let entries = [
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "a",
        "b",
        "ab",
        "##a",
        "##b",
        "##ab",
        "##c",
        "c",
        "e",
        "##e",
        "漢",
        ".",
        "##bb",
        "слово",
        "1",
        "##1",
    ];
    ModelSpec::WordPiece(WordPieceSpec {
        vocab: entries.into_iter().map(String::from).zip(0..).collect(),
        unk_token: "[UNK]".into(),
        continuing_subword_prefix: "##".into(),
        max_input_chars_per_word: 100,
        unk,
        segmentation: Segmentation::Greedy,
    })
}

fn bert(lowercase: bool, unk: UnknownUnit, cleaning: Cleaning) -> TokenizerSpec {
    let normalizer = NormalizerSpec::Bert(BertNormalizerSpec {
        clean_text: true,
        handle_chinese_chars: true,
        strip_accents: None,
        lowercase,
        cleaning,
    });
    spec(Some(normalizer), Some(PreTokenizerSpec::Bert), wordpiece(unk), ["[CLS]", "[SEP]"])
}

const PIECES: [&str; 22] = [
    "<unk>",
    "<s>",
    "</s>",
    "\u{2581}",
    "\u{2581}a",
    "\u{2581}ab",
    "ab",
    "a",
    "b",
    "c",
    "cc",
    "\u{2581}c",
    "e",
    "abc",
    "\u{2581}\u{2581}",
    "\u{e9}",
    "漢",
    ".",
    "слово",
    "\u{2581}слово",
    "1",
    "bb",
];

fn sentencepiece(kind: SentencePieceKind, has_rules: bool) -> TokenizerSpec {
    let kind_of = |at| match at {
        0 => PieceType::Unknown,
        1 | 2 => PieceType::Control,
        _ => PieceType::Normal,
    };
    let piece = |(at, &text): (usize, &&str)| ScoredPiece {
        text: text.into(),
        score: if at < 3 { 0.0 } else { -1.0 - at as f32 / 7.0 },
        kind: kind_of(at),
    };
    let pieces = PIECES.iter().enumerate().map(piece).collect();
    let normalizer = SentencePieceNormalizerSpec {
        charsmap: if has_rules { compile_named("nmt_nfkc").unwrap() } else { Vec::new() },
        add_dummy_prefix: true,
        remove_extra_whitespaces: has_rules,
        escape_whitespaces: true,
        treat_whitespace_as_suffix: false,
        user_defined_symbols: Vec::new(),
    };
    let model =
        ModelSpec::SentencePiece(SentencePieceSpec { kind, pieces, ..SentencePieceSpec::default() });
    spec(Some(NormalizerSpec::SentencePiece(normalizer)), None, model, ["<s>", "</s>"])
}

fn metaspace(split: bool) -> PreTokenizerSpec {
    PreTokenizerSpec::Metaspace(MetaspaceSpec {
        replacement: '\u{2581}',
        prepend_scheme: PrependScheme::Always,
        split,
    })
}

fn unigram() -> TokenizerSpec {
    let vocab =
        PIECES.iter().enumerate().map(|(at, &text)| (text.into(), -1.0 - at as f64 / 7.0)).collect();
    let model = ModelSpec::Unigram(UnigramSpec { vocab, unk_id: Some(0), byte_fallback: false });
    let pre_tokenizer =
        PreTokenizerSpec::Sequence(vec![PreTokenizerSpec::WhitespaceSplit, metaspace(true)]);
    spec(None, Some(pre_tokenizer), model, ["<s>", "</s>"])
}

fn metaspace_bpe() -> TokenizerSpec {
    let merges = [
        ("\u{2581}", "a"),
        ("\u{2581}a", "b"),
        ("a", "b"),
        ("ab", "c"),
        ("c", "c"),
        ("\u{2581}", "\u{2581}"),
    ];
    let mut entries: Vec<String> = PIECES[..4].iter().map(|&piece| piece.into()).collect();
    entries.extend("abce.1漢\u{e9}".chars().map(String::from));
    entries.extend(merges.iter().map(|(left, right)| format!("{left}{right}")));
    let model = BpeSpec {
        vocab: entries.into_iter().zip(0..).collect(),
        merges: merges.into_iter().collect(),
        unk_token: Some("<unk>".into()),
        fuse_unk: true,
        ..BpeSpec::default()
    };
    spec(None, Some(metaspace(false)), ModelSpec::Bpe(model), ["<s>", "</s>"])
}

/// Without a token for unknown characters: they are dropped, and their neighbors merge.
fn metaspace_bpe_that_drops() -> TokenizerSpec {
    let spec = metaspace_bpe();
    let ModelSpec::Bpe(mut model) = spec.model else { unreachable!() };
    model.unk_token = None;
    model.vocab.retain(|(entry, _)| !["e", "漢", "\u{e9}"].contains(&entry.as_str()));
    TokenizerSpec { model: ModelSpec::Bpe(model), ..spec }
}

fn replace(text: &str, content: &str) -> NormalizerSpec {
    NormalizerSpec::Replace { pattern: PatternSpec::Text(text.into()), content: content.into() }
}

/// Byte-level, with a split at numbers before a pattern that splits Han characters, some of which are numbers.
fn numbers_before_han() -> TokenizerSpec {
    let spec = byte_level(None, Some(KIMI), false);
    let Some(PreTokenizerSpec::Sequence(mut stages)) = spec.pre_tokenizer else { unreachable!() };
    stages.insert(0, regex(r"\p{N}{1,3}"));
    TokenizerSpec { pre_tokenizer: Some(PreTokenizerSpec::Sequence(stages)), ..spec }
}

/// With an added token that is found in normalized text.
fn with_normalized_token(mut spec: TokenizerSpec) -> TokenizerSpec {
    spec.added_tokens.push(AddedToken {
        normalized: true,
        special: false,
        ..AddedToken::special("abba", 5003)
    });
    spec
}

/// With a post-processor that trims offsets, and with a space as an added token that is found in normalized text if
/// `finds_space`.
fn trimming(mut spec: TokenizerSpec, finds_space: bool) -> TokenizerSpec {
    let Some(PostProcessorSpec::Bert { sep, cls }) = spec.post_processor else { unreachable!() };
    spec.post_processor =
        Some(PostProcessorSpec::Roberta { sep, cls, trim_offsets: true, add_prefix_space: false });
    spec.added_tokens.extend(finds_space.then(|| AddedToken {
        normalized: true,
        special: false,
        ..AddedToken::special(" ", 5004)
    }));
    spec
}

fn words() -> TokenizerSpec {
    let entries = ["[UNK]", "[CLS]", "[SEP]", "a", "ab", "abc", ".", "слово"];
    let vocab = entries.into_iter().map(String::from).zip(0..).collect();
    let model = ModelSpec::Word(WordSpec { vocab, unk_token: "[UNK]".into() });
    spec(Some(NormalizerSpec::Lowercase), Some(regex(OTHER_PATTERN)), model, ["[CLS]", "[SEP]"])
}

/// The vocabulary of byte-level entries by ranks, with a token that no merges make and one that a token of a higher rank is
/// part of.
fn ranks() -> RanksSpec {
    let stages = byte_level(None, Some(CL100K), false);
    let longer =
        ["ab", "cc", "abab", "Ġab", "cca", "Ã©", "Ġabcc", "ee", "cabc", "abbe", "bbe", "aaa", "bb"];
    let bytes = (0..=255).map(|byte| printable_of(byte).to_string());
    let tokens: Vec<String> = bytes.chain(longer.map(String::from)).collect();
    let entries = tokens.iter().map(String::as_str).zip(0..);
    let vocab = Vocab::of_tokens(&entries.collect::<Vec<_>>().into_iter()).unwrap();
    RanksSpec { stages, vocab }
}

/// One tokenizer or more for each route, compiled once.
///
/// The first words do without some tables. Only the last two have not built them yet.
pub(super) static FIXTURES: LazyLock<Vec<Tokenizer>> = LazyLock::new(|| {
    let fixtures = compiled();
    fixtures[..fixtures.len() - 2].iter().for_each(Tokenizer::warm_up);
    fixtures
});

/// Compile one tokenizer or more for each route.
pub(super) fn compiled() -> Vec<Tokenizer> {
    let specs = specs();
    let by_ranks = [Tokenizer::compile_ranks(ranks()), Tokenizer::compile(ranks())];
    specs.iter().map(Tokenizer::compile).chain(by_ranks).map(Result::unwrap).collect()
}

fn specs() -> Vec<TokenizerSpec> {
    use SentencePieceKind::{Bpe, Char, Unigram};
    vec![
        byte_level(None, None, false),
        byte_level(None, None, true),
        byte_level(Some(NormalizerSpec::Nfc), Some(CL100K), false),
        numbers_before_han(),
        byte_level(None, Some(OTHER_PATTERN), false),
        with_normalized_token(byte_level(None, None, false)),
        bert(true, UnknownUnit::Word, Cleaning::Tokenizers),
        bert(false, UnknownUnit::Char, Cleaning::Tokenizers),
        with_normalized_token(bert(true, UnknownUnit::Word, Cleaning::Tokenizers)),
        bert(true, UnknownUnit::Word, Cleaning::Original),
        trimming(byte_level(None, None, false), false),
        trimming(with_normalized_token(byte_level(None, None, true)), true),
        trimming(bert(true, UnknownUnit::Word, Cleaning::Tokenizers), false),
        trimming(bert(true, UnknownUnit::Word, Cleaning::Tokenizers), true),
        spec(
            None,
            Some(PreTokenizerSpec::WhitespaceSplit),
            wordpiece(UnknownUnit::Word),
            ["[CLS]", "[SEP]"],
        ),
        sentencepiece(Bpe, true),
        sentencepiece(Bpe, false),
        sentencepiece(Unigram, true),
        with_normalized_token(sentencepiece(Unigram, true)),
        sentencepiece(Char, true),
        unigram(),
        TokenizerSpec { normalizer: Some(replace("", "a")), ..unigram() },
        metaspace_bpe(),
        metaspace_bpe_that_drops(),
        with_normalized_token(metaspace_bpe()),
        words(),
        spec(
            Some(NormalizerSpec::Nfkc),
            Some(regex(CL100K)),
            wordpiece(UnknownUnit::Word),
            ["[CLS]", "[SEP]"],
        ),
    ]
}

/// Texts whose words occur again soon or much later.
pub(super) fn any_texts() -> impl Strategy<Value = Vec<String>> {
    let word = prop_oneof![
        6 => "[abce]{1,6}",
        2 => "[abce\u{e9}漢1.]{1,9}",
        1 => "[abc]{14,70}",
        1 => "[a\u{e9}слово]{6,40}",
        1 => prop::sample::select(vec!["zz", "漢〇漢", "a\u{327}\u{301}", "<x>", " <x>a", "<y>", "<y>\u{3000}\u{3000}", "abba", "\u{2581}ab", "a\u{2581}", "'s", "\u{fb01}"])
            .prop_map(String::from),
    ];
    let space = prop::sample::select(vec![" ", " ", " ", "  ", "\n", "\t ", "", "\u{3000}"]);
    prop::collection::vec((word, space), 1..60).prop_flat_map(|words| {
        let text = prop::collection::vec(prop::sample::select(words), 0..80)
            .prop_map(|words| words.into_iter().map(|(word, space)| word + space).collect::<String>());
        prop::collection::vec(text, 1..12)
    })
}

/// All columns of a batch.
fn batch_of(
    encoder: &Encoder,
    texts: &[Source<'_>],
    pairs: Option<&[Input<'_>]>,
    offsets: bool,
    threads: usize,
) -> BatchIds {
    let extra = ExtraColumns { spans: offsets, overflow: false };
    encoder.encode(texts, pairs, ALL, extra, threads).unwrap()
}

fn check(tokenizer: &Tokenizer, texts: &[String], budget: usize) {
    let tokenizer = tokenizer.clone().with_cache_budget(budget);
    let spec = tokenizer.spec();
    let plain = Encoder::new(tokenizer.plain());
    let routed = Encoder::new(tokenizer);
    let inputs: Vec<Input<'_>> = texts.iter().map(|text| Input::Text(text)).collect();
    let reversed: Vec<Input<'_>> = inputs.iter().rev().copied().collect();
    let sources: Vec<Source<'_>> = inputs.iter().copied().map(Source::from).collect();
    let points: Vec<Vec<u32>> = texts.iter().map(|text| text.chars().map(u32::from).collect()).collect();
    let units: Vec<Source<'_>> =
        points.iter().map(|points| Source::Units(CodeUnits::Four(points))).collect();
    for level in Level::supported() {
        level.activate();
        for (pairs, offsets, threads) in [
            (false, false, 1),
            (false, true, 1),
            (true, false, 1),
            (true, true, 1),
            (false, false, 3),
            (false, true, 3),
        ] {
            let pairs = pairs.then_some(reversed.as_slice());
            let expected = batch_of(&plain, &sources, pairs, offsets, 1);
            for texts in [&sources, &units] {
                let found = batch_of(&routed, texts, pairs, offsets, threads);
                assert_eq!(
                    found,
                    expected,
                    "{} pairs {} threads {threads} {spec:?}",
                    level.name(),
                    pairs.is_some()
                );
            }
        }
        for (&input, &units) in inputs.iter().zip(&units) {
            let encode = |encoder: &Encoder| {
                encoder
                    .with_scratch(|scratch| encoder.tokenizer().encode(input, None, ALL, scratch).unwrap())
            };
            assert_eq!(encode(&routed), encode(&plain), "{} {input:?} {spec:?}", level.name());
            let ids = |encoder: &Encoder, source| encoder.ids(source, ALL, <[u32]>::to_vec).unwrap();
            let expected = ids(&plain, input.into());
            assert_eq!(ids(&routed, input.into()), expected, "{} {input:?} {spec:?}", level.name());
            assert_eq!(ids(&routed, units), expected, "{} {input:?} {spec:?}", level.name());
        }
        assert!(routed.with_scratch(|scratch| scratch.is_flushed()), "{} {spec:?}", level.name());
    }
}

#[test]
fn each_route_has_a_fixture() {
    let mut names: Vec<&str> = FIXTURES.iter().map(Tokenizer::route_name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names, ["bert", "byte-level", "generic", "metaspace", "sentencepiece-unigram"]);
}

/// What encodes a text again has the same tokens, so that only this test sees it.
#[test]
fn routes_that_align_do_not_encode_again() {
    let texts = ["ab abab cc", "", "a <x> ab", "cabc\u{e9}漢 ab.", "ab 1 bb\n  a"].map(Input::Text);
    let sources = texts.map(Source::from);
    let aligns = |tokenizer: &&Tokenizer| tokenizer.aligning_route(ALL).is_some();
    let mut names = Vec::new();
    for tokenizer in FIXTURES.iter().filter(aligns) {
        for text in texts {
            let expected = definition::tokens(tokenizer.stages(), text, 0, ALL, &mut tokenizer.scratch());
            let found = tokenizer.aligned_tokens(text, 0, ALL, &mut tokenizer.scratch());
            assert_eq!(found.unwrap(), Some(expected.unwrap()), "{text:?} {:?}", tokenizer.spec());
        }
        let before = ROWS_AGAIN.get();
        batch_of(&Encoder::new(tokenizer.clone()), &sources, None, true, 1);
        assert_eq!(ROWS_AGAIN.get(), before, "{:?}", tokenizer.spec());
        names.push(tokenizer.route_name());
    }
    names.dedup();
    assert!(["bert", "byte-level"].iter().all(|name| names.contains(name)), "{names:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_route_equals_the_definition(
        texts in any_texts(),
        budget in prop::sample::select(vec![0, 64 << 10, 64 << 20]),
    ) {
        for tokenizer in FIXTURES.iter() {
            check(tokenizer, &texts, budget);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Before the tables are built that the first texts do without.
    #[test]
    fn the_first_texts_equal_the_definition(texts in any_texts()) {
        let compiled = [Tokenizer::compile_ranks(ranks()), Tokenizer::compile(ranks())].map(Result::unwrap);
        let [first, whole] = compiled.map(Encoder::new);
        for text in &texts {
            let ids = |encoder: &Encoder| encoder.ids(Input::Text(text).into(), ALL, <[u32]>::to_vec).unwrap();
            prop_assert_eq!(ids(&first), ids(&whole));
        }
        let pieces = sentencepiece(SentencePieceKind::Bpe, true);
        let [first, whole] = [(); 2].map(|()| Tokenizer::compile(&pieces).unwrap());
        let _built = whole.store();
        let [first, whole] = [first, whole].map(Encoder::new);
        for text in &texts {
            let ids = |encoder: &Encoder| encoder.ids(Input::Text(text).into(), ALL, <[u32]>::to_vec).unwrap();
            prop_assert_eq!(ids(&first), ids(&whole));
        }
    }
}

#[test]
fn rows_are_filled_without_the_merges_of_ranks() {
    let tokenizer = Tokenizer::compile_ranks(ranks()).unwrap();
    assert_eq!(tokenizer.filling(&[]).id, None);
    assert!(!tokenizer.stages().model_spec.is_whole());
    let _spec = tokenizer.spec();
    assert!(tokenizer.stages().model_spec.is_whole());
}

#[test]
fn windows_of_words_and_full_queues_equal_the_definition() {
    let numbered =
        |count: usize| (0..count).map(|at| format!(" a{}b", at * 7919 % 10_007)).collect::<String>();
    let again = |count: usize| (0..count).map(|at| format!("ab{} ", at % 300)).collect::<String>();
    let texts = [numbered(255), numbered(257), again(1500), numbered(1025), "ab ".repeat(3000)];
    for tokenizer in FIXTURES.iter() {
        for budget in [0, 4 << 10, 64 << 20] {
            check(tokenizer, &texts, budget);
        }
    }
}
