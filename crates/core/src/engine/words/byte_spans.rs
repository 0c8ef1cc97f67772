//! The words of byte-level text: spans of it, long ones split where no merge applies.

use std::ops::Range;

use memchr::memchr;

use super::Words;
use crate::engine::misses::QueuedWords;
use crate::engine::word_cache::{CacheKey, Lookups, WordCache, WINDOW};
use crate::error::Error;
use crate::model::ByteAdjacency;
use crate::stages::pretokenize::{PreTokenizer, ScanScratch, WordSpans};
use crate::word_key::WordKey;

/// The longest cached word, in bytes. Of longer ones, whole sentences in some languages, one in twenty occurs again.
const MAX_CACHED_BYTES: usize = 64;
/// The longest cached word that ends with an ASCII character: in code, runs of spaces, dashes and stars.
const MAX_CACHED_ASCII: usize = 128;
/// The lengths, in bytes, of words that are split where no merge applies. The parts of longer words take much memory.
const SPLIT_BYTES: Range<u32> = 16..1 << 12;

/// The words of a text.
pub(in super::super) struct ByteSpans<'t> {
    pre_tokenizer: &'t PreTokenizer,
    /// Where long words are split.
    adjacency: Option<&'t ByteAdjacency>,
    text: &'t str,
    /// The bytes whose words are found.
    found: Range<usize>,
    scan: &'t mut ScanScratch,
    long: &'t mut SplitLongWords,
    /// The number of words that are found, and the numbers of those of the window.
    count: usize,
    window: Range<usize>,
}

impl<'t> ByteSpans<'t> {
    /// Begin at the start of a text.
    pub(in super::super) fn new(
        pre_tokenizer: &'t PreTokenizer,
        adjacency: Option<&'t ByteAdjacency>,
        text: &'t str,
        scan: &'t mut ScanScratch,
        long: &'t mut SplitLongWords,
    ) -> Self {
        Self { pre_tokenizer, adjacency, text, found: 0..0, scan, long, count: 0, window: 0..0 }
    }

    /// Find the words of the next bytes.
    fn find(&mut self) -> Result<(), Error> {
        let from = self.found.end;
        self.found = from..self.pre_tokenizer.find_words(self.text, from, self.scan)?;
        self.window = 0..0;
        self.long.split(self.found_text(), self.scan.words(), self.adjacency);
        self.count = self.spans().ends.len();
        Ok(())
    }

    fn found_text(&self) -> &'t str {
        &self.text[self.found.clone()]
    }

    /// Return the words that are found.
    #[inline]
    fn spans(&self) -> WordSpans<'_> {
        self.long.spans().unwrap_or(self.scan.words())
    }

    #[inline(always)]
    fn span(&self, number: usize) -> (usize, usize) {
        let (spans, at) = (self.spans(), self.window.start + number);
        (spans.starts[at] as usize, spans.ends[at] as usize)
    }
}

impl Words for ByteSpans<'_> {
    fn fill(&mut self, lookups: &mut Lookups, cache: &WordCache) -> Result<usize, Error> {
        while self.window.end == self.count {
            if self.found.end == self.text.len() {
                return Ok(0);
            }
            self.find()?;
        }
        let (start, all) = (self.window.end, self.spans());
        let window = start..self.count.min(start + WINDOW);
        let spans = WordSpans { starts: &all.starts[window.clone()], ends: &all.ends[window.clone()] };
        let text = self.found_text();
        let keys = spans.spans().map(|(start, end)| WordKey::at_or_none(text.as_bytes(), start, end));
        let long_key =
            |number: usize| key_at(text, (spans.starts[number] as usize, spans.ends[number] as usize));
        lookups.hash(keys, long_key, cache);
        self.window = window;
        Ok(self.window.len())
    }

    fn key(&self, number: usize) -> CacheKey<'_> {
        key_at(self.found_text(), self.span(number))
    }

    fn write_miss(&mut self, number: usize, _: &WordCache, queue: &mut QueuedWords) -> Result<bool, Error> {
        let (start, end) = self.span(number);
        queue.push(&self.found_text().as_bytes()[start..end]);
        Ok(true)
    }
}

/// Return the key of the word at `start..end` of a text.
#[inline(always)]
fn key_at(text: &str, (start, end): (usize, usize)) -> CacheKey<'_> {
    let is_ascii = text.as_bytes().get(end.wrapping_sub(1)).is_some_and(u8::is_ascii);
    CacheKey::at(text, (start, end), if is_ascii { MAX_CACHED_ASCII } else { MAX_CACHED_BYTES })
}

/// The words of a text, the long ones split between characters that no merge joins; none if none is split.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct SplitLongWords {
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl SplitLongWords {
    /// Return the words; `None` if no word is split.
    #[inline]
    fn spans(&self) -> Option<WordSpans<'_>> {
        (!self.ends.is_empty()).then_some(WordSpans { starts: &self.starts, ends: &self.ends })
    }

    /// Split the long words that end with a character beyond ASCII, or that have spaces which tokens can cross.
    fn split(&mut self, text: &str, words: WordSpans<'_>, adjacency: Option<&ByteAdjacency>) {
        let Self { starts, ends } = self;
        starts.clear();
        ends.clear();
        let Some(adjacency) = adjacency.filter(|words| words.crosses_spaces() || !text.is_ascii()) else {
            return;
        };
        let mut done = 0;
        for (number, (&start, &end)) in words.starts.iter().zip(words.ends).enumerate() {
            if !SPLIT_BYTES.contains(&(end - start)) {
                continue;
            }
            let word = &text.as_bytes()[start as usize..end as usize];
            let at_spaces = adjacency.crosses_spaces() && memchr(b' ', &word[1..]).is_some();
            if at_spaces || !word[word.len() - 1].is_ascii() {
                starts.extend_from_slice(&words.starts[done..number]);
                ends.extend_from_slice(&words.ends[done..number]);
                match at_spaces {
                    true => adjacency.split_at_spaces(text, (start, end), starts, ends),
                    false => adjacency.split(text, (start, end), starts, ends),
                }
                done = number + 1;
            }
        }
        if done > 0 {
            starts.extend_from_slice(&words.starts[done..]);
            ends.extend_from_slice(&words.ends[done..]);
        }
    }
}
