//! Words and their offsets, as in tokenizers 0.23.3.

use super::*;
use crate::spec::{
    ByteLevelSpec, MetaspaceSpec, PatternSpec, PreTokenizerSpec, PrependScheme, SplitBehavior,
};
use crate::text::{NormalizedSink, PreTokenizedText};

/// Return the words of a text with their byte spans in it.
fn traced_words(spec: &PreTokenizerSpec, text: &str) -> Vec<(String, (u32, u32))> {
    let mut words = PreTokenizedText::default();
    words.text.push_unchanged(text, 0);
    words.set_whole();
    PreTokenizer::compile(Some(spec)).unwrap().split_words(&mut words, usize::MAX).unwrap();
    let PreTokenizedText { text, spans, .. } = &words;
    spans.iter().map(|&(from, to)| (text.text()[from..to].to_owned(), text.source_of(from, to))).collect()
}

fn words(spec: &PreTokenizerSpec, text: &str) -> Vec<String> {
    traced_words(spec, text).into_iter().map(|word| word.0).collect()
}

fn split(pattern: PatternSpec, behavior: SplitBehavior, invert: bool) -> PreTokenizerSpec {
    PreTokenizerSpec::Split { pattern, behavior, invert }
}

#[test]
fn each_pre_tokenizer_splits_as_specified() {
    let text = "Don't  go?";
    assert_eq!(words(&PreTokenizerSpec::Bert, text), ["Don", "'", "t", "go", "?"]);
    assert_eq!(words(&PreTokenizerSpec::WhitespaceSplit, text), ["Don't", "go?"]);
    let isolated = PreTokenizerSpec::Punctuation { behavior: SplitBehavior::Isolated };
    assert_eq!(words(&isolated, text), ["Don", "'", "t  go", "?"]);
    let delimiter = PreTokenizerSpec::CharDelimiterSplit { delimiter: 'o' };
    assert_eq!(words(&delimiter, text), ["D", "n't  g", "?"]);
    let digits = PreTokenizerSpec::Digits { individual_digits: false };
    assert_eq!(words(&digits, "a1½b2"), ["a", "1½", "b", "2"]);
}

#[test]
fn byte_level_characters_come_from_their_character() {
    let spec = ByteLevelSpec { add_prefix_space: true, trim_offsets: true, use_regex: true };
    let found = traced_words(&PreTokenizerSpec::ByteLevel(spec), "é x");
    assert_eq!(found, [("ĠÃ©".to_owned(), (0, 2)), ("Ġx".to_owned(), (2, 4))]);
}

#[test]
fn metaspace_replaces_spaces_and_prepends() {
    let spec = |prepend_scheme, split| {
        PreTokenizerSpec::Metaspace(MetaspaceSpec { replacement: '▁', prepend_scheme, split })
    };
    assert_eq!(words(&spec(PrependScheme::Always, true), "a  b"), ["▁a", "▁", "▁b"]);
    assert_eq!(words(&spec(PrependScheme::Never, true), "a b"), ["a", "▁b"]);
    assert_eq!(words(&spec(PrependScheme::Always, false), " a b"), ["▁a▁b"]);
    let first = PreTokenizerSpec::Sequence(vec![
        PreTokenizerSpec::WhitespaceSplit,
        spec(PrependScheme::First, true),
    ]);
    assert_eq!(words(&first, "a b"), ["▁a", "b"]);
    assert_eq!(words(&first, " a b"), ["a", "b"]);
}

#[test]
fn a_split_pattern_may_match_nothing() {
    let empty = || PatternSpec::Text(String::new());
    assert_eq!(words(&split(empty(), SplitBehavior::Isolated, false), "añb"), ["a", "ñ", "b"]);
    let digits = PatternSpec::Regex(r"\d*".to_owned());
    assert_eq!(words(&split(digits, SplitBehavior::MergedWithNext, false), "a12b"), ["a", "12b"]);
}

#[test]
fn a_split_may_be_inverted() {
    let letters = PatternSpec::Regex(r"\p{L}+".to_owned());
    assert_eq!(words(&split(letters, SplitBehavior::Removed, true), "a1b c"), ["a", "b", "c"]);
}

#[test]
fn errors_name_the_member_of_a_sequence() {
    let bad = split(PatternSpec::Regex("(".to_owned()), SplitBehavior::Isolated, false);
    let nested =
        PreTokenizerSpec::Sequence(vec![PreTokenizerSpec::Sequence(vec![PreTokenizerSpec::Bert, bad])]);
    let error = PreTokenizer::compile(Some(&nested)).unwrap_err();
    assert_eq!(error.place, "pre_tokenizer.pretokenizers[0].pretokenizers[1].pattern");
    let zero = PreTokenizer::compile(Some(&PreTokenizerSpec::FixedLength { length: 0 })).unwrap_err();
    assert_eq!(zero.place, "pre_tokenizer.length");
}
