//! Rules against the longest match by a map, and their way there and back.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::text::Aligned;

fn compiled(rules: &[(&str, &str)]) -> Result<Rules, RuleError> {
    let pairs: Vec<_> = rules.iter().map(|&(old, new)| (old.to_owned(), new.to_owned())).collect();
    Rules::compile(&pairs)
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
    let rules = compiled(&[("a", "1"), ("abc", "3"), ("b", ""), ("é", "e")]).unwrap();
    assert_eq!(applied(&rules, "ab abc abd é"), "1 3 1d e");
}

#[test]
fn gives_each_character_of_a_replacement_the_whole_source() {
    let mut aligned = Aligned::default();
    compiled(&[("I'm", "I am"), ("é", "")]).unwrap().run("éI'm!", 0, &mut aligned).unwrap();
    assert_eq!(aligned.text(), "I am!");
    assert_eq!((0..4).map(|at| aligned.source_of(at, at + 1)).collect::<Vec<_>>(), [(2, 5); 4]);
    assert_eq!(aligned.source_of(4, 5), (5, 6));
}

#[test]
fn no_rule_is_the_identity() {
    let rules = compiled(&[]).unwrap();
    assert_eq!((rules.blob(), applied(&rules, "ﬁ").as_str()), (&[][..], "ﬁ"));
    assert_eq!(rules.pairs().unwrap(), []);
}

#[test]
fn refuses_what_cannot_be_a_rule() {
    let error = |rules: &[(&str, &str)]| compiled(rules).unwrap_err();
    assert_eq!(error(&[("a", ""), ("", "b")]).rule, Some(1));
    assert_eq!(error(&[("a\0", "")]).found, "NUL");
    assert_eq!(error(&[("a", "\0")]).found, "NUL");
    assert_eq!(error(&[("b", ""), ("a", ""), ("b", "x")]).found, "the source \"b\" again");
    assert_eq!(error(&[(&"x".repeat(257), "")]).found, "a source of 257 bytes");
    let nested: Vec<String> = (1..=32).map(|len| "n".repeat(len)).collect();
    let nested: Vec<(&str, &str)> = nested.iter().map(|source| (source.as_str(), "")).collect();
    assert!(compiled(&nested[..31]).is_ok());
    assert_eq!(error(&nested).rule, Some(31));
}

#[test]
fn refuses_rules_that_need_too_much_room() {
    let rules = |count: u32, len: usize| -> Vec<(String, String)> {
        (0..count).map(|at| (format!("{at:0len$}"), at.to_string())).collect()
    };
    let error = Rules::compile(&rules(50_000, 100)).unwrap_err();
    assert_eq!((error.rule, error.found.as_str()), (None, "5000000 bytes of sources"));
    let long = "x".repeat(1 << 20);
    let error = Rules::compile(&(0..65).map(|at| (at.to_string(), long.clone())).collect::<Vec<_>>());
    assert_eq!(error.unwrap_err().expected, "at most 67108864");
}

#[test]
fn a_trie_that_shares_too_much_is_not_decompiled() {
    // 32 levels of `a` or `b`, all with the same child: 2^32 rules in a few units.
    let node = |value, child: Option<u32>| minimal_trie::Node {
        value,
        children: child.map_or(vec![], |child| vec![(b'a', child), (b'b', child)]),
    };
    let mut nodes = vec![node(Some(0), None)];
    nodes.extend((0..32).map(|child| node(None, Some(child))));
    let units = double_array::lay_out(&minimal_trie::MinimalTrie { nodes }).unwrap();
    let mut blob = ((units.len() * 4) as u32).to_le_bytes().to_vec();
    blob.extend(units.into_iter().flat_map(u32::to_le_bytes));
    blob.extend(b"x\0");
    let rules = Rules::parse(&blob, "place").unwrap();
    assert_eq!(applied(&rules, &"ab".repeat(17)), "xab");
    assert_eq!(rules.pairs().unwrap_err().found, "longer or more rules");
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
    fn applies_as_the_map_and_decompiles_to_it(
        rules in prop::collection::btree_map(text(1..5), text(0..4), 0..40),
        texts in prop::collection::vec(text(0..40), 5),
    ) {
        let pairs: Vec<_> = rules.clone().into_iter().collect();
        let compiled = Rules::compile(&pairs).unwrap();
        prop_assert_eq!(compiled.pairs().unwrap(), pairs);
        for text in texts {
            prop_assert_eq!(applied(&compiled, &text), applied_by_map(&rules, &text));
        }
    }

    #[test]
    fn the_order_of_the_rules_is_nothing(rules in prop::collection::btree_map(text(1..5), text(0..4), 0..40)) {
        let pairs: Vec<_> = rules.into_iter().collect();
        let reversed: Vec<_> = pairs.iter().rev().cloned().collect();
        let (one, other) = (Rules::compile(&pairs).unwrap(), Rules::compile(&reversed).unwrap());
        prop_assert_eq!(one.blob(), other.blob());
    }
}
