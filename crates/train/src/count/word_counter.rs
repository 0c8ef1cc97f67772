//! Counting the words of a corpus on several threads.
//!
//! Each thread has its own map. A map that reaches its share of the memory limit is written as a sorted run and
//! emptied. Merging adds counts and takes the smaller first position, so the result does not depend on which
//! thread counted which text, or on when a map was written.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::count_map::CountMap;
use super::counts::{Counts, WordOrder, SOURCE_SHIFT};
use super::ordered_words::OrderedWords;
use super::sample::is_sampled;
use super::spilled::{self, GroupWeights, Run, SpillFolder};
use piecework_core::error::{Error, ErrorKind};
use piecework_core::stages::pretokenize::write_printable;
use piecework_core::stages::split::{SplitScratch, Splitter, WordSink};
use piecework_core::threads::{run_chunks, split_rows};
use piecework_core::word_key::{WordKey, MAX_KEY_BYTES};

/// Merging maps in memory and sorting their words takes up to this many times their bytes.
const MERGE_FACTOR: usize = 4;

/// The bytes of text for each new word, as expected before a text is counted.
const BYTES_PER_NEW_WORD: usize = 8;

/// Counts the words that a normalizer and a pre-tokenizer produce from texts.
#[derive(Debug)]
pub struct WordCounter {
    splitter: Splitter,
    /// Whether words are counted as raw bytes and converted to printable bytes at the end.
    raw: bool,
    settings: CounterSettings,
    threads: Vec<ThreadCounts>,
    /// By source: the bytes and the texts that `add_texts` has counted.
    added: FxHashMap<u32, (u64, usize)>,
    limit: Option<MemoryLimit>,
    /// The group of the sources that are counted now.
    group: u32,
    /// Complete runs, those of the threads' maps excluded until they are collected.
    runs: Vec<Run>,
    next_run: AtomicU64,
    progress: CountPosition,
    /// Whether the last block or list failed, so that a part of it is counted.
    is_partial: bool,
}

/// When maps are written to files, and where.
#[derive(Clone, Debug)]
struct MemoryLimit {
    bytes: usize,
    folder: SpillFolder,
}

/// How far a counter is: after `items` blocks or lists of texts of `source`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CountPosition {
    /// The source of the last block or list.
    pub source: u32,
    /// The number of its blocks and lists that were counted.
    pub items: u64,
    /// The invalid UTF-8 sequences that were replaced in all sources.
    pub replacements: u64,
}

/// The state of a counter that a checkpoint stores.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CounterState {
    /// Runs as (number, group, words, occurrences).
    pub runs: Vec<(u64, u32, u64, u64)>,
    /// By source: (source, bytes, texts) that `add_texts` counted.
    pub added: Vec<(u32, u64, usize)>,
    /// Texts that are too long, words that are too long, texts outside the sample.
    pub left_out: (u64, u64, u64),
    /// (source, items, replacements): after so many blocks or lists of the source.
    pub progress: (u32, u64, u64),
}

/// Which texts are counted and how often, and the memory of a counter.
///
/// Each line of a block is a text. A word never continues across a line end, so counts do not depend on how lines are
/// divided into blocks, files or shards. The `tokenizers` library trains from files in the same way.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CounterSettings {
    /// Whether the line ends of a block belong to its texts, for byte-level pipelines; else `\n` or `\r\n` is removed.
    pub keep_line_ends: bool,
    /// Skip texts with more bytes.
    pub max_bytes: Option<usize>,
    /// Skip texts that contain this string; empty skips none.
    pub reserved: String,
    /// Each text ends with a tab and its count; empty texts are skipped.
    pub with_counts: bool,
    /// The share of the texts to count, and its seed; `None` counts all.
    pub sample: Option<(f64, u64)>,
    /// Do not count words of more characters.
    pub max_word_length: Option<usize>,
    /// The most bytes of word counts in memory; more are written as runs in `folder`.
    pub memory: Option<usize>,
    /// The folder of the runs.
    pub folder: Option<PathBuf>,
    /// Whether each run is complete on disk before counting continues.
    pub durable: bool,
}

/// What a counter has left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Texts with more than `max_bytes` bytes.
    pub long_texts: u64,
    /// Occurrences of words with more than `max_word_length` characters.
    pub long_words: u64,
    /// Texts that are not in the sample.
    pub unsampled_texts: u64,
}

/// The counts of one thread.
#[derive(Debug, Default)]
struct ThreadCounts {
    map: CountMap,
    scratch: SplitScratch,
    left_out: LeftOut,
    runs: Vec<Run>,
}

/// A text and the position of its first byte.
type PositionedText<'t> = (&'t str, u64);

