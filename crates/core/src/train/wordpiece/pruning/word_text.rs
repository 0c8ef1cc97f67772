//! The words that are segmented, as codes of characters in one array.
//!
//! Words are sorted by code points, so nothing depends on the order of the counts. Words with characters
//! outside the alphabet and words that are too long for the model are left out, because the model encodes them
//! as the unknown token.
//!
//! An entry is a string. A word that begins with the continuation prefix, such as `##ab`, can begin with the
//! entry `##a`, which also stands for `a` inside words. At the start of such a word, the entries that are longer
//! than the prefix are the continuation entries that match after the prefix. A copy of the prefix, `head`,
//! supplies the shorter ones.

use rustc_hash::FxHashMap;

use crate::count::Counts;
use crate::error::{Error, ErrorKind};
use crate::train::alphabet::Alphabet;
use crate::train::progress::Progress;

/// The longest word, in characters, that a learned model segments: the default of
/// `max_input_chars_per_word`.
pub(super) const MAX_WORD_CHARS: usize = 100;
/// The code after each word; characters have larger codes, in the order of their code points.
pub(super) const END: u32 = 0;

/// A word of the text.
#[derive(Clone, Copy)]
pub(super) struct DistinctWord {
    pub(super) start: u32,
    pub(super) end: u32,
    /// The position whose candidates match at the start of the word: `start`, or a copy of the prefix.
    pub(super) head: u32,
    pub(super) count: u64,
}

/// The words, and what is needed to spell their substrings.
pub(super) struct WordText {
    pub(super) words: Vec<DistinctWord>,
    pub(super) codes: Vec<u32>,
    /// By position: the index of its word.
    pub(super) word_of: Vec<u32>,
    /// By code - 1.
    characters: Vec<char>,
    pub(super) prefix: String,
    pub(super) prefix_chars: u32,
}

impl DistinctWord {
    /// Whether the word begins with the continuation prefix and has characters after it.
    pub(super) fn begins_with_prefix(&self) -> bool {
        self.head != self.start
    }
}

impl WordText {
    /// Sort the words and lay them out; fails for 2^32 characters or more.
    pub(super) fn new(
        counts: &Counts,
        alphabet: &Alphabet,
        prefix: &str,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let fits = |word: &str| word.chars().nth(MAX_WORD_CHARS).is_none();
        let mut words = Vec::new();
        for (word, count) in counts.iter() {
            progress.advance(word.len())?;
            if !word.is_empty() && fits(word) && alphabet.spells(word) {
                words.push((word, count));
            }
        }
        words.sort_unstable();
        let characters = distinct_characters(&words);
        let code_of: FxHashMap<char, u32> = characters.iter().copied().zip(1..).collect();
        let mut text = Self {
            words: Vec::with_capacity(words.len()),
            codes: Vec::new(),
            word_of: Vec::new(),
            characters,
            prefix: prefix.to_owned(),
            prefix_chars: prefix.chars().count() as u32,
        };
        for (word, count) in words {
            text.push(word, count, &code_of)?;
        }
        Ok(text)
    }

    fn push(&mut self, word: &str, count: u64, code_of: &FxHashMap<char, u32>) -> Result<(), Error> {
        let body = word.strip_prefix(self.prefix.as_str()).filter(|body| !body.is_empty());
        let start = self.codes.len() as u32;
        self.codes.extend(word.chars().map(|character| code_of[&character]));
        let end = self.codes.len() as u32;
        self.codes.push(END);
        let mut head = start;
        if body.is_some() && self.prefix_chars > 0 {
            head = self.codes.len() as u32;
            self.codes.extend_from_within(start as usize..(start + self.prefix_chars) as usize);
            self.codes.push(END);
        }
        self.word_of.resize(self.codes.len(), self.words.len() as u32);
        self.words.push(DistinctWord { start, end, head, count });
        if self.codes.len() >= (u32::MAX / 2) as usize {
            let expected = "fewer: raise min_frequency or count less text";
            let found = "2^31 or more characters in distinct words";
            return Err(Error::new(ErrorKind::Training, "counts", found, expected));
        }
        Ok(())
    }

    /// The codes of a string, if all its characters occur.
    pub(super) fn encode(&self, string: &str) -> Option<Vec<u32>> {
        let code = |character| self.characters.binary_search(&character).ok().map(|rank| rank as u32 + 1);
        string.chars().map(code).collect()
    }

    /// The string at a position.
    pub(super) fn spell(&self, position: u32, chars: u32) -> String {
        let codes = &self.codes[position as usize..(position + chars) as usize];
        codes.iter().map(|&code| self.characters[code as usize - 1]).collect()
    }

    /// The number of bits of a code.
    pub(super) fn code_bits(&self) -> u32 {
        u32::BITS - (self.characters.len() as u32).leading_zeros()
    }

    /// The word at a position.
    pub(super) fn word_at(&self, position: u32) -> &DistinctWord {
        &self.words[self.word_of[position as usize] as usize]
    }
}

fn distinct_characters(words: &[(&str, u64)]) -> Vec<char> {
    let mut seen = FxHashMap::default();
    for (word, _) in words {
        seen.extend(word.chars().map(|character| (character, ())));
    }
    let mut characters: Vec<char> = seen.into_keys().collect();
    characters.sort_unstable();
    characters
}
