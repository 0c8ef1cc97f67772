//! Rules against the longest match by a map.

use std::collections::BTreeMap;

use piecework_formats::normalization_rules::compile_pairs;
use proptest::prelude::*;

use super::*;
use crate::text::Aligned;

fn compiled(rules: &[(&str, &str)]) -> Rules {
    let pairs: Vec<_> = rules.iter().map(|&(old, new)| (old.to_owned(), new.to_owned())).collect();
    Rules::parse(&compile_pairs(&pairs).unwrap(), "rules").unwrap()
}

fn applied(rules: &Rules, text: &str) -> String {
    let mut out = String::new();
    rules.run(text, 0, &mut out).unwrap();
    out
}

/// What the rules mean: the longest that begins here, or this character.
fn applied_by_map(rules: &BTreeMap<String, String>, mut text: &str) -> String {
    let mut out = String::new();
    while let Some(first) = text.chars().next() {
        let longest =
            rules.iter().filter(|(old, _)| text.starts_with(*old)).max_by_key(|(old, _)| old.len());
        match longest {
            Some((_, new)) => out.push_str(new),
            None => out.push(first),
        }
        text = &text[longest.map_or(first.len_utf8(), |(old, _)| old.len())..];
    }
    out
}

#[test]
fn takes_the_longest_rule() {
    let rules = compiled(&[("a", "1"), ("abc", "3"), ("b", ""), ("é", "e")]);
    assert_eq!(applied(&rules, "ab abc abd é"), "1 3 1d e");
}

#[test]
fn each_character_of_a_replacement_has_the_whole_source() {
    let mut aligned = Aligned::default();
    compiled(&[("I'm", "I am"), ("é", "")]).run("éI'm!", 0, &mut aligned).unwrap();
    assert_eq!(aligned.text(), "I am!");
    assert_eq!((0..4).map(|at| aligned.source_of(at, at + 1)).collect::<Vec<_>>(), [(2, 5); 4]);
    assert_eq!(aligned.source_of(4, 5), (5, 6));
}

#[test]
fn no_rules_are_the_identity() {
    let rules = compiled(&[]);
    assert_eq!(applied(&rules, "ﬁ"), "ﬁ");
}

fn characters() -> impl Strategy<Value = char> {
    prop::sample::select(vec![
        'a',
        'b',
        'c',
        ' ',
        'é',
        'è',
        '\u{301}',
        '漢',
        '字',
        '😀',
        '😁',
        '\u{10FFFF}',
    ])
}

fn text(len: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(characters(), len).prop_map(|chars| chars.into_iter().collect())
}

proptest! {
    #[test]
    fn applies_the_longest_rule_of_a_map(
        rules in prop::collection::btree_map(text(1..5), text(0..4), 0..40),
        texts in prop::collection::vec(text(0..40), 5),
    ) {
        let pairs: Vec<_> = rules.clone().into_iter().collect();
        let compiled = Rules::parse(&compile_pairs(&pairs).unwrap(), "rules").unwrap();
        for text in texts {
            prop_assert_eq!(applied(&compiled, &text), applied_by_map(&rules, &text));
        }
    }
}
