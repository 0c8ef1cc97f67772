//! The distinct words, as codes of characters in one array.
//!
//! An entry of WordPiece is a string. A word that begins with the continuation prefix, such as `##ab`, can begin
//! with the entry `##a`, which also stands for `a` inside words. With heads, the entries at the start of such a
//! word that are longer than the prefix are the continuation entries that match after the prefix. A copy of the
//! prefix, the head, supplies the shorter ones.

use foldhash::{HashMap, HashSet};
use piecework_kernels::level::prefetch_read;

use crate::count::Part;
use crate::memory::reserve;
use crate::progress::Progress;
use piecework_core::error::{Error, ErrorKind};

/// The code after each word; characters have larger codes, in the order of their code points.
pub(super) const END: u32 = 0;

/// The bit of a start that says that the word begins with the prefix.
const PREFIXED: u32 = 1 << 31;
/// Positions in a block, whose first word is stored.
const BLOCK: usize = 16;

/// A word of the text.
#[derive(Clone, Copy)]
pub(crate) struct DistinctWord {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The position whose substrings begin the word: `start`, or a copy of the prefix.
    pub(crate) head: u32,
    pub(crate) count: u64,
    /// Whether the word begins with the continuation prefix and has characters after it.
    pub(crate) begins_with_prefix: bool,
    /// Whether the word is a part of one, which it does not begin.
    pub(crate) continues: bool,
}

/// The words, and what is needed to spell their substrings.
pub(crate) struct WordText {
    /// By position.
    pub(super) codes: Vec<u32>,
    /// By word: its start, with [`PREFIXED`]; then the end of the text.
    starts: Vec<u32>,
    /// By word.
    counts: Vec<u64>,
    /// By word: whether it is a part of one, which it does not begin; empty if none is.
    continues: Vec<bool>,
    /// By block of positions: the index of the word of the first one.
    first_words: Vec<u32>,
    /// By code - 1.
    characters: Vec<char>,
    pub(crate) prefix: String,
    pub(crate) prefix_chars: u32,
    has_heads: bool,
}

