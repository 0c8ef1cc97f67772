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

use piecework_kernels::prefetch::prefetch_read;
use rustc_hash::FxHashMap;

use crate::alphabet::Alphabet;
use crate::count::Counts;
use crate::memory::reserve;
use crate::progress::Progress;
use piecework_core::error::{Error, ErrorKind};

/// The longest word, in characters, that a learned model segments: the default of
/// `max_input_chars_per_word`.
pub(super) const MAX_WORD_CHARS: usize = 100;
/// The code after each word; characters have larger codes, in the order of their code points.
pub(super) const END: u32 = 0;

/// The bit of a start that says that the word begins with the prefix.
const PREFIXED: u32 = 1 << 31;
/// Positions in a block, whose first word is stored.
const BLOCK: usize = 16;

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
    /// By position; dropped when the candidates have their names.
    pub(super) codes: Vec<u32>,
    /// By word: its start, with [`PREFIXED`]; then the end of the text.
    starts: Vec<u32>,
    /// By word.
    counts: Vec<u64>,
    /// By block of positions: the index of the word of the first one.
    first_words: Vec<u32>,
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
    /// Sort the words and lay them out; fails for 2^31 characters or more.
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
            if !word.is_empty() && fits(word) && alphabet.contains_all(word) {
                words.push((word, count));
            }
        }
        words.sort_unstable();
        progress.check()?;
        let characters = distinct_characters(&words, progress)?;
        let code_of: FxHashMap<char, u32> = characters.iter().copied().zip(1..).collect();
        let mut text = Self {
            codes: Vec::new(),
            starts: Vec::new(),
            counts: Vec::new(),
            first_words: Vec::new(),
            characters,
            prefix: prefix.to_owned(),
            prefix_chars: prefix.chars().count() as u32,
        };
        text.reserve(&words)?;
        for (word, count) in words {
            progress.advance(word.len())?;
            text.push(word, count, &code_of);
        }
        text.starts.push(text.codes.len() as u32);
        Ok(text)
    }

    /// Reserve the memory of all words.
    fn reserve(&mut self, words: &[(&str, u64)]) -> Result<(), Error> {
        let chars = |&(word, _): &(&str, u64)| {
            let head = if self.begins_with_prefix(word) { self.prefix_chars as usize + 1 } else { 0 };
            word.chars().count() + 1 + head
        };
        let total: usize = words.iter().map(chars).sum();
        if total >= PREFIXED as usize {
            let expected = "fewer: raise min_frequency or count less text";
            let found = "2^31 or more characters in distinct words";
            return Err(Error::new(ErrorKind::Training, "counts", found, expected));
        }
        reserve(&mut self.codes, total)?;
        reserve(&mut self.starts, words.len() + 1)?;
        reserve(&mut self.counts, words.len())?;
        reserve(&mut self.first_words, total.div_ceil(BLOCK))
    }

    fn begins_with_prefix(&self, word: &str) -> bool {
        self.prefix_chars > 0 && word.len() > self.prefix.len() && word.starts_with(&self.prefix)
    }

    fn push(&mut self, word: &str, count: u64, code_of: &FxHashMap<char, u32>) {
        let start = self.codes.len();
        self.codes.extend(word.chars().map(|character| code_of[&character]));
        self.codes.push(END);
        let mut flags = 0;
        if self.begins_with_prefix(word) {
            flags = PREFIXED;
            self.codes.extend_from_within(start..start + self.prefix_chars as usize);
            self.codes.push(END);
        }
        self.first_words.resize(self.codes.len().div_ceil(BLOCK), self.counts.len() as u32);
        self.starts.push(start as u32 | flags);
        self.counts.push(count);
    }

    /// The number of words.
    pub(super) fn len(&self) -> usize {
        self.counts.len()
    }

    /// The number of positions.
    pub(super) fn positions(&self) -> usize {
        self.starts.last().map_or(0, |&end| end as usize)
    }

    /// The word with an index.
    #[inline]
    pub(super) fn word(&self, index: u32) -> DistinctWord {
        let index = index as usize;
        let (start, next) = (self.starts[index], self.starts[index + 1] & !PREFIXED);
        let count = self.counts[index];
        if start & PREFIXED == 0 {
            return DistinctWord { start, end: next - 1, head: start, count };
        }
        let head = next - 1 - self.prefix_chars;
        DistinctWord { start: start & !PREFIXED, end: head - 1, head, count }
    }

    /// All words.
    pub(super) fn words(&self) -> impl Iterator<Item = DistinctWord> + '_ {
        (0..self.len() as u32).map(|index| self.word(index))
    }

    /// The index of the word at a position.
    #[inline]
    pub(super) fn word_of(&self, position: u32) -> u32 {
        let mut word = self.first_words[position as usize / BLOCK];
        while self.starts[word as usize + 1] & !PREFIXED <= position {
            word += 1;
        }
        word
    }

    /// The count of the word at a position.
    pub(super) fn count_at(&self, position: u32) -> u64 {
        self.counts[self.word_of(position) as usize]
    }

    /// Prefetch what [`Self::word`] reads.
    pub(super) fn prefetch(&self, index: u32) {
        prefetch_read(&self.starts[index as usize]);
        prefetch_read(&self.counts[index as usize]);
    }

    /// The codes of a string, if all its characters occur.
    pub(super) fn encode(&self, string: &str) -> Option<Vec<u32>> {
        let code = |character| self.characters.binary_search(&character).ok().map(|rank| rank as u32 + 1);
        string.chars().map(code).collect()
    }

    /// The characters at a position.
    pub(super) fn spell(&self, position: u32, chars: u32) -> impl Iterator<Item = char> + '_ {
        let codes = &self.codes[position as usize..(position + chars) as usize];
        codes.iter().map(|&code| self.characters[code as usize - 1])
    }

    /// The number of bits of a code.
    pub(super) fn code_bits(&self) -> u32 {
        u32::BITS - (self.characters.len() as u32).leading_zeros()
    }
}

fn distinct_characters(words: &[(&str, u64)], progress: &mut Progress<'_>) -> Result<Vec<char>, Error> {
    let mut seen = FxHashMap::default();
    for (word, _) in words {
        progress.advance(word.len())?;
        seen.extend(word.chars().map(|character| (character, ())));
    }
    let mut characters: Vec<char> = seen.into_keys().collect();
    characters.sort_unstable();
    Ok(characters)
}
