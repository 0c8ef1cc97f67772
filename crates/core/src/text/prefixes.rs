//! Texts that are sought at the place where one stands, the longest first.

use aho_corasick::{AhoCorasick, Anchored, Input, MatchKind, StartKind};

/// A set of texts, none empty.
#[derive(Clone, Debug)]
pub struct Prefixes {
    automaton: AhoCorasick,
    begins: Box<[bool; 256]>,
}

impl Prefixes {
    /// Build from texts; `None` for none, or for so many that no automaton holds them.
    #[must_use]
    pub fn build<'t>(texts: impl Iterator<Item = &'t str>) -> Option<Self> {
        let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
        let mut begins = Box::new([false; 256]);
        texts.iter().for_each(|text| begins[usize::from(text.as_bytes()[0])] = true);
        let mut builder = AhoCorasick::builder();
        builder.match_kind(MatchKind::LeftmostLongest).start_kind(StartKind::Anchored);
        let automaton = builder.build(&texts).ok().filter(|_| !texts.is_empty())?;
        Some(Self { automaton, begins })
    }

    /// Whether one of them begins with this byte.
    #[inline]
    #[must_use]
    pub fn begin_with(&self, byte: u8) -> bool {
        self.begins[usize::from(byte)]
    }

    /// The end of the longest of them that stands at byte `at` of `text`.
    #[inline]
    #[must_use]
    pub fn end_at(&self, text: &str, at: usize) -> Option<usize> {
        if !self.begin_with(*text.as_bytes().get(at)?) {
            return None;
        }
        let input = Input::new(text).range(at..).anchored(Anchored::Yes);
        self.automaton.find(input).map(|found| found.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_longest_and_only_where_it_stands() {
        let prefixes = Prefixes::build(["<a>", "<a><b>", ""].into_iter()).unwrap();
        assert_eq!(prefixes.end_at("x<a><b>", 1), Some(7));
        assert_eq!(prefixes.end_at("x<a>", 0), None);
        assert_eq!(prefixes.end_at("x", 1), None);
        assert!(Prefixes::build(std::iter::once("")).is_none());
    }
}
