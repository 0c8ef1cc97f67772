//! The law of truncation: every fixture encodes only what is kept, and the result is that of the definition, which encodes
//! the whole text and then truncates it.
//!
//! Both sides, all strategies, with and without special tokens; ids, offsets, pairs, lists of words, code units, a single
//! text, and the fields of a text that are read late.

use std::sync::LazyLock;

use piecework_kernels::code_units::CodeUnits;
use proptest::prelude::*;

use super::route_law::{any_texts, FIXTURES};
use super::*;
use crate::encoding::Encoding;
use crate::spec::{AddedToken, Direction, Truncation, TruncationStrategy};
use crate::stages::added_tokens::Selector;

/// Fixtures whose added tokens leave the text after them alone, so that it can be cut on the left; and such fixtures with an
/// added token across a space, or with one that looks back from a space.
pub(super) static WITH_OTHER_TOKENS: LazyLock<Vec<Tokenizer>> = LazyLock::new(|| {
    let across = AddedToken::special("b c", 5005);
    let looks_back = AddedToken { single_word: true, ..AddedToken::special(" a", 5006) };
    let with = |tokenizer: &Tokenizer, token: &Option<AddedToken>| {
        let mut spec = tokenizer.spec();
        spec.added_tokens.iter_mut().for_each(|token| token.rstrip = false);
        spec.added_tokens.extend(token.clone());
        Tokenizer::compile(spec).unwrap()
    };
    let tokens = [None, Some(across), None, Some(looks_back), None, None, None];
    FIXTURES.iter().zip(tokens.iter().cycle()).map(|(tokenizer, token)| with(tokenizer, token)).collect()
});

/// Fixtures with tokens that contain or touch each other, and that spaces begin.
pub(super) static WITH_TOUCHING_TOKENS: LazyLock<Vec<Tokenizer>> = LazyLock::new(|| {
    let plain = |content, id| AddedToken { special: false, ..AddedToken::special(content, id) };
    let tokens = [
        plain("<x>a", 5010),
        plain("b<", 5011),
        AddedToken { single_word: true, ..plain("c1", 5012) },
        plain(" e", 5013),
        plain("  ", 5014),
        AddedToken { normalized: true, ..plain("   ", 5015) },
    ];
    let with = |(at, tokenizer): (usize, &Tokenizer)| {
        let mut spec = tokenizer.spec();
        spec.added_tokens.iter_mut().for_each(|token| (token.lstrip, token.rstrip) = (false, false));
        let is_chosen = |bit: usize| (at + 1) >> (bit % 4) & 1 == 1;
        let chosen = tokens.iter().enumerate().filter(|&(bit, _)| is_chosen(bit));
        spec.added_tokens.extend(chosen.map(|(_, token)| token.clone()));
        Tokenizer::compile(spec).unwrap()
    };
    FIXTURES.iter().enumerate().map(with).collect()
});

fn any_truncation() -> impl Strategy<Value = Truncation> {
    use TruncationStrategy::{LongestFirst, OnlyFirst, OnlySecond};
    let strategy = prop::sample::select(vec![LongestFirst, LongestFirst, OnlyFirst, OnlySecond]);
    let direction = prop::sample::select(vec![Direction::Right, Direction::Left]);
    let max_length = prop_oneof![4 => 2..24usize, 1 => 24..120usize];
    (max_length, strategy, direction).prop_map(|(max_length, strategy, direction)| Truncation {
        max_length,
        strategy,
        direction,
        stride: 0,
    })
}

/// Texts that are mostly longer than they are kept, some of them without any cut.
fn any_long_texts() -> impl Strategy<Value = Vec<String>> {
    (any_texts(), prop::sample::select(vec![" ", " ", "", "\u{3000}"]), 1..12usize).prop_map(
        |(texts, space, times)| {
            let text = |text: String| vec![text; times].join(space);
            texts.into_iter().take(4).map(text).collect()
        },
    )
}

/// What a caller sees: the result, or the error as text.
type Seen<T> = Result<T, String>;