impl WordCounter {
    /// Return a counter that uses at most `num_threads` threads.
    #[must_use]
    pub fn new(splitter: Splitter, num_threads: usize, settings: CounterSettings) -> Self {
        let limit = settings.memory.zip(settings.folder.as_ref());
        let limit = limit.map(|(bytes, folder)| MemoryLimit {
            bytes,
            folder: SpillFolder::new(folder, settings.durable),
        });
        Self {
            raw: splitter.splits_raw(),
            splitter,
            settings,
            threads: (0..num_threads.max(1)).map(|_| ThreadCounts::default()).collect(),
            added: FxHashMap::default(),
            limit,
            group: 0,
            runs: Vec::new(),
            next_run: 0.into(),
            progress: CountPosition::default(),
            is_partial: false,
        }
    }

    /// Return what was left out so far.
    #[must_use]
    pub fn left_out(&self) -> LeftOut {
        let all = self.threads.iter().map(|thread| thread.left_out);
        all.fold(LeftOut::default(), |sum, one| LeftOut {
            long_texts: sum.long_texts + one.long_texts,
            long_words: sum.long_words + one.long_words,
            unsampled_texts: sum.unsampled_texts + one.unsampled_texts,
        })
    }

    /// Return whether the last block or list failed, so that a part of it is counted and the state is of no use.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.is_partial
    }

    /// Return how far the counter is.
    #[must_use]
    pub fn progress(&self) -> CountPosition {
        self.progress
    }

    /// Count the following sources as another group; needs a memory limit.
    pub fn start_group(&mut self, group: u32) -> Result<(), Error> {
        if group != self.group {
            self.write_runs()?;
            self.group = group;
        }
        Ok(())
    }

    /// Write the maps of all threads as runs and return all runs; needs a memory limit.
    pub(crate) fn write_runs(&mut self) -> Result<&[Run], Error> {
        let limit = self.limit.clone().ok_or_else(no_limit)?;
        self.write_threads(&limit.folder)?;
        Ok(&self.runs)
    }

    /// Write all word counts as runs and return the state of the counter; needs a memory limit.
    pub fn state(&mut self) -> Result<CounterState, Error> {
        let runs = self.write_runs()?.iter();
        let runs = runs.map(|run| (run.number, run.group, run.words, run.occurrences)).collect();
        let added = self.added.iter().map(|(source, (bytes, texts))| (*source, *bytes, *texts)).collect();
        let LeftOut { long_texts, long_words, unsampled_texts } = self.left_out();
        let CountPosition { source, items, replacements } = self.progress;
        let left_out = (long_texts, long_words, unsampled_texts);
        Ok(CounterState { runs, added, left_out, progress: (source, items, replacements) })
    }

    /// Continue from the state of an interrupted counter with the same folder.
    pub fn restore(&mut self, state: CounterState) -> Result<(), Error> {
        let limit = self.limit.as_ref().ok_or_else(no_limit)?;
        let run = |(number, group, words, occurrences)| {
            let path = limit.folder.run_path(number);
            Run { path, number, group, words, occurrences }
        };
        self.runs = state.runs.into_iter().map(run).collect();
        self.next_run = self.runs.iter().map(|run| run.number + 1).max().unwrap_or_default().into();
        let added = state.added.into_iter();
        self.added = added.map(|(source, bytes, texts)| (source, (bytes, texts))).collect();
        let (long_texts, long_words, unsampled_texts) = state.left_out;
        self.threads[0].left_out = LeftOut { long_texts, long_words, unsampled_texts };
        let (source, items, replacements) = state.progress;
        self.progress = CountPosition { source, items, replacements };
        Ok(())
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
        self.add(&positioned, |at| format!("texts[{}]", first + at))?;
        self.advance(source, 0);
        Ok(())
    }

    /// Count the lines of a block that starts at byte `offset` of `source`.
    ///
    /// Replace invalid UTF-8 by U+FFFD and count the replacements, or fail if `strict`.
    pub fn add_block(&mut self, block: &[u8], source: u32, offset: u64, strict: bool) -> Result<(), Error> {
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
        let (mut text, mut bytes) = (&*text, block);
        while !text.is_empty() {
            let at = offset + (block.len() - bytes.len()) as u64;
            let (line, end) = self.settings.first_line(text);
            positioned.push((line, position(source, at)));
            // Replacements change the lengths of lines, but not their number.
            let end_in_block = if replaced == 0 { end } else { line_length(bytes) };
            (text, bytes) = (&text[end..], &bytes[end_in_block..]);
        }
        let byte_of = |at: usize| positioned[at].1 & ((1 << SOURCE_SHIFT) - 1);
        self.add(&positioned, |at| format!("line at byte {}", byte_of(at)))?;
        self.advance(source, replaced);
        Ok(())
    }

    fn advance(&mut self, source: u32, replacements: u64) {
        let items = if self.progress.source == source { self.progress.items } else { 0 };
        let replacements = self.progress.replacements + replacements;
        self.progress = CountPosition { source, items: items + 1, replacements };
        self.is_partial = false;
    }

    /// Add invalid sequences that were replaced before the texts came here.
    pub fn add_replacements(&mut self, replacements: u64) {
        self.progress.replacements += replacements;
    }

    /// Return the words of all threads and runs, each count multiplied by the weight of its group.
    ///
    /// Weights other than 1 need a memory limit.
    pub fn finish(mut self, weights: &GroupWeights) -> Result<OrderedWords, Error> {
        let raw = self.raw;
        match self.limit.take() {
            Some(limit) if self.needs_files(limit.bytes) || *weights != GroupWeights::UNIT => {
                self.write_threads(&limit.folder)?;
                self.threads.clear();
                let words = spilled::merge(self.runs, weights, &limit.folder, limit.bytes / 2)?;
                Ok(OrderedWords::in_files(words, raw))
            }
            None if *weights != GroupWeights::UNIT => Err(no_limit()),
            _ => self.merged_maps().map(OrderedWords::in_memory),
        }
    }

    /// Return whether the maps are too large to be merged in memory, or runs were written.
    fn needs_files(&self, limit: usize) -> bool {
        let has_runs = !self.runs.is_empty() || self.threads.iter().any(|thread| !thread.runs.is_empty());
        has_runs || self.map_bytes() > limit / MERGE_FACTOR
    }

    /// Return the bytes of the maps of all threads.
    pub(super) fn map_bytes(&self) -> usize {
        self.threads.iter().map(|thread| thread.map.bytes()).sum()
    }

    fn merged_maps(self) -> Result<Counts, Error> {
        let raw = self.raw;
        let mut maps = self.threads.into_iter().map(|thread| thread.map);
        let first = maps.next().unwrap_or_default();
        let all = maps.try_fold(first, CountMap::merge)?;
        if raw {
            all.finish_as(WordOrder::Position, write_printable)
        } else {
            all.finish()
        }
    }

    /// Write the maps of all threads as runs.
    fn write_threads(&mut self, folder: &SpillFolder) -> Result<(), Error> {
        let group = self.group;
        for thread in &mut self.threads {
            thread.write_run(folder, &self.next_run, group)?;
            self.runs.append(&mut thread.runs);
        }
        Ok(())
    }

    /// Count texts; `name` returns the name of a text for errors.
    fn add(
        &mut self,
        positioned: &[PositionedText],
        name: impl Fn(usize) -> String + Sync,
    ) -> Result<(), Error> {
        self.is_partial = true;
        let sizes: Vec<usize> = positioned.iter().map(|(text, _)| text.len()).collect();
        let num_threads = self.threads.len();
        let chunks = split_rows(&sizes, num_threads);
        let (splitter, raw, settings) = (&self.splitter, self.raw, &self.settings);
        let max_word_chars = settings.max_word_length.unwrap_or(usize::MAX);
        let (next_run, group) = (&self.next_run, self.group);
        let share = self.limit.as_ref().map(|limit| (limit.bytes / num_threads, &limit.folder));
        run_chunks(chunks.into_iter().zip(&mut self.threads), num_threads, |(rows, thread), stop| {
            stop.rows(rows).try_for_each(|at| {
                let (text, position) = positioned[at];
                let counted = settings.counted(text).and_then(|(text, times)| {
                    if settings.is_too_long(text) {
                        thread.left_out.long_texts += 1;
                    } else if !settings.is_sampled(position) {
                        thread.left_out.unsampled_texts += 1;
                    } else if !settings.is_reserved(text) {
                        if let Some((bytes, folder)) = share {
                            thread.write_run_if_full(text, bytes, folder, next_run, group)?;
                        }
                        let occurrence = Occurrence { times, position, max_word_chars };
                        thread.count(splitter, raw, text, occurrence)?;
                    }
                    Ok(())
                });
                counted.map_err(|fault| fault.within(&name(at)))
            })
        })
        .map(drop)
    }
}

