//! Several runs merged, with the weights of groups, and the merged words in the order of first positions.

use std::cmp::{Ordering, Reverse};
use std::collections::binary_heap::PeekMut;
use std::collections::BinaryHeap;
use std::path::PathBuf;

use piecework_core::error::{Error, ErrorKind};

use super::run_file::{Run, RunOrder, RunReader, RunWriter, WordCount};

/// The weight of each group of sources: a numerator for each, over one denominator.
///
/// The count of a word is the exact sum of (count x weight) over the groups, rounded once to the nearest
/// integer, halves up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupWeights {
    numerators: Vec<u64>,
    denominator: u64,
}

impl GroupWeights {
    /// Every group weighs 1.
    pub const UNIT: Self = Self { numerators: Vec::new(), denominator: 1 };

    /// Make the weights `numerators[group] / denominator`; a denominator of zero means 1.
    #[must_use]
    pub fn new(numerators: Vec<u64>, denominator: u64) -> Self {
        Self { numerators, denominator: denominator.max(1) }
    }

    /// Return the product of a count and the numerator of its group; groups without a numerator weigh 1.
    fn weighted(&self, count: u64, group: u32) -> u128 {
        let numerator = self.numerators.get(group as usize).copied();
        u128::from(count) * u128::from(numerator.unwrap_or(self.denominator))
    }

    fn rounded(&self, sum: u128) -> u128 {
        let denominator = u128::from(self.denominator);
        sum / denominator + u128::from(sum % denominator * 2 >= denominator)
    }
}

/// Several runs of one order, merged: each word once, with the sum of its counts and its smallest position.
///
/// Runs by position must have distinct words.
pub(super) struct MergedRuns {
    heads: BinaryHeap<Reverse<Head>>,
    weights: GroupWeights,
    word: Vec<u8>,
}

impl MergedRuns {
    pub(super) fn open(runs: &[Run], order: RunOrder, weights: GroupWeights) -> Result<Self, Error> {
        let mut heads = BinaryHeap::with_capacity(runs.len());
        for run in runs {
            let mut reader = RunReader::open(run)?;
            if reader.advance()? {
                heads.push(Reverse(Head { reader, order }));
            }
        }
        Ok(Self { heads, weights, word: Vec::new() })
    }

    /// Return the next word, or `None` at the end; words whose weighted count rounds to zero are left out.
    pub(super) fn next(&mut self) -> Result<Option<WordCount<'_>>, Error> {
        while let Some(Reverse(head)) = self.heads.peek() {
            let WordCount { word, mut first, .. } = head.reader.current();
            self.word.clear();
            self.word.extend_from_slice(word);
            let mut sum = 0;
            while let Some(mut top) = self.heads.peek_mut() {
                let current = top.0.reader.current();
                if current.word != self.word {
                    break;
                }
                sum += self.weights.weighted(current.count, top.0.reader.group);
                first = first.min(current.first);
                if !top.0.reader.advance()? {
                    PeekMut::pop(top);
                }
            }
            let count = u64::try_from(self.weights.rounded(sum)).map_err(|_| self.too_frequent())?;
            if count > 0 {
                return Ok(Some(WordCount { word: &self.word, count, first }));
            }
        }
        Ok(None)
    }

    fn too_frequent(&self) -> Error {
        let place = format!("count of {:?}", String::from_utf8_lossy(&self.word));
        Error::new(ErrorKind::Training, place, "a sum beyond 64 bits", "at most 2^64 - 1")
    }
}

/// The current word of a run.
struct Head {
    reader: RunReader,
    order: RunOrder,
}

impl Ord for Head {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order.compare(&self.reader.current(), &other.reader.current())
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}

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
