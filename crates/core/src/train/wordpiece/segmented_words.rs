//! The distinct words as sequences of entries, in fixed coordinates.
//!
//! Each character has a cell for good; an entry lives in the cell where it starts, and its first and last
//! cells know its width, so both neighbours are one step away and a merge touches three cells whatever the
//! length of the word. A separator stands before, between and after the words. Positions ascend in corpus
//! order, so the least position of a pair is its first occurrence.
//!
//! Entries only grow, so no pair ever comes back to a position that it left: what an occurrence list says
//! of a position is checked once by `starts_pair`, and a failed check is final.

use rustc_hash::FxHashMap;

use super::{PairScore, WordPieceTrainSpec};
use crate::error::{Error, ErrorKind};
use crate::train::alphabet::Alphabet;
use crate::train::entries::Entries;
use crate::train::progress::Progress;
use crate::train::Counts;

/// A cell where no entry starts.
const NONE: u32 = u32::MAX;
/// The cell between two words.
const SEPARATOR: u32 = u32::MAX - 1;

#[derive(Clone, Copy)]
struct Cell {
    entry: u32,
    /// In characters; right in the first and the last cell of an entry.
    width: u32,
}

/// Segmented words with their counts.
pub(super) struct SegmentedWords {
    cells: Vec<Cell>,
    word_of: Vec<u32>,
    counts: Vec<u64>,
}

/// What stands around a merged pair; `None` at a word's edge.
pub(super) struct AdjacentEntries {
    /// Entry and position to the left.
    pub(super) left: Option<(u32, u32)>,
    /// Entry to the right.
    pub(super) right: Option<u32>,
}

impl SegmentedWords {
    /// Segment the words into characters.
    ///
    /// For `Score::Frequency` characters outside the alphabet are skipped; for the other scores a word with
    /// such a character is left out, because encoding makes it the unknown token anyway.
    pub(super) fn new(
        counts: &Counts,
        spec: &WordPieceTrainSpec,
        alphabet: &Alphabet,
        entries: &Entries,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let mut corpus = Self::empty();
        let chars = CharEntries::new(entries, alphabet, spec, counts);
        for (word, count) in counts.iter() {
            progress.advance(word.len())?;
            if spec.score == PairScore::Frequency || alphabet.spells(word) {
                let characters = word.chars().enumerate();
                corpus.push(
                    characters.filter_map(|(at, character)| chars.of(at == 0, character).copied()),
                    count,
                )?;
            }
        }
        Ok(corpus)
    }

    /// A corpus without any word.
    pub(super) fn empty() -> Self {
        let mut corpus = Self { cells: Vec::new(), word_of: Vec::new(), counts: Vec::new() };
        corpus.separate();
        corpus
    }

    /// Append a word, or what stands for one, as the entries that it consists of; they take a cell each.
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

    /// Visit each entry with its position, its count and the entry that follows it in the word.
    pub(super) fn visit(
        &self,
        mut see: impl FnMut(u32, u32, u64, Option<u32>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for (position, cell) in self.cells.iter().enumerate() {
            if cell.entry < SEPARATOR {
                let next = self.cells[position + cell.width as usize].entry;
                see(
                    cell.entry,
                    position as u32,
                    self.count_at(position as u32),
                    (next != SEPARATOR).then_some(next),
                )?;
            }
        }
        Ok(())
    }

    /// The count of the word that a position is in.
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

    /// What stands to the left and right of the pair that starts at `position`.
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

    /// Make the pair that starts at `position` one entry.
    #[inline]
    pub(super) fn merge(&mut self, position: u32, merged: u32) {
        let middle = self.next(position);
        let end = self.next(middle);
        let width = end - position;
        self.cells[middle as usize].entry = NONE;
        self.cells[end as usize - 1] = Cell { entry: NONE, width };
        self.cells[position as usize] = Cell { entry: merged, width };
    }

    /// Count how often the entry at `position` stands in a row, going left.
    pub(super) fn run_to_left(&self, mut position: u32) -> u64 {
        let entry = self.cells[position as usize].entry;
        let mut length = 0;
        while self.cells[position as usize].entry == entry {
            length += 1;
            position -= self.cells[position as usize - 1].width;
        }
        length
    }

    /// Count how often the entry after the one at `position` stands in a row, going right.
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

    /// Where the entry after the one at `position` starts.
    #[inline]
    pub(super) fn next(&self, position: u32) -> u32 {
        position + self.cells[position as usize].width
    }
}

/// The entries of single characters: at the start of a word, and inside.
struct CharEntries {
    first: FxHashMap<char, u32>,
    inside: FxHashMap<char, u32>,
}

impl CharEntries {
    fn new(entries: &Entries, alphabet: &Alphabet, spec: &WordPieceTrainSpec, counts: &Counts) -> Self {
        let mut chars = Self { first: FxHashMap::default(), inside: FxHashMap::default() };
        for (word, _) in counts.iter() {
            for (at, character) in word.chars().enumerate() {
                chars.insert(at == 0, character, entries, alphabet, spec);
            }
        }
        chars
    }

    fn insert(
        &mut self,
        first: bool,
        character: char,
        entries: &Entries,
        alphabet: &Alphabet,
        spec: &WordPieceTrainSpec,
    ) {
        let known = if first { &mut self.first } else { &mut self.inside };
        if known.contains_key(&character) || !alphabet.contains(character) {
            return;
        }
        let prefix = if first { "" } else { spec.continuing_subword_prefix.as_str() };
        if let Some(id) = entries.find(&format!("{prefix}{character}")) {
            known.insert(character, id);
        }
    }

    fn of(&self, first: bool, character: char) -> Option<&u32> {
        if first {
            self.first.get(&character)
        } else {
            self.inside.get(&character)
        }
    }
}