/// All columns of a batch.
fn seen_batch(
    encoder: &Encoder,
    texts: &[Source<'_>],
    pairs: Option<&[Input<'_>]>,
    options: Options<'_>,
    (spans, threads): (bool, usize),
) -> Seen<BatchIds> {
    let extra = ExtraColumns { spans, overflow: false };
    encoder.encode(texts, pairs, options, extra, threads).map_err(|error| error.to_string())
}

/// The fields of one text without its further windows.
fn seen_fields(encoder: &Encoder, text: Input<'_>, options: Options<'_>) -> Seen<Encoding> {
    let fields = encoder.with_scratch(|scratch| encoder.tokenizer().encode_kept(text, options, scratch));
    fields.map_err(|error| error.to_string())
}

fn check(tokenizer: &Tokenizer, texts: &[String], truncation: &Truncation, add_special_tokens: bool) {
    let options = Options { add_special_tokens, parse_special: &Selector::All, sampling: None };
    let Ok(tokenizer) = tokenizer.with_lengths(Some(truncation.clone()), None) else { return };
    let spec = tokenizer.stages_spec();
    let (plain, routed) = (Encoder::new(tokenizer.plain()), Encoder::new(tokenizer));
    let inputs: Vec<Input<'_>> = texts.iter().map(|text| Input::Text(text)).collect();
    let words: Vec<Vec<&str>> = texts.iter().map(|text| text.split(' ').collect()).collect();
    let words: Vec<Input<'_>> = words.iter().map(|words| Input::Words(words)).collect();
    let points: Vec<Vec<u32>> = texts.iter().map(|text| text.chars().map(u32::from).collect()).collect();
    let units: Vec<Source<'_>> =
        points.iter().map(|points| Source::Units(CodeUnits::Four(points))).collect();
    for (spans, is_pair) in [(false, false), (true, false), (false, true), (true, true)] {
        for (given, units) in [(&inputs, Some(&units)), (&words, None)] {
            let reversed: Vec<Input<'_>> = given.iter().rev().copied().collect();
            let pairs = is_pair.then_some(reversed.as_slice());
            let sources: Vec<Source<'_>> = given.iter().copied().map(Source::from).collect();
            let expected = seen_batch(&plain, &sources, pairs, options, (spans, 1));
            for (sources, threads) in [(Some(&sources), 1), (Some(&sources), 3), (units, 1)] {
                let Some(sources) = sources else { continue };
                let found = seen_batch(&routed, sources, pairs, options, (spans, threads));
                assert_eq!(found, expected, "{truncation:?} spans {spans} pair {is_pair} {spec:?}");
            }
        }
    }
    for (&input, &units) in inputs.iter().zip(&units) {
        let expected = seen_fields(&plain, input, options);
        assert_eq!(seen_fields(&routed, input, options), expected, "{truncation:?} {spec:?}");
        let ids = |encoder: &Encoder, text: Source<'_>| {
            encoder.ids(text, options, <[u32]>::to_vec).map_err(|error| error.to_string())
        };
        let whole = plain.with_scratch(|scratch| plain.tokenizer().encode(input, None, options, scratch));
        let whole = whole.map(|fields| fields.tokens).map_err(|error| error.to_string());
        assert_eq!(whole, expected.map(|fields| fields.tokens), "{truncation:?} {spec:?}");
        let whole = whole.map(|tokens| tokens.iter().map(|token| token.id).collect());
        assert_eq!([ids(&routed, input.into()), ids(&routed, units)], [whole.clone(), whole], "{spec:?}");
    }
    assert!(routed.with_scratch(|scratch| scratch.is_flushed()), "{spec:?}");
}

/// The number of cases, each of up to four texts for every fixture.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(24)
}

/// Return the names of the routes of which a fixture is cut at one side.
fn routes_cut_at(side: Direction) -> Vec<&'static str> {
    let is_cut = |tokenizer: &&Tokenizer| {
        tokenizer.cuts().is_some_and(|cuts| side == Direction::Right || cuts.allow_rests())
    };
    let all = FIXTURES.iter().chain(WITH_OTHER_TOKENS.iter());
    let mut names: Vec<&str> = all.filter(is_cut).map(Tokenizer::route_name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[test]
fn each_route_has_fixtures_that_are_cut() {
    let both = ["bert", "byte-level", "generic", "metaspace"];
    assert_eq!(routes_cut_at(Direction::Left), both);
    assert_eq!(routes_cut_at(Direction::Right), [&both[..], &["sentencepiece-unigram"]].concat());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn what_is_kept_equals_the_truncation_of_the_whole(
        texts in any_long_texts(),
        truncation in any_truncation(),
        add_special_tokens in any::<bool>(),
    ) {
        for tokenizer in FIXTURES.iter().chain(WITH_OTHER_TOKENS.iter()).chain(WITH_TOUCHING_TOKENS.iter()) {
            check(tokenizer, &texts, &truncation, add_special_tokens);
        }
    }
}
