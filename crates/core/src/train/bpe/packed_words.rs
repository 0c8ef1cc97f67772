//! The distinct words as sequences of entries, in fixed coordinates, four bytes a character.
//!
//! Each character has a cell for good; an entry lives in the cell where it starts, and its second and its
//! last cell hold its width, so both neighbours are one step away whatever the length of the word. A
//! separator stands before, between and after the words. Which word a cell is in follows from the number
//! of separators before its block of sixteen cells, one cache line, and those within it.
//!
//! Entries only grow, so no pair ever comes back to a position that it left: what a list of places says
//! is checked once by `starts_pair`, and a failed check is final.

use rustc_hash::FxHashMap;

use super::char_forms::CharForms;
use crate::count::Counts;
use crate::error::{Error, ErrorKind};
use crate::train::alphabet;
use crate::train::progress::Progress;
use crate::train::symbol_splitter::SymbolSplitter;

/// The cell between two words.
const SEPARATOR: u32 = u32::MAX;
/// Marks a cell inside an entry; the rest of the second and the last one is the entry's width.
const INNER: u32 = 1 << 31;
const BLOCK: usize = 16;

/// Segmented words with their counts.
pub(super) struct PackedWords {
    cells: Vec<u32>,
    counts: Vec<u64>,
    /// By block: how many separators stand before it.
    separators: Vec<u32>,
}

impl PackedWords {
    /// Segment the words into characters; those outside the alphabet are skipped, as `tokenizers` does.
    pub(super) fn new(
        counts: &Counts,
        chars: &mut CharForms<'_>,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let mut words = Self::none();
        for (word, count) in counts.iter() {
            progress.advance(word.len())?;
            let entries =
                alphabet::char_positions(word).filter_map(|(c, position)| chars.entry(c, position));
            words.push(entries, count)?;
        }
        Ok(words.numbered())
    }

    /// Segment the parts of words that are made of known characters, each as a word of its own.
    pub(super) fn of_parts(
        counts: &Counts,
        splitter: &SymbolSplitter,
        ids: &FxHashMap<char, u32>,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let mut words = Self::none();
        for (word, count) in counts.iter() {
            progress.advance(word.len())?;
            let mut outcome = Ok(());
            let known = |c| ids.contains_key(&c);
            splitter.known_parts(word, known, |part| {
                if outcome.is_ok() {
                    outcome = words.push(part.chars().filter_map(|c| ids.get(&c).copied()), count);
                }
            });
            outcome?;
        }
        Ok(words.numbered())
    }

    fn none() -> Self {
        Self { cells: vec![SEPARATOR], counts: Vec::new(), separators: Vec::new() }
    }

    fn push(&mut self, entries: impl Iterator<Item = u32>, count: u64) -> Result<(), Error> {
        let before = self.cells.len();
        self.cells.extend(entries);
        if self.cells.len() == before {
            return Ok(());
        }
        self.cells.push(SEPARATOR);
        self.counts.push(count);
        if self.cells.len() < INNER as usize {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Training, "counts", "2^31 or more characters in distinct words", "fewer"))
    }

    /// Number the separators by block, once all words are there.
    fn numbered(mut self) -> Self {
        self.cells.resize(self.cells.len().next_multiple_of(BLOCK), SEPARATOR);
        let mut before = 0;
        for block in self.cells.chunks(BLOCK) {
            self.separators.push(before);
            before += block.iter().filter(|&&cell| cell == SEPARATOR).count() as u32;
        }
        self
    }

    /// Visit each pair: left and right entry, position, and the count of the word.
    pub(super) fn visit_pairs(
        &self,
        mut visit: impl FnMut(u32, u32, u32, u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (mut at, mut word) = (1, 0);
        while word < self.counts.len() {
            let next = self.next(at) as usize;
            if self.cells[next] == SEPARATOR {
                (at, word) = (next as u32 + 1, word + 1);
                continue;
            }
            visit(self.cells[at as usize], self.cells[next], at, self.counts[word])?;
            at = next as u32;
        }
        Ok(())
    }

    /// The count of the word that a position is in.
    #[inline]
    pub(super) fn count_at(&self, position: u32) -> u64 {
        let (block, within) = (position as usize / BLOCK, position as usize % BLOCK);
        let cells = &self.cells[block * BLOCK..(block + 1) * BLOCK];
        let before =
            cells.iter().enumerate().map(|(at, &cell)| u32::from(cell == SEPARATOR && at < within));
        self.counts[(self.separators[block] + before.sum::<u32>() - 1) as usize]
    }

    /// Whether `left` starts at `position` and `right` follows it.
    #[inline]
    pub(super) fn starts_pair(&self, position: u32, left: u32, right: u32) -> bool {
        self.cells[position as usize] == left && self.cells[self.next(position) as usize] == right
    }

    /// The entry before `position` and where it starts, unless that is the start of a word.
    #[inline]
    pub(super) fn before(&self, position: u32) -> Option<(u32, u32)> {
        let last = self.cells[position as usize - 1];
        if last == SEPARATOR {
            return None;
        }
        let width = if last & INNER == 0 { 1 } else { last & !INNER };
        let start = position - width;
        Some((self.cells[start as usize], start))
    }

    /// Make the pair that starts at `position` one entry; returns the entry that follows it, if any.
    #[inline]
    pub(super) fn merge(&mut self, position: u32, merged: u32) -> Option<u32> {
        let middle = self.next(position);
        let end = self.next(middle);
        let width = INNER | (end - position);
        self.cells[middle as usize] = INNER;
        self.cells[position as usize] = merged;
        self.cells[position as usize + 1] = width;
        self.cells[end as usize - 1] = width;
        let after = self.cells[end as usize];
        (after != SEPARATOR).then_some(after)
    }

    /// Where the entry after the one at `position` starts.
    #[inline]
    fn next(&self, position: u32) -> u32 {
        let second = self.cells[position as usize + 1];
        if second & INNER == 0 || second == SEPARATOR {
            position + 1
        } else {
            position + (second & !INNER)
        }
    }
}
