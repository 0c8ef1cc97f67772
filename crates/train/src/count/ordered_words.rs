//! The result of counting: words in the order of `Counts`, from memory or from files.

use super::counts::{Counts, WordOrder};
use super::spilled::WordsByPosition;
use piecework_core::error::Error;
use piecework_core::stages::pretokenize::write_printable;

/// Words with counts and first positions, by (first position, code points).
pub struct OrderedWords(StoredWords);

enum StoredWords {
    /// All words, and the index of the next one.
    Memory { counts: Counts, next: usize },
    /// Words of sorted runs; `raw` ones are bytes that become printable.
    Files { words: WordsByPosition, raw: bool },
}

impl OrderedWords {
    pub(super) fn in_memory(counts: Counts) -> Self {
        Self(StoredWords::Memory { counts, next: 0 })
    }

    pub(super) fn in_files(words: WordsByPosition, raw: bool) -> Self {
        Self(StoredWords::Files { words, raw })
    }

    /// Return the next words, at most `max`; none at the end.
    pub fn next_words(&mut self, max: usize) -> Result<Counts, Error> {
        let mut part = Counts::new(WordOrder::Position);
        while part.len() < max && self.push_next(&mut part)? {}
        Ok(part)
    }

    /// Return the remaining words.
    pub fn into_counts(mut self) -> Result<Counts, Error> {
        match self.0 {
            StoredWords::Memory { counts, next: 0 } => Ok(counts),
            _ => self.next_words(usize::MAX),
        }
    }

    fn push_next(&mut self, part: &mut Counts) -> Result<bool, Error> {
        match &mut self.0 {
            StoredWords::Memory { counts, next } => {
                let index = *next;
                if index == counts.len() {
                    return Ok(false);
                }
                *next += 1;
                let first = counts.first().map_or(0, |first| first[index]);
                part.push(counts.counts()[index], first, |out| out.push_str(counts.word(index)));
                Ok(true)
            }
            StoredWords::Files { words, raw } => {
                let Some(item) = words.next()? else { return Ok(false) };
                // Runs have words of text, and a damaged run fails its checksum at the end.
                let word = String::from_utf8_lossy(item.word);
                part.push(item.count, item.first, |out| {
                    if *raw {
                        write_printable(&word, out);
                    } else {
                        out.push_str(&word);
                    }
                });
                Ok(true)
            }
        }
    }
}