impl CounterSettings {
    /// Return the first line of a block, and the length with its end.
    fn first_line<'t>(&self, block: &'t str) -> (&'t str, usize) {
        let after = line_length(block.as_bytes());
        let line = &block[..after];
        if self.keep_line_ends {
            return (line, after);
        }
        let line = line.strip_suffix('\n').unwrap_or(line);
        (line.strip_suffix('\r').unwrap_or(line), after)
    }

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

    fn is_sampled(&self, position: u64) -> bool {
        self.sample.is_none_or(|(share, seed)| is_sampled(share, seed, position))
    }

    fn is_too_long(&self, text: &str) -> bool {
        self.max_bytes.is_some_and(|limit| text.len() > limit)
    }

    fn is_reserved(&self, text: &str) -> bool {
        let reserved = self.reserved.as_bytes();
        !reserved.is_empty() && memchr::memmem::find(text.as_bytes(), reserved).is_some()
    }
}

/// Return the length of the first line with its end, in bytes.
fn line_length(block: &[u8]) -> usize {
    memchr::memchr(b'\n', block).map_or(block.len(), |end| end + 1)
}

impl ThreadCounts {
    fn count(
        &mut self,
        splitter: &Splitter,
        raw: bool,
        text: &str,
        occurrence: Occurrence,
    ) -> Result<(), Error> {
        let mut words = CountedWords { map: &mut self.map, occurrence, long_words: 0 };
        let counted = if raw {
            splitter.run_raw(text, &mut self.scratch, &mut words)
        } else {
            splitter.run(text, 0, &mut self.scratch, &mut words)
        };
        self.left_out.long_words += words.long_words;
        counted
    }

