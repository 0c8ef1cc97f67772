//! What a splitter makes of counted words: the counts of the words within them, and the characters that it makes words of
//! their own, such as the Han characters of BERT.

use std::str::from_utf8;

use foldhash::{HashMap, HashMapExt};
use piecework_core::error::{Error, ErrorKind};
use piecework_core::stages::normalize::Normalizer;
use piecework_core::stages::pretokenize::write_printable;
use piecework_core::stages::split::{SplitScratch, Splitter, WordSink};
use piecework_core::text::byte_of_printable;

use super::count_map::CountMap;
use super::counts::{Counts, WordOrder};

impl Counts {
    /// Return the counts of the words that a splitter without a normalizer finds in these words.
    ///
    /// If a pre-tokenizer divides each word of this one, the counts are those of the corpus by that pre-tokenizer. A
    /// byte-level splitter reads byte-level words, and first positions are included.
    ///
    /// Errors: `Argument` for a splitter with a normalizer, and for a word with characters that represent no bytes of a
    /// text if the splitter is byte-level, and for counts with boundaries.
    pub fn split(&self, splitter: &Splitter) -> Result<Self, Error> {
        self.check_unbounded("a pre-tokenizer")?;
        if splitter.splits_raw() {
            return self.split_bytes(splitter);
        }
        if !matches!(splitter.normalizer(), Normalizer::Identity) {
            let expected = "a pre-tokenizer without a normalizer";
            return Err(Error::new(ErrorKind::Argument, "pipeline", "another pipeline", expected));
        }
        let (mut found, mut scratch) = (CountMap::default(), SplitScratch::default());
        for (word, count) in self.iter() {
            splitter.run(word, 0, &mut scratch, &mut PartsOfWord { found: &mut found, count, first: 0 })?;
        }
        found.finish_in(WordOrder::Count)
    }

    fn split_bytes(&self, splitter: &Splitter) -> Result<Self, Error> {
        let (mut found, mut scratch, mut bytes) =
            (CountMap::default(), SplitScratch::default(), Vec::new());
        for (index, (word, count)) in self.iter().enumerate() {
            bytes.clear();
            bytes.extend(word.chars().map_while(byte_of_printable));
            let text = from_utf8(&bytes).ok().filter(|_| word.chars().nth(bytes.len()).is_none());
            let text = text.ok_or_else(|| not_byte_level(index, word))?;
            let first = self.first().map_or(0, |first| first[index]);
            splitter.run_raw(text, &mut scratch, &mut PartsOfWord { found: &mut found, count, first })?;
        }
        let order = if self.first().is_some() { WordOrder::Position } else { WordOrder::Count };
        found.finish_as(order, write_printable)
    }
}

/// Counts the words of one counted word.
struct PartsOfWord<'m> {
    found: &'m mut CountMap,
    count: u64,
    first: u64,
}

impl WordSink for PartsOfWord<'_> {
    #[inline]
    fn word(&mut self, word: &str, at: usize) {
        self.found.add_n(word, self.count, self.first + at as u64);
    }
}

fn not_byte_level(index: usize, word: &str) -> Error {
    let found = format!("{word:?}, whose characters do not represent the bytes of a text");
    Error::new(ErrorKind::Argument, format!("words[{index}]"), found, "words of a byte-level pre-tokenizer")
}

/// A character is isolated if it is a word of its own between two of each of these, and between two of itself.
const NEIGHBORS: [char; 3] = ['a', 'A', '0'];

impl Counts {
    /// Return the characters of `characters` and of the counts that a pipeline makes words of their own, sorted.
    ///
    /// A character that the counts have in a longer word is not isolated. The splitter decides about any other one
    /// with the texts `ccc`, `aca`, `AcA` and `0c0`, where an isolated character is always a word of its own.
    ///
    /// Return the errors of the splitter.
    pub fn isolated_characters(
        &self,
        splitter: &Splitter,
        characters: &[char],
    ) -> Result<Vec<char>, Error> {
        // By character: whether a longer word has it.
        let mut seen: HashMap<char, bool> = HashMap::new();
        for &character in characters {
            seen.entry(character).or_default();
        }
        for word in self.words() {
            let is_longer = word.chars().nth(1).is_some();
            for character in word.chars() {
                *seen.entry(character).or_default() |= is_longer;
            }
        }
        let mut isolated = Vec::new();
        let mut scratch = SplitScratch::default();
        for (character, _) in seen.into_iter().filter(|&(_, is_in_longer)| !is_in_longer) {
            if isolates(splitter, character, &mut scratch)? {
                isolated.push(character);
            }
        }
        isolated.sort_unstable();
        Ok(isolated)
    }
}

fn isolates(splitter: &Splitter, character: char, scratch: &mut SplitScratch) -> Result<bool, Error> {
    let mut found = WordsWith { character, alone: 0, longer: 0 };
    for neighbor in [character].iter().chain(&NEIGHBORS) {
        let text: String = [*neighbor, character, *neighbor].iter().collect();
        splitter.run(&text, 0, scratch, &mut found)?;
    }
    Ok(found.alone > 0 && found.longer == 0)
}

/// Counts the words that have a character.
struct WordsWith {
    character: char,
    alone: usize,
    longer: usize,
}

impl WordSink for WordsWith {
    fn word(&mut self, word: &str, _: usize) {
        let has = word.contains(self.character);
        let is_longer = word.chars().nth(1).is_some();
        self.alone += usize::from(has && !is_longer);
        self.longer += usize::from(has && is_longer);
    }
}
