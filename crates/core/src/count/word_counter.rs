//! Counting the words of a corpus on several threads.
//!
//! Each thread has its own map until the end. Merging adds counts and takes the smaller first position, so
//! the result does not depend on which thread counted which text.

use rustc_hash::FxHashMap;

use super::count_map::CountMap;
use super::counts::{Counts, SOURCE_SHIFT};
use crate::error::{Error, ErrorKind};
use crate::pretokenize::write_printable;
use crate::split::{SplitScratch, Splitter, WordSink};
use crate::threads::{run_chunks, split_rows};
use crate::word_key::WordKey;

/// Counts the words that a normalizer and a pre-tokenizer produce from texts.
#[derive(Debug)]
pub struct WordCounter {
    splitter: Splitter,
    lines: LineEnds,
    /// Whether words are counted as raw bytes and converted to printable bytes at the end.
    raw: bool,
    filter: TextFilter,
    threads: Vec<ThreadCounts>,
    /// By source: the bytes and the texts that `add_texts` has counted.
    added: FxHashMap<u32, (u64, usize)>,
}

/// Whether the lines of a block keep their ends. Each line is a text.
///
/// A word never continues across a line end, so counts do not depend on how lines are divided into blocks,
/// files or shards. The `tokenizers` library trains from files in the same way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineEnds {
    /// Remove `\n` or `\r\n`.
    #[default]
    Strip,
    /// Keep line ends, for byte-level pipelines.
    Keep,
}

/// The texts that are counted, and how often.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextFilter {
    /// Skip texts with more bytes.
    pub max_bytes: Option<usize>,
    /// Skip texts that contain this string; empty skips none.
    pub reserved: String,
    /// Each text is followed by a tab and its count; empty lines are skipped.
    pub with_counts: bool,
}

/// The counts of one thread.
#[derive(Debug, Default)]
struct ThreadCounts {
    map: CountMap,
    scratch: SplitScratch,
    too_long: u64,
}

/// A text and the position of its first byte.
type PositionedText<'t> = (&'t str, u64);

impl WordCounter {
    /// A counter that uses at most `num_threads` threads.
    #[must_use]
    pub fn new(splitter: Splitter, lines: LineEnds, num_threads: usize) -> Self {
        let threads = (0..num_threads.max(1)).map(|_| ThreadCounts::default()).collect();
        let raw = splitter.splits_raw();
        let filter = TextFilter::default();
        Self { splitter, lines, raw, filter, threads, added: FxHashMap::default() }
    }

    /// The same counter with a filter of texts.
    #[must_use]
    pub fn with_filter(self, filter: TextFilter) -> Self {
        Self { filter, ..self }
    }

    /// The number of texts that were skipped because of `max_bytes`.
    #[must_use]
    pub fn too_long(&self) -> u64 {
        self.threads.iter().map(|thread| thread.too_long).sum()
    }

    /// Count texts of `source` that follow its previous ones; each text takes one byte more than its length.
    ///
    /// An error names the index of the text among all texts of `source`.
    pub fn add_texts(&mut self, texts: &[&str], source: u32) -> Result<(), Error> {
        let (bytes, added) = self.added.entry(source).or_default();
        let first = *added;
        let mut positioned = Vec::with_capacity(texts.len());
        for text in texts {
            positioned.push((*text, position(source, *bytes)));
            *bytes += text.len() as u64 + 1;
        }
        *added += texts.len();
        self.add(&positioned, |at| format!("texts[{}]", first + at))
    }

    /// Count the lines of a block that starts at byte `offset` of `source`.
    ///
    /// Replaces invalid UTF-8 by U+FFFD, or fails if `strict`. Returns the number of replacements.
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
        let mut positioned: Vec<PositionedText> = Vec::new();
        let mut start = 0;
        while start < text.len() {
            // Replacements can lengthen the text; positions stay within the block.
            let at = start.min(block.len());
            let (line, end) = self.lines.first(&text[start..]);
            positioned.push((line, position(source, offset + at as u64)));
            start += end;
        }
        let byte_of = |at: usize| positioned[at].1 & ((1 << SOURCE_SHIFT) - 1);
        self.add(&positioned, |at| format!("line at byte {}", byte_of(at)))?;
        Ok(replaced)
    }

    /// Return the counts of all threads.
    pub fn finish(self) -> Result<Counts, Error> {
        let mut maps = self.threads.into_iter().map(|thread| thread.map);
        let first = maps.next().unwrap_or_default();
        let all = maps.try_fold(first, CountMap::merge)?;
        if self.raw {
            all.finish_as(write_printable)
        } else {
            all.finish()
        }
    }

    /// Count texts; `name` returns the name of a text for errors.
    fn add(
        &mut self,
        positioned: &[PositionedText],
        name: impl Fn(usize) -> String + Sync,
    ) -> Result<(), Error> {
        let sizes: Vec<usize> = positioned.iter().map(|(text, _)| text.len()).collect();
        let num_threads = self.threads.len();
        let chunks = split_rows(&sizes, num_threads);
        let (splitter, raw, filter) = (&self.splitter, self.raw, &self.filter);
        run_chunks(chunks.into_iter().zip(&mut self.threads), num_threads, |(rows, thread), stop| {
            stop.rows(rows).try_for_each(|at| {
                let (text, position) = positioned[at];
                let counted = filter.counted(text).and_then(|(text, times)| {
                    if filter.is_too_long(text) {
                        thread.too_long += 1;
                    } else if !filter.is_reserved(text) {
                        thread.count(splitter, raw, text, times, position)?;
                    }
                    Ok(())
                });
                counted.map_err(|fault| fault.within(&name(at)))
            })
        })
        .map(drop)
    }
}

impl TextFilter {
    /// Return the text of a line, and its count.
    fn counted<'t>(&self, line: &'t str) -> Result<(&'t str, u64), Error> {
        if !self.with_counts || line.is_empty() {
            return Ok((line, 1));
        }
        let invalid =
            |found| Error::new(ErrorKind::Corpus, "count", found, "a text, a tab and an integer from 1 on");
        let (text, count) = line.split_once('\t').ok_or_else(|| invalid("no tab".into()))?;
        let times = count.trim().parse().ok().filter(|&times| times > 0);
        times.map(|times| (text, times)).ok_or_else(|| invalid(format!("{count:?}")))
    }

    fn is_too_long(&self, text: &str) -> bool {
        self.max_bytes.is_some_and(|limit| text.len() > limit)
    }

    fn is_reserved(&self, text: &str) -> bool {
        let reserved = self.reserved.as_bytes();
        !reserved.is_empty() && memchr::memmem::find(text.as_bytes(), reserved).is_some()
    }
}

impl LineEnds {
    /// Return the first text of a block, and the number of bytes that it takes.
    fn first(self, block: &str) -> (&str, usize) {
        let end = memchr::memchr(b'\n', block.as_bytes());
        let after = end.map_or(block.len(), |end| end + 1);
        match self {
            Self::Strip => {
                let line = &block[..end.unwrap_or(block.len())];
                (line.strip_suffix('\r').unwrap_or(line), after)
            }
            Self::Keep => (&block[..after], after),
        }
    }
}

impl ThreadCounts {
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

    fn lines(of: LineEnds, text: &str) -> Vec<&str> {
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
        assert_eq!(lines(LineEnds::Keep, text), ["a\n", "b\r\n", "\n", "\r\n", " c  d\n", "e"]);
        assert_eq!(lines(LineEnds::Strip, text), ["a", "b", "", "", " c  d", "e"]);
    }
}
