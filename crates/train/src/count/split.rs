//! The counts of the words within counted words: those of sequences of words become those of single words.

use std::str::from_utf8;

use super::count_map::CountMap;
use super::counts::{Counts, WordOrder};
use piecework_core::error::{Error, ErrorKind};
use piecework_core::stages::normalize::Normalizer;
use piecework_core::stages::pretokenize::write_printable;
use piecework_core::stages::split::{SplitScratch, Splitter, WordSink};
use piecework_core::text::byte_of_printable;

impl Counts {
    /// Return the counts of the words that a splitter without a normalizer finds in these words.
    ///
    /// If a pre-tokenizer divides each word of this one, the counts are those of the corpus by that pre-tokenizer. A
    /// byte-level splitter reads byte-level words, and first positions are included.
    ///
    /// Errors: `Argument` for a splitter with a normalizer, and for a word with characters that represent no bytes of a
    /// text if the splitter is byte-level.
    pub fn split(&self, splitter: &Splitter) -> Result<Self, Error> {
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
