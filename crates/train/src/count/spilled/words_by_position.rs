//! Words in the order of their first positions, sorted in bounded memory.

use std::path::PathBuf;

use super::merged_runs::{GroupWeights, MergedRuns};
use super::run_file::{Run, RunOrder, RunWriter, WordCount};
use piecework_core::error::Error;

/// Words with counts, ordered by (first position, bytes), read from memory or from files.
pub(crate) struct WordsByPosition(SortedWords);

enum SortedWords {
    Memory { sorted: WordTable, next: usize },
    Files(MergedRuns),
}

impl WordsByPosition {
    /// Sort the words of merged runs, with at most about `limit` bytes in memory; `path` names the file of a
    /// number.
    pub(super) fn sort(
        mut words: MergedRuns,
        limit: usize,
        path: impl Fn(usize) -> PathBuf,
    ) -> Result<Self, Error> {
        let mut table = WordTable::default();
        let mut runs: Vec<Run> = Vec::new();
        while let Some(item) = words.next()? {
            if table.bytes_with(item.word.len()) > limit && !table.is_empty() {
                runs.push(table.write_sorted(path(runs.len()))?);
            }
            table.push(item);
        }
        if runs.is_empty() {
            table.sort();
            return Ok(Self(SortedWords::Memory { sorted: table, next: 0 }));
        }
        runs.push(table.write_sorted(path(runs.len()))?);
        drop(table);
        Ok(Self(SortedWords::Files(MergedRuns::open(&runs, RunOrder::Position, GroupWeights::UNIT)?)))
    }

    /// Return the next word, or `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<WordCount<'_>>, Error> {
        match &mut self.0 {
            SortedWords::Memory { sorted, next } => {
                *next += 1;
                Ok(sorted.get(*next - 1))
            }
            SortedWords::Files(merged) => merged.next(),
        }
    }
}

/// Words with counts in memory.
#[derive(Debug, Default)]
struct WordTable {
    text: Vec<u8>,
    rows: Vec<WordRow>,
}

#[derive(Clone, Copy, Debug)]
struct WordRow {
    start: usize,
    len: usize,
    count: u64,
    first: u64,
}

impl WordTable {
    fn push(&mut self, item: WordCount<'_>) {
        let (start, len) = (self.text.len(), item.word.len());
        self.text.extend_from_slice(item.word);
        self.rows.push(WordRow { start, len, count: item.count, first: item.first });
    }

    fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Return the bytes in memory after one more word of `len` bytes, growth of the vectors included.
    fn bytes_with(&self, len: usize) -> usize {
        let grown = |used: usize, capacity: usize| if used > capacity { 3 * capacity } else { capacity };
        let rows = grown(self.rows.len() + 1, self.rows.capacity()) * size_of::<WordRow>();
        rows + grown(self.text.len() + len, self.text.capacity())
    }

    fn sort(&mut self) {
        let text = &self.text;
        self.rows.sort_unstable_by(|one, two| {
            RunOrder::Position.compare(&one.counted(text), &two.counted(text))
        });
    }

    fn get(&self, index: usize) -> Option<WordCount<'_>> {
        self.rows.get(index).map(|row| row.counted(&self.text))
    }

    /// Write all words as a run by position; the table is empty afterwards and keeps its memory.
    fn write_sorted(&mut self, path: PathBuf) -> Result<Run, Error> {
        self.sort();
        let mut writer = RunWriter::create(path)?;
        for row in &self.rows {
            writer.push(row.counted(&self.text))?;
        }
        self.rows.clear();
        self.text.clear();
        writer.finish(0, 0, false)
    }
}

impl WordRow {
    fn counted<'t>(&self, text: &'t [u8]) -> WordCount<'t> {
        let word = &text[self.start..self.start + self.len];
        WordCount { word, count: self.count, first: self.first }
    }
}
