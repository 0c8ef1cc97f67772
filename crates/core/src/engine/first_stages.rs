//! The first stages alone: a text normalized, and split into words.

use super::{Scratch, Tokenizer};
use crate::error::Error;
use crate::interrupt;
use crate::text::{CharIndex, PreTokenizedText};

/// A word, and its characters in the original text.
pub type SpannedWord = (String, (u32, u32));

impl Tokenizer {
    /// Normalize a text.
    pub fn normalize(&self, text: &str) -> Result<String, Error> {
        let mut normalized = String::new();
        self.splitter().normalizer().run(text, 0, &mut normalized)?;
        Ok(normalized)
    }

    /// Normalize a text. Also return, for the start of each normalized character and for the end, the
    /// character offset in the original.
    pub fn normalize_with_offsets(
        &self,
        text: &str,
        scratch: &mut Scratch,
    ) -> Result<(String, Vec<u32>), Error> {
        let normalized = &mut scratch.split.words.text;
        normalized.clear();
        self.splitter().normalizer().run(text, 0, normalized)?;
        let chars = normalized.text().char_indices();
        let mut offsets: Vec<u32> =
            chars.map(|(at, c)| normalized.source_of(at, at + c.len_utf8()).0).collect();
        offsets.extend(match normalized.text().len() {
            0 => self.splitter().normalizer().end_of_empty(text).map(|at| at as u32),
            end => Some(normalized.source_of(end - 1, end).1),
        });
        let index = CharIndex::new(text);
        offsets.iter_mut().for_each(|offset| *offset = index.chars_before(*offset));
        Ok((normalized.text().to_owned(), offsets))
    }

    /// Normalize and split a text; return words with their characters in the original text.
    pub fn pre_tokenize(&self, text: &str) -> Result<Vec<SpannedWord>, Error> {
        let mut words = PreTokenizedText::default();
        self.splitter().pre_tokenize(text, 0, &mut words)?;
        let chars = CharIndex::new(text);
        let word = |&(start, end): &(usize, usize)| {
            interrupt::check(1);
            let span = chars.span_of(words.text.source_of(start, end));
            (words.text.text()[start..end].to_owned(), span)
        };
        Ok(words.spans.iter().map(word).collect())
    }
}