impl WordText {
    /// Lay out words that are not empty, in their order; fails for 2^31 characters or more.
    ///
    /// `prefix` is the continuation prefix; if it is empty, there is no difference between the start of a word and
    /// its rest.
    pub(crate) fn new(
        words: &[(Part<'_>, u64)],
        prefix: &str,
        has_heads: bool,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let characters = distinct_characters(words, progress)?;
        let code_of: HashMap<char, u32> = characters.iter().copied().zip(1..).collect();
        let mut text = Self {
            codes: Vec::new(),
            starts: Vec::new(),
            counts: Vec::new(),
            continues: Vec::new(),
            first_words: Vec::new(),
            characters,
            prefix: prefix.to_owned(),
            prefix_chars: prefix.chars().count() as u32,
            has_heads,
        };
        text.reserve(words)?;
        for &(word, count) in words {
            progress.advance(word.text.len())?;
            text.push(word, count, &code_of);
        }
        text.starts.push(text.codes.len() as u32);
        Ok(text)
    }

    /// Reserve the memory of all words.
    fn reserve(&mut self, words: &[(Part<'_>, u64)]) -> Result<(), Error> {
        let chars = |&(word, _): &(Part<'_>, u64)| {
            let has_head = self.has_heads && self.begins_with_prefix(word);
            word.text.chars().count() + 1 + if has_head { self.prefix_chars as usize + 1 } else { 0 }
        };
        let total: usize = words.iter().map(chars).sum();
        if total >= PREFIXED as usize {
            let found = "2^31 or more characters in distinct words";
            return Err(Error::new(ErrorKind::Training, "counts", found, "fewer")
                .with_hint("raise min_frequency or count less text"));
        }
        reserve(&mut self.codes, total)?;
        reserve(&mut self.starts, words.len() + 1)?;
        reserve(&mut self.counts, words.len())?;
        if words.iter().any(|(word, _)| !word.begins) {
            reserve(&mut self.continues, words.len())?;
        }
        reserve(&mut self.first_words, total.div_ceil(BLOCK))
    }

    fn begins_with_prefix(&self, Part { text, begins, .. }: Part<'_>) -> bool {
        begins && self.prefix_chars > 0 && text.len() > self.prefix.len() && text.starts_with(&self.prefix)
    }

    fn push(&mut self, word: Part<'_>, count: u64, code_of: &HashMap<char, u32>) {
        let start = self.codes.len();
        self.codes.extend(word.text.chars().map(|character| code_of[&character]));
        self.codes.push(END);
        let begins_with_prefix = self.begins_with_prefix(word);
        if begins_with_prefix && self.has_heads {
            self.codes.extend_from_within(start..start + self.prefix_chars as usize);
            self.codes.push(END);
        }
        self.first_words.resize(self.codes.len().div_ceil(BLOCK), self.counts.len() as u32);
        self.starts.push(start as u32 | if begins_with_prefix { PREFIXED } else { 0 });
        self.counts.push(count);
        if self.continues.capacity() > 0 {
            self.continues.push(!word.begins);
        }
    }

    /// Return the number of words.
    pub(crate) fn len(&self) -> usize {
        self.counts.len()
    }

    /// Return the number of positions.
    pub(crate) fn positions(&self) -> usize {
        self.starts.last().map_or(0, |&end| end as usize)
    }

    /// Return the word with an index.
    #[inline]
    pub(crate) fn word(&self, index: u32) -> DistinctWord {
        let index = index as usize;
        let (flagged, next) = (self.starts[index], self.starts[index + 1] & !PREFIXED);
        let (start, count) = (flagged & !PREFIXED, self.counts[index]);
        let begins_with_prefix = flagged != start;
        let continues = self.continues.get(index).is_some_and(|&continues| continues);
        if !(begins_with_prefix && self.has_heads) {
            return DistinctWord {
                start,
                end: next - 1,
                head: start,
                count,
                begins_with_prefix,
                continues,
            };
        }
        let head = next - 1 - self.prefix_chars;
        DistinctWord { start, end: head - 1, head, count, begins_with_prefix, continues }
    }

    /// Iterate over all words.
    pub(crate) fn words(&self) -> impl Iterator<Item = DistinctWord> + '_ {
        (0..self.len() as u32).map(|index| self.word(index))
    }

    /// Return the index of the word at a position.
    #[inline]
    pub(crate) fn word_of(&self, position: u32) -> u32 {
        let mut word = self.first_words[position as usize / BLOCK];
        while self.starts[word as usize + 1] & !PREFIXED <= position {
            word += 1;
        }
        word
    }

    /// Return the count of the word at a position.
    pub(crate) fn count_at(&self, position: u32) -> u64 {
        self.counts[self.word_of(position) as usize]
    }

    /// Prefetch what [`Self::word`] reads.
    pub(crate) fn prefetch(&self, index: u32) {
        prefetch_read(&self.starts[index as usize]);
        prefetch_read(&self.counts[index as usize]);
    }

    /// Return the codes of a string, if all its characters occur.
    pub(crate) fn encode(&self, string: &str) -> Option<Vec<u32>> {
        let code = |character| self.characters.binary_search(&character).ok().map(|rank| rank as u32 + 1);
        string.chars().map(code).collect()
    }

    /// Iterate over the characters at a position.
    pub(crate) fn spell(&self, position: u32, chars: u32) -> impl Iterator<Item = char> + '_ {
        let codes = &self.codes[position as usize..(position + chars) as usize];
        codes.iter().map(|&code| self.characters[code as usize - 1])
    }

    /// Return the number of bits of a code.
    pub(super) fn code_bits(&self) -> u32 {
        u32::BITS - (self.characters.len() as u32).leading_zeros()
    }
}

fn distinct_characters(words: &[(Part<'_>, u64)], progress: &mut Progress<'_>) -> Result<Vec<char>, Error> {
    let mut seen = HashSet::default();
    for (word, _) in words {
        progress.advance(word.text.len())?;
        seen.extend(word.text.chars());
    }
    let mut characters: Vec<char> = seen.into_iter().collect();
    characters.sort_unstable();
    Ok(characters)
}
