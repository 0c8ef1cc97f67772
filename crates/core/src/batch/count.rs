//! Counting the words of a corpus on several threads.
//!
//! Every thread keeps a map of its own until the end; merging adds counts and takes the smaller first
//! position, so the result does not depend on how the texts were shared out.

use rustc_hash::FxHashMap;

use super::chunks::{shares, work_on};
use crate::error::{Error, ErrorKind};
use crate::pretokenize::write_printable;
use crate::split::{SplitScratch, Splitter, WordSink};
use crate::train::{CountMap, Counts, SOURCE_SHIFT};
use crate::word_key::WordKey;

/// Counts words as a normalizer and a pre-tokenizer make them.
#[derive(Debug)]
pub struct WordCounter {
    splitter: Splitter,
    lines: Lines,
    /// Words are counted as they stand in the text and written as printable bytes at the end.
    raw: bool,
    sentences: Sentences,
    tallies: Vec<Tally>,
    /// Bytes and texts that each source has given as texts so far.
    given: FxHashMap<u32, (u64, usize)>,
}

/// What the texts of a block are: its lines, each counted by itself.
///
/// A word never continues across a line end, so counts do not depend on how lines are dealt to blocks,
/// files or shards. The `tokenizers` library trains from files in the same way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lines {
    /// Lines without `\n` or `\r\n`.
    #[default]
    WithoutEnds,
    /// Lines with their ends, for byte-level pipelines.
    WithEnds,
}

/// Which texts are counted, and how often each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sentences {
    /// Those of no more bytes.
    pub max_bytes: Option<usize>,
    /// Those without this in them; empty for all.
    pub reserved: String,
    /// Behind each text stand a tab and how often it is to be counted; empty lines are none.
    pub with_counts: bool,
}

/// What one thread has counted.
#[derive(Debug, Default)]
struct Tally {
    map: CountMap,
    scratch: SplitScratch,
    too_long: u64,
}

/// A text and the position of its first byte.
type Placed<'t> = (&'t str, u64);

impl WordCounter {
    /// A counter that uses `workers` threads at the most.
    #[must_use]
    pub fn new(splitter: Splitter, lines: Lines, workers: usize) -> Self {
        let tallies = (0..workers.max(1)).map(|_| Tally::default()).collect();
        let raw = splitter.splits_raw();
        let sentences = Sentences::default();
        Self { splitter, lines, raw, sentences, tallies, given: FxHashMap::default() }
    }

    /// The same counter, which goes by what is said of its texts.
    #[must_use]
    pub fn taking(self, sentences: Sentences) -> Self {
        Self { sentences, ..self }
    }

    /// How many texts were too long to be counted.
    #[must_use]
    pub fn too_long(&self) -> u64 {
        self.tallies.iter().map(|tally| tally.too_long).sum()
    }

    /// Count texts that follow what `source` has given so far; each ends with one virtual byte.
    ///
    /// An error names the text by its number among all that `source` has given.
    pub fn add_texts(&mut self, texts: &[&str], source: u32) -> Result<(), Error> {
        let (bytes, given) = self.given.entry(source).or_default();
        let first = *given;
        let mut placed = Vec::with_capacity(texts.len());
        for text in texts {
            placed.push((*text, position(source, *bytes)));
            *bytes += text.len() as u64 + 1;
        }
        *given += texts.len();
        self.add(&placed, |at| format!("texts[{}]", first + at))
    }