    /// Write the map as a run if the words of `text` could make it larger than `bytes`.
    fn write_run_if_full(
        &mut self,
        text: &str,
        bytes: usize,
        folder: &SpillFolder,
        next_run: &AtomicU64,
        group: u32,
    ) -> Result<(), Error> {
        if self.map.could_exceed(text.len() / BYTES_PER_NEW_WORD, bytes) {
            self.write_run(folder, next_run, group)?;
        }
        Ok(())
    }

    fn write_run(&mut self, folder: &SpillFolder, next_run: &AtomicU64, group: u32) -> Result<(), Error> {
        if self.map.is_empty() {
            return Ok(());
        }
        let number = next_run.fetch_add(1, Ordering::Relaxed);
        let map = &mut self.map;
        let run = folder.write(number, group, |writer| map.drain_sorted(|item| writer.push(item)))?;
        self.runs.push(run);
        Ok(())
    }
}

/// How often a text occurs, and where.
#[derive(Clone, Copy)]
struct Occurrence {
    times: u64,
    position: u64,
    max_word_chars: usize,
}

struct CountedWords<'m> {
    map: &'m mut CountMap,
    occurrence: Occurrence,
    long_words: u64,
}

impl CountedWords<'_> {
    /// Return whether a word of text is too long; a word has at most as many characters as bytes.
    #[inline]
    fn is_too_long(&mut self, word: &str) -> bool {
        let limit = self.occurrence.max_word_chars;
        let too_long = word.len() > limit && word.chars().nth(limit).is_some();
        self.long_words += if too_long { self.occurrence.times } else { 0 };
        too_long
    }
}

impl WordSink for CountedWords<'_> {
    #[inline]
    fn word(&mut self, word: &str, at: usize) {
        if !self.is_too_long(word) {
            self.map.add_n(word, self.occurrence.times, self.occurrence.position + at as u64);
        }
    }

    #[inline]
    fn short_word(&mut self, key: WordKey, at: usize) {
        if self.occurrence.max_word_chars < MAX_KEY_BYTES {
            let (bytes, len) = key.bytes();
            return self.word(std::str::from_utf8(&bytes[..len]).unwrap_or_default(), at);
        }
        self.map.add_key(key, self.occurrence.times, self.occurrence.position + at as u64);
    }
}

fn no_limit() -> Error {
    Error::new(ErrorKind::Argument, "memory", "no memory limit", "a memory limit and a folder")
}

fn position(source: u32, byte: u64) -> u64 {
    (u64::from(source) << SOURCE_SHIFT) | byte.min((1 << SOURCE_SHIFT) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(keep_line_ends: bool, text: &str) -> Vec<&str> {
        let settings = CounterSettings { keep_line_ends, ..CounterSettings::default() };
        let (mut all, mut start) = (Vec::new(), 0);
        while start < text.len() {
            let (line, end) = settings.first_line(&text[start..]);
            all.push(line);
            start += end;
        }
        all
    }

    #[test]
    fn texts_are_lines_with_or_without_their_ends() {
        let text = "a\nb\r\n\n\r\n c  d\ne";
        assert_eq!(lines(true, text), ["a\n", "b\r\n", "\n", "\r\n", " c  d\n", "e"]);
        assert_eq!(lines(false, text), ["a", "b", "", "", " c  d", "e"]);
    }
}
