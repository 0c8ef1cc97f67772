//! Rules compiled and decompiled, and rules that cannot be compiled.

use proptest::prelude::*;

use super::compile::{lay_out, MinimalTrie, RuleError, TrieNode};
use super::*;

fn pairs_of(rules: &[(&str, &str)]) -> Vec<Pair> {
    rules.iter().map(|&(old, new)| (old.to_owned(), new.to_owned())).collect()
}

#[test]
fn rejects_invalid_rules() {
    let compiled = |rules: &[(&str, &str)]| compile::compile(&pairs_of(rules));
    let error = |rules: &[(&str, &str)]| -> RuleError { compiled(rules).unwrap_err() };
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
fn rejects_rules_that_are_too_large() {
    let rules = |count: u32, len: usize| -> Vec<(String, String)> {
        (0..count).map(|at| (format!("{at:0len$}"), at.to_string())).collect()
    };
    let error = compile::compile(&rules(50_000, 100)).unwrap_err();
    assert_eq!((error.rule, error.found.as_str()), (None, "5000000 bytes of sources"));
    let long = "x".repeat(1 << 20);
    let error = compile::compile(&(0..65).map(|at| (at.to_string(), long.clone())).collect::<Vec<_>>());
    assert_eq!(error.unwrap_err().expected, "at most 67108864");
}

#[test]
fn errors_name_the_rule() {
    let message = |result: Result<Vec<u8>, Error>| result.unwrap_err().to_string();
    let pairs = pairs_of(&[("a", "b"), ("a", "c")]);
    let found = "rules[\"a\"]: must be each source once, not the source \"a\" again";
    assert_eq!(message(compile_pairs(&pairs)), found);
    let found = "line 2: found the source \"A\" again, expected each source once";
    assert_eq!(message(compile_tsv(b"41\t42\n41\t43")), found);
    assert_eq!(compile_named("nfk"), None);
}

#[test]
fn does_not_decompile_a_trie_that_stands_for_too_many_rules() {
    // 32 levels of `a` or `b`, all with the same child: 2^32 rules in a few units.
    let node = |value, child: Option<u32>| TrieNode {
        value,
        children: child.map_or(vec![], |child| vec![(b'a', child), (b'b', child)]),
    };
    let mut nodes = vec![node(Some(0), None)];
    nodes.extend((0..32).map(|child| node(None, Some(child))));
    let units = lay_out(&MinimalTrie { nodes }).unwrap();
    let mut blob = ((units.len() * 4) as u32).to_le_bytes().to_vec();
    blob.extend(units.into_iter().flat_map(u32::to_le_bytes));
    blob.extend(b"x\0");
    assert_eq!(decompile(&blob).unwrap_err().found, "longer or more rules");
}

#[test]
fn does_not_decompile_damaged_charsmaps() {
    let charsmap = compile_pairs(&pairs_of(&[("a", "1"), ("abc", "3"), ("é", "e")])).unwrap();
    assert_eq!(decompile(&[]).unwrap(), []);
    for len in 1..4 {
        assert!(decompile(&charsmap[..len]).is_err());
    }
    for at in 0..charsmap.len() {
        let mut damaged = charsmap.clone();
        damaged[at] ^= 0xFF;
        // Any result, without a panic.
        let _ = decompile(&damaged);
    }
}

fn characters() -> impl Strategy<Value = char> {
    prop::sample::select("abc éè\u{301}漢字😀😁\u{10FFFF}".chars().collect::<Vec<_>>())
}

fn text(len: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(characters(), len).prop_map(|chars| chars.into_iter().collect())
}

proptest! {
    #[test]
    fn decompiles_to_the_same_rules(rules in prop::collection::btree_map(text(1..5), text(0..4), 0..40)) {
        let pairs: Vec<_> = rules.into_iter().collect();
        let charsmap = compile_pairs(&pairs).unwrap();
        prop_assert_eq!(decompile(&charsmap).unwrap(), pairs.clone());
        prop_assert_eq!(compile_tsv(&write_tsv(&charsmap).unwrap()).unwrap(), charsmap);
    }

    #[test]
    fn the_order_of_the_rules_does_not_matter(rules in prop::collection::btree_map(text(1..5), text(0..4), 0..40)) {
        let pairs: Vec<_> = rules.into_iter().collect();
        let reversed: Vec<_> = pairs.iter().rev().cloned().collect();
        let (one, other) = (compile_pairs(&pairs).unwrap(), compile_pairs(&reversed).unwrap());
        prop_assert_eq!(one, other);
    }
}