    /// Count the lines of a block that starts at byte `offset` of `source`.
    ///
    /// Bytes that are not UTF-8 become U+FFFD and are counted, or are an error when `strict`.
    pub fn add_block(
        &mut self,
        block: &[u8],
        source: u32,
        offset: u64,
        strict: bool,
    ) -> Result<u64, Error> {
        let (text, replaced) = match std::str::from_utf8(block) {
            Ok(text) => (text.into(), 0),
            Err(error) if strict => {
                let place = format!("byte {}", offset + error.valid_up_to() as u64);
                return Err(Error::new(ErrorKind::Utf8, place, "bytes that are not UTF-8", "UTF-8"));
            }
            Err(_) => {
                let invalid = block.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty());
                (String::from_utf8_lossy(block), invalid.count() as u64)
            }
        };
        let mut placed: Vec<Placed> = Vec::new();
        let mut start = 0;
        while start < text.len() {
            // Replacing bytes can lengthen the text; positions stay within the block all the same.
            let at = start.min(block.len());
            let (line, end) = self.lines.first(&text[start..]);
            placed.push((line, position(source, offset + at as u64)));
            start += end;
        }
        let byte_of = |at: usize| placed[at].1 & ((1 << SOURCE_SHIFT) - 1);
        self.add(&placed, |at| format!("line at byte {}", byte_of(at)))?;
        Ok(replaced)
    }

    /// Merge what all threads counted.
    pub fn finish(self) -> Result<Counts, Error> {
        let mut maps = self.tallies.into_iter().map(|tally| tally.map);
        let first = maps.next().unwrap_or_default();
        let all = maps.try_fold(first, CountMap::merge)?;
        if self.raw {
            all.finish_as(write_printable)
        } else {
            all.finish()
        }
    }

    /// Count texts; `name` is what errors call the one with a number.
    fn add(&mut self, placed: &[Placed], name: impl Fn(usize) -> String + Sync) -> Result<(), Error> {
        let sizes: Vec<usize> = placed.iter().map(|(text, _)| text.len()).collect();
        let workers = self.tallies.len();
        let shares = shares(&sizes, workers);
        let (splitter, raw, sentences) = (&self.splitter, self.raw, &self.sentences);
        work_on(shares.into_iter().zip(&mut self.tallies), workers, |(rows, tally), stop| {
            stop.rows(rows).try_for_each(|at| {
                let (text, position) = placed[at];
                let counted = sentences.counted(text).and_then(|(text, times)| {
                    if sentences.is_too_long(text) {
                        tally.too_long += 1;
                    } else if !sentences.is_reserved(text) {
                        tally.count(splitter, raw, text, times, position)?;
                    }
                    Ok(())
                });
                counted.map_err(|fault| fault.within(&name(at)))
            })
        })
        .map(drop)
    }
}

impl Sentences {
    /// A text by itself, and how often it counts.
    fn counted<'t>(&self, line: &'t str) -> Result<(&'t str, u64), Error> {
        if !self.with_counts || line.is_empty() {
            return Ok((line, 1));
        }
        let wrong =
            |found| Error::new(ErrorKind::Corpus, "count", found, "a text, a tab and an integer from 1 on");
        let (text, count) = line.split_once('\t').ok_or_else(|| wrong("no tab".into()))?;
        let times = count.trim().parse().ok().filter(|&times| times > 0);
        times.map(|times| (text, times)).ok_or_else(|| wrong(format!("{count:?}")))
    }

    fn is_too_long(&self, text: &str) -> bool {
        self.max_bytes.is_some_and(|most| text.len() > most)
    }

    fn is_reserved(&self, text: &str) -> bool {
        let reserved = self.reserved.as_bytes();
        !reserved.is_empty() && memchr::memmem::find(text.as_bytes(), reserved).is_some()
    }
}

impl Lines {
    /// The first text of a block, and how many bytes of the block it takes.
    fn first(self, block: &str) -> (&str, usize) {
        let end = memchr::memchr(b'\n', block.as_bytes());
        let after = end.map_or(block.len(), |end| end + 1);
        match self {
            Self::WithoutEnds => {
                let line = &block[..end.unwrap_or(block.len())];
                (line.strip_suffix('\r').unwrap_or(line), after)
            }
            Self::WithEnds => (&block[..after], after),
        }
    }
}

impl Tally {
    fn count(
        &mut self,
        splitter: &Splitter,
        raw: bool,
        text: &str,
        times: u64,
        position: u64,
    ) -> Result<(), Error> {
        let mut words = CountedWords { map: &mut self.map, times, position };
        if raw {
            splitter.run_raw(text, &mut self.scratch, &mut words)
        } else {
            splitter.run(text, 0, &mut self.scratch, &mut words)
        }
    }
}

struct CountedWords<'m> {
    map: &'m mut CountMap,
    times: u64,
    position: u64,
}

impl WordSink for CountedWords<'_> {
    #[inline]
    fn word(&mut self, word: &str, at: usize) {
        self.map.add_n(word, self.times, self.position + at as u64);
    }

    #[inline]
    fn short_word(&mut self, key: WordKey, at: usize) {
        self.map.add_key(key, self.times, self.position + at as u64);
    }
}

fn position(source: u32, byte: u64) -> u64 {
    (u64::from(source) << SOURCE_SHIFT) | byte.min((1 << SOURCE_SHIFT) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(of: Lines, text: &str) -> Vec<&str> {
        let (mut all, mut start) = (Vec::new(), 0);
        while start < text.len() {
            let (line, end) = of.first(&text[start..]);
            all.push(line);
            start += end;
        }
        all
    }

    #[test]
    fn texts_are_lines_with_or_without_their_ends() {
        let text = "a\nb\r\n\n\r\n c  d\ne";
        assert_eq!(lines(Lines::WithEnds, text), ["a\n", "b\r\n", "\n", "\r\n", " c  d\n", "e"]);
        assert_eq!(lines(Lines::WithoutEnds, text), ["a", "b", "", "", " c  d", "e"]);
    }
}
