//! The distinct words as sequences of entries, one cell a character.
//!
//! An entry is stored in the cell of its first character. Its first and last cells store its width, so both
//! neighbours are one step away, and a merge writes three cells, whatever the length of the word. Separators
//! enclose the words. Positions ascend in corpus order, so the least position of a pair is its first
//! occurrence.
//!
//! Entries only grow, so a pair never returns to a position that it left: when `starts_pair` returns false
//! for a pair and a position, it does so from then on.

use super::char_entries::CharEntries;
use super::spec::{PairScore, WordPieceTrainSpec};
use crate::count::Counts;
use crate::error::{Error, ErrorKind};
use crate::train::alphabet::Alphabet;
use crate::train::entries::Entries;
use crate::train::progress::Progress;

/// A cell inside an entry.
const NONE: u32 = u32::MAX;
/// The cell between two words.
const SEPARATOR: u32 = u32::MAX - 1;

#[derive(Clone, Copy)]
struct Cell {
    entry: u32,
    /// In characters; valid in the first and the last cell of an entry.
    width: u32,
}

/// Words as sequences of entries, with their counts.
pub(super) struct SegmentedWords {
    cells: Vec<Cell>,
    word_of: Vec<u32>,
    counts: Vec<u64>,
}

/// The entries next to a pair; `None` at the edge of a word.
pub(super) struct AdjacentEntries {
    /// The entry to the left and its position.
    pub(super) left: Option<(u32, u32)>,
    /// The entry to the right.
    pub(super) right: Option<u32>,
}

impl SegmentedWords {
    /// Segment the words into characters.
    ///
    /// `Frequency` skips characters outside the alphabet. The other scores skip words with such characters,
    /// because the model encodes these as the unknown token.
    pub(super) fn new(
        counts: &Counts,
        spec: &WordPieceTrainSpec,
        alphabet: &Alphabet,
        entries: &Entries,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let mut words = Self::empty();
        let chars = CharEntries::new(entries, alphabet, spec, counts);
        for (word, count) in counts.iter() {
            progress.advance(word.len())?;
            if spec.score == PairScore::Frequency || alphabet.spells(word) {
                let characters = word.chars().enumerate();
                words
                    .push(characters.filter_map(|(at, character)| chars.get(at == 0, character)), count)?;
            }
        }
        Ok(words)
    }

    /// No words.
    pub(super) fn empty() -> Self {
        let mut words = Self { cells: Vec::new(), word_of: Vec::new(), counts: Vec::new() };
        words.separate();
        words
    }

    /// Append a word, or a part of one, as a sequence of entries; each takes one cell, whatever its length.
    pub(super) fn push(&mut self, word: impl Iterator<Item = u32>, count: u64) -> Result<(), Error> {
        let before = self.cells.len();
        self.cells.extend(word.map(|entry| Cell { entry, width: 1 }));
        if self.cells.len() == before {
            return Ok(());
        }
        self.word_of.resize(self.cells.len(), self.counts.len() as u32);
        self.counts.push(count);
        self.separate();
        if self.cells.len() < SEPARATOR as usize {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Training, "counts", "2^32 or more characters in distinct words", "fewer"))
    }

    fn separate(&mut self) {
        self.cells.push(Cell { entry: SEPARATOR, width: 1 });
        self.word_of.push(0);
    }

    /// Visit each entry: entry, position, count of its word, and the next entry of the word.
    pub(super) fn visit(
        &self,
        mut visit: impl FnMut(u32, u32, u64, Option<u32>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for (position, cell) in self.cells.iter().enumerate() {
            if cell.entry < SEPARATOR {
                let next = self.cells[position + cell.width as usize].entry;
                visit(
                    cell.entry,
                    position as u32,
                    self.count_at(position as u32),
                    (next != SEPARATOR).then_some(next),
                )?;
            }
        }
        Ok(())
    }

    /// The count of the word at a position.
    #[inline]
    pub(super) fn count_at(&self, position: u32) -> u64 {
        self.counts[self.word_of[position as usize] as usize]
    }

    /// Whether `left` starts at `position` and `right` follows it.
    #[inline]
    pub(super) fn starts_pair(&self, position: u32, left: u32, right: u32) -> bool {
        let cell = self.cells[position as usize];
        cell.entry == left && self.cells[(position + cell.width) as usize].entry == right
    }

    /// The entries to the left and right of the pair that starts at `position`.
    #[inline]
    pub(super) fn adjacent(&self, position: u32) -> AdjacentEntries {
        let last = self.cells[position as usize - 1];
        let left = (last.entry != SEPARATOR).then(|| {
            let start = position - last.width;
            (self.cells[start as usize].entry, start)
        });
        let right = self.cells[self.next(self.next(position)) as usize].entry;
        AdjacentEntries { left, right: (right != SEPARATOR).then_some(right) }
    }

    /// Replace the pair that starts at `position` by one entry.
    #[inline]
    pub(super) fn merge(&mut self, position: u32, merged: u32) {
        let middle = self.next(position);
        let end = self.next(middle);
        let width = end - position;
        self.cells[middle as usize].entry = NONE;
        self.cells[end as usize - 1] = Cell { entry: NONE, width };
        self.cells[position as usize] = Cell { entry: merged, width };
    }

    /// Count the consecutive occurrences of an entry that end at `position`.
    pub(super) fn run_to_left(&self, mut position: u32) -> u64 {
        let entry = self.cells[position as usize].entry;
        let mut length = 0;
        while self.cells[position as usize].entry == entry {
            length += 1;
            position -= self.cells[position as usize - 1].width;
        }
        length
    }

    /// Count the consecutive occurrences of an entry that start after the entry at `position`.
    pub(super) fn run_to_right(&self, position: u32) -> u64 {
        let mut position = self.next(position);
        let entry = self.cells[position as usize].entry;
        let mut length = 0;
        while self.cells[position as usize].entry == entry {
            length += 1;
            position = self.next(position);
        }
        length
    }

    /// The position after the entry at `position`.
    #[inline]
    pub(super) fn next(&self, position: u32) -> u32 {
        position + self.cells[position as usize].width
    }
}
