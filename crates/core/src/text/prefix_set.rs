//! A set of texts to find at a given position, the longest first.

use aho_corasick::{AhoCorasick, Anchored, Input, MatchKind, StartKind};

/// A set of texts, none empty.
#[derive(Clone, Debug)]
pub struct PrefixSet {
    automaton: AhoCorasick,
    begins: Box<[FirstByte; 256]>,
}

/// The texts that begin with a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FirstByte {
    Nothing,
    /// Only the text of this byte alone.
    Itself,
    Longer,
}

impl PrefixSet {
    /// Build a set; `None` for no texts, or for too many for an automaton.
    #[must_use]
    pub fn build<'t>(texts: impl Iterator<Item = &'t str>) -> Option<Self> {
        let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
        let mut begins = Box::new([FirstByte::Nothing; 256]);
        for text in &texts {
            let begin = &mut begins[usize::from(text.as_bytes()[0])];
            let is_only = text.len() == 1 && *begin != FirstByte::Longer;
            *begin = if is_only { FirstByte::Itself } else { FirstByte::Longer };
        }
        let mut builder = AhoCorasick::builder();
        builder.match_kind(MatchKind::LeftmostLongest).start_kind(StartKind::Anchored);
        let automaton = builder.build(&texts).ok().filter(|_| !texts.is_empty())?;
        Some(Self { automaton, begins })
    }

    /// Return whether a text begins with this byte.
    #[inline]
    #[must_use]
    pub fn begin_with(&self, byte: u8) -> bool {
        self.begins[usize::from(byte)] != FirstByte::Nothing
    }

    /// Return whether this byte is a text and begins no other.
    #[must_use]
    pub fn have_alone(&self, byte: u8) -> bool {
        self.begins[usize::from(byte)] == FirstByte::Itself
    }

    /// Return the end of the longest text of the set at byte `at` of `text`.
    #[inline]
    #[must_use]
    pub fn end_at(&self, text: &str, at: usize) -> Option<usize> {
        match self.begins[usize::from(*text.as_bytes().get(at)?)] {
            FirstByte::Nothing => return None,
            FirstByte::Itself => return Some(at + 1),
            FirstByte::Longer => {}
        }
        let input = Input::new(text).range(at..).anchored(Anchored::Yes);
        self.automaton.find(input).map(|found| found.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_prefix_matches_at_its_position_only() {
        let prefixes = PrefixSet::build(["<a>", "<a><b>", ""].into_iter()).unwrap();
        assert_eq!(prefixes.end_at("x<a><b>", 1), Some(7));
        assert_eq!(prefixes.end_at("x<a>", 0), None);
        assert_eq!(prefixes.end_at("x", 1), None);
        assert!(PrefixSet::build(std::iter::once("")).is_none());
    }

    #[test]
    fn a_single_byte_matches_unless_a_longer_prefix_does() {
        for texts in [["a", "b", "bc"], ["bc", "b", "a"]] {
            let prefixes = PrefixSet::build(texts.into_iter()).unwrap();
            assert_eq!(
                "abcbx".char_indices().map(|(at, _)| prefixes.end_at("abcbx", at)).collect::<Vec<_>>(),
                [Some(1), Some(3), None, Some(4), None]
            );
            assert_eq!([b'a', b'b', b'c'].map(|byte| prefixes.have_alone(byte)), [true, false, false]);
        }
    }
}
