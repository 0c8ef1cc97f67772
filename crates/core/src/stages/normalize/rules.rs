//! Normalization rules as SentencePiece applies them: at each position the longest matching rule, else the
//! character itself. O(bytes) times the length of the longest rule.
//!
//! Rules come compiled, as a `precompiled_charsmap`.

use super::charsmap::Charsmap;
use crate::error::Error;
use crate::text::{ExpansionLimit, NormalizedSink};

/// Compiled rules.
#[derive(Clone, Debug)]
pub struct Rules {
    /// `None` if there is no rule.
    charsmap: Option<Charsmap>,
    /// The bytes that begin a rule.
    begins: [bool; 256],
}

impl Rules {
    /// Parse compiled rules at `place` in their file; an empty blob is the identity.
    pub fn parse(blob: &[u8], place: &str) -> Result<Self, Error> {
        let charsmap = if blob.is_empty() { None } else { Some(Charsmap::parse(blob, place)?) };
        let begins = |charsmap: &Charsmap, byte| charsmap.child(charsmap.root(), byte).is_some();
        let begins = std::array::from_fn(|byte| {
            byte != 0 && charsmap.as_ref().is_some_and(|charsmap| begins(charsmap, byte as u8))
        });
        Ok(Self { charsmap, begins })
    }

    /// Apply the rules to `text`, which begins at byte `start` of the original. Each character of a
    /// replacement has the whole match as its source.
    ///
    /// Fails if the output exceeds the expansion limit.
    pub fn run(&self, text: &str, start: u32, out: &mut impl NormalizedSink) -> Result<(), Error> {
        let Some(charsmap) = &self.charsmap else {
            out.push_unchanged(text, start);
            return Ok(());
        };
        let mut limit = ExpansionLimit::of(text.len());
        let (mut done, mut at) = (0, 0);
        while let Some(from) = self.next_beginning(text, at) {
            let Some((len, new)) = charsmap.longest_match(&text[from..]) else {
                at = from + text[from..].chars().next().map_or(1, char::len_utf8);
                continue;
            };
            out.push_unchanged(&text[done..from], start + done as u32);
            limit.take(new.len())?;
            at = from + len;
            let source = (start + from as u32, start + at as u32);
            new.chars().for_each(|c| out.push_from(c, source));
            done = at;
        }
        out.push_unchanged(&text[done..], start + done as u32);
        Ok(())
    }

    /// Return the first position at or after byte `at` where a rule may begin.
    fn next_beginning(&self, text: &str, at: usize) -> Option<usize> {
        let begins =
            |(len, &byte): (usize, &u8)| self.begins[usize::from(byte)] && text.is_char_boundary(at + len);
        text.as_bytes()[at..].iter().enumerate().position(begins).map(|len| at + len)
    }
}

#[cfg(test)]
mod tests {
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
}
