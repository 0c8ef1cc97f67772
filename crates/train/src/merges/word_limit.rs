//! The most words that a byte-level entry spans. A word begins at a space after another character than whitespace.

use std::rc::Rc;

use piecework_core::text::byte_of_printable;

/// The most words that an entry spans, and how entries begin and end.
pub(crate) struct WordLimit {
    most: usize,
    spans: Vec<WordsOfEntry>,
}

/// The words of one entry.
#[derive(Clone, Copy, Default)]
struct WordsOfEntry {
    words: usize,
    starts_with_space: bool,
    ends_with_whitespace: bool,
}

impl WordLimit {
    /// Return the limit, for the first entries.
    pub(crate) fn new(most: usize, entries: &[Rc<str>]) -> Self {
        Self { most, spans: entries.iter().map(|entry| WordsOfEntry::of(entry)).collect() }
    }

    /// Return whether the merged entry of a pair spans few enough words.
    pub(super) fn allow(&self, left: u32, right: u32) -> bool {
        self.merged(left, right).words <= self.most
    }

    /// Record the merged entry of a pair.
    pub(super) fn add(&mut self, left: u32, right: u32) {
        self.spans.push(self.merged(left, right));
    }

    fn merged(&self, left: u32, right: u32) -> WordsOfEntry {
        self.spans[left as usize].followed_by(self.spans[right as usize])
    }
}

impl WordsOfEntry {
    fn of(entry: &str) -> Self {
        let characters = entry.chars().map(|c| {
            let byte = byte_of_printable(c);
            Self {
                words: 1,
                starts_with_space: byte == Some(b' '),
                ends_with_whitespace: byte.is_some_and(|byte| byte.is_ascii_whitespace()),
            }
        });
        characters.reduce(Self::followed_by).unwrap_or_default()
    }

    fn followed_by(self, right: Self) -> Self {
        let begins_word = right.starts_with_space && !self.ends_with_whitespace;
        Self {
            words: self.words + right.words - usize::from(!begins_word),
            starts_with_space: self.starts_with_space,
            ends_with_whitespace: right.ends_with_whitespace,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_begin_at_spaces_after_other_characters() {
        let words = ["Ġof", "Ġof Ġthe", "ofĠthe", "ĠĠĠ", "ĊĠĠx", "a", "ingĠ", ",Ġand"];
        let found = words.map(|entry| WordsOfEntry::of(&entry.replace(' ', "")).words);
        assert_eq!(found, [1, 2, 2, 1, 1, 1, 2, 2]);
    }

    #[test]
    fn an_entry_that_is_one_word_too_long_is_not_allowed() {
        let entries = ["Ġof", "Ġthe", "x"].map(Rc::from);
        let mut limit = WordLimit::new(2, &entries);
        assert!(limit.allow(0, 1) && limit.allow(1, 2));
        limit.add(0, 1);
        assert!(limit.allow(3, 2) && !limit.allow(3, 0));
    }
}
