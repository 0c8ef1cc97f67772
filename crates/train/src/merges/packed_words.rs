//! The distinct words as sequences of entries, one cell of four bytes a character.
//!
//! An entry is stored in the cell of its first character. Its second and its last cell store its width, so
//! both neighbours are one step away, whatever the length of the word. Separators enclose the words. The
//! word of a cell is the number of separators before its block of sixteen cells (one cache line), plus those
//! within the block, which a mask has.
//!
//! Cells are atomic, so that threads can merge a pair in different words at the same time. Each word is read and
//! written by one thread at a time, so no order of memory is needed.
//!
//! Entries only grow, so a pair never returns to a position that it left: when `starts_pair` returns false
//! for a pair and a position, it does so from then on.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use piecework_kernels::level::prefetch_read;

use crate::count::Counts;
use crate::memory::reserve;
use crate::thread_team::ThreadTeam;
use piecework_core::error::{Error, ErrorKind};

/// The cell between two words.
const SEPARATOR: u32 = u32::MAX;
/// The bit of a cell inside an entry; the other bits of the second and the last cell are the entry's width.
const INNER: u32 = 1 << 31;
/// The cells of words that a thread visits at once.
pub(super) const PART_CELLS: usize = if cfg!(test) { 4 } else { 1 << 15 };
/// Cells in a block.
const BLOCK: usize = 16;

/// The words that are segmented before they are appended.
const SEGMENTED_WORDS: usize = if cfg!(test) { 3 } else { 1 << 16 };
/// The words that a thread segments at once.
const PART_WORDS: usize = if cfg!(test) { 2 } else { 1 << 10 };

/// The segmented parts of some words, whose pairs do not cross the ends of a part.
#[derive(Default)]
pub(crate) struct SegmentedParts {
    entries: Vec<u32>,
    /// The end of each part, and the number of its word.
    ends: Vec<(usize, usize)>,
    word: usize,
}

/// Words as sequences of entries, with their counts.
pub(crate) struct PackedWords {
    cells: Vec<AtomicU32>,
    counts: Vec<u64>,
    /// By block: the number of separators before it, and the mask of those within it.
    separators: Vec<(u32, u16)>,
    /// By source: the end of its cells.
    ends: Vec<u32>,
    /// The words after these are measured only: their pairs do not count.
    counted: usize,
}

impl SegmentedParts {
    /// Append a part of the current word.
    pub(crate) fn push(&mut self, entries: impl Iterator<Item = u32>) {
        self.entries.extend(entries);
        self.ends.push((self.entries.len(), self.word));
    }
}

impl PackedWords {
    /// Start without words, with capacity for `words` words of `chars` characters in all.
    pub(crate) fn with_capacity(chars: usize, words: usize) -> Result<Self, Error> {
        let cells = chars.saturating_add(words).saturating_add(BLOCK);
        let mut empty = Self {
            cells: Vec::new(),
            counts: Vec::new(),
            separators: Vec::new(),
            ends: Vec::new(),
            counted: usize::MAX,
        };
        reserve(&mut empty.cells, cells)?;
        reserve(&mut empty.counts, words)?;
        reserve(&mut empty.separators, cells.div_ceil(BLOCK))?;
        empty.cells.push(AtomicU32::new(SEPARATOR));
        Ok(empty)
    }

    /// Segment the words of counts by several threads; `segment` gets the state of a thread.
    pub(crate) fn segmented<S: Send>(
        counts: &Counts,
        chars: usize,
        state: impl Fn() -> S + Sync,
        segment: impl Fn(&mut S, &str, &mut SegmentedParts) -> Result<(), Error> + Sync,
        team: &mut ThreadTeam<'_, '_>,
    ) -> Result<Self, Error> {
        let mut words = Self::with_capacity(chars, counts.len())?;
        let state = || (state(), Vec::new());
        for start in (0..counts.len()).step_by(SEGMENTED_WORDS) {
            let number = SEGMENTED_WORDS.min(counts.len() - start);
            let segmented = team.run_parts(number, PART_WORDS, state, |(state, done), part, range| {
                let mut parts = SegmentedParts::default();
                let outcome = range.map(|word| start + word).try_for_each(|word| {
                    parts.word = word;
                    segment(state, counts.word(word), &mut parts)
                });
                done.push((part, outcome.map(|()| parts)));
            })?;
            let mut segmented: Vec<_> = segmented.into_iter().flat_map(|(_, parts)| parts).collect();
            segmented.sort_unstable_by_key(|&(part, _)| part);
            segmented.into_iter().try_for_each(|(_, parts)| words.append(&parts?, counts))?;
        }
        words.numbered()
    }

    fn append(&mut self, parts: &SegmentedParts, counts: &Counts) -> Result<(), Error> {
        let mut start = 0;
        for &(end, word) in &parts.ends {
            self.push(parts.entries[start..end].iter().copied(), counts.counts()[word])?;
            start = end;
        }
        Ok(())
    }

    /// Append a word, or a part of one, as a sequence of entries; each takes one cell, whatever its length.
    pub(crate) fn push(&mut self, entries: impl Iterator<Item = u32>, count: u64) -> Result<(), Error> {
        let before = self.cells.len();
        self.cells.extend(entries.map(AtomicU32::new));
        if self.cells.len() == before {
            return Ok(());
        }
        self.cells.push(AtomicU32::new(SEPARATOR));
        self.counts.push(count);
        if self.cells.len() < INNER as usize {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Training, "counts", "2^31 or more characters in distinct words", "fewer"))
    }

    /// End a source: the words since the last one are its words. Without a call, all words are one source.
    pub(crate) fn end_source(&mut self) {
        self.ends.push(self.cells.len() as u32);
    }

    /// Measure the words that follow, but do not count their pairs.
    pub(crate) fn stop_counting(&mut self) {
        self.counted = self.counts.len();
    }

    /// Count the separators by block; called after the last `push`.
    pub(crate) fn numbered(mut self) -> Result<Self, Error> {
        if self.ends.is_empty() {
            self.end_source();
        }
        let padding = self.cells.len().next_multiple_of(BLOCK) - self.cells.len();
        reserve(&mut self.cells, padding)?;
        reserve(&mut self.separators, self.cells.len().div_ceil(BLOCK))?;
        self.cells.resize_with(self.cells.len().next_multiple_of(BLOCK), || AtomicU32::new(SEPARATOR));
        let mut before = 0;
        for block in self.cells.chunks_mut(BLOCK) {
            let within = block.iter_mut().map(|cell| u16::from(*cell.get_mut() == SEPARATOR));
            let mask = within.rev().fold(0, |mask, bit| mask << 1 | bit);
            self.separators.push((before, mask));
            before += mask.count_ones();
        }
        Ok(self)
    }

    /// Return whether there are words whose pairs do not count.
    pub(super) fn has_uncounted(&self) -> bool {
        self.counted < self.counts.len()
    }

    /// Return the number of words.
    pub(super) fn number(&self) -> usize {
        self.counts.len()
    }

    /// Return the number of cells, which bounds the number of pairs.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Return the number of sources.
    pub(super) fn sources(&self) -> usize {
        self.ends.len()
    }

    /// Return the number of the ascending positions that are before the end of a source.
    #[inline]
    pub(super) fn before_end_of(&self, source: usize, positions: &[u32]) -> usize {
        positions.partition_point(|&position| position < self.ends[source])
    }

    /// Return the source of a position.
    #[inline]
    pub(super) fn source_at(&self, position: u32) -> u32 {
        self.ends.partition_point(|&end| end <= position) as u32
    }

    /// Return the number of entries of each source, weighted by word counts.
    pub(crate) fn lengths(&self) -> Vec<u64> {
        let mut lengths = vec![0; self.ends.len()];
        let (mut at, mut source) = (1, 0);
        for &count in &self.counts {
            while at >= self.ends[source] {
                source += 1;
            }
            while self.cell(at) != SEPARATOR {
                lengths[source] += count;
                at = self.next(at);
            }
            at += 1;
        }
        lengths
    }

    /// Visit each word: its entries and its count.
    pub(super) fn visit_words(&self, mut visit: impl FnMut(&[u32], u64)) {
        let (mut at, mut entries) = (1, Vec::new());
        for &count in &self.counts {
            entries.clear();
            while self.cell(at) != SEPARATOR {
                entries.push(self.cell(at));
                at = self.next(at);
            }
            at += 1;
            visit(&entries, count);
        }
    }

    /// Visit each entry: entry, its length in characters at the start of training, and the count of its word.
    pub(super) fn visit_entries(
        &self,
        mut visit: impl FnMut(u32, u32, u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (mut at, mut word) = (1, 0);
        while word < self.counts.len() {
            let next = self.next(at);
            visit(self.cell(at), next - at, self.counts[word])?;
            at = next;
            if self.cell(at) == SEPARATOR {
                (at, word) = (at + 1, word + 1);
            }
        }
        Ok(())
    }

    /// Visit the positions of an entry, ascending.
    pub(super) fn visit_positions(&self, entry: u32, mut visit: impl FnMut(u32)) {
        for (position, _) in
            self.cells.iter().enumerate().filter(|(_, cell)| cell.load(Ordering::Relaxed) == entry)
        {
            visit(position as u32);
        }
    }

    /// Visit each pair of the words that begin in a range of cells: left entry, right entry, position, and the count of
    /// its word, 0 if its pairs do not count.
    pub(super) fn visit_pairs(&self, cells: Range<usize>, mut visit: impl FnMut(u32, u32, u32, u64)) {
        let start = cells.start.max(1);
        let is_end = |&at: &usize| self.cell(at as u32 - 1) == SEPARATOR;
        let Some(first) = (start..cells.end).find(is_end) else { return };
        let mut at = first as u32;
        let mut word = self.word_at(at);
        while (at as usize) < cells.end && word < self.counts.len() {
            let count = if word < self.counted { self.counts[word] } else { 0 };
            let mut next = self.next(at);
            while self.cell(next) != SEPARATOR {
                visit(self.cell(at), self.cell(next), at, count);
                (at, next) = (next, self.next(next));
            }
            (at, word) = (next + 1, word + 1);
        }
    }

    /// Prefetch the cells at `positions`, and what finds their words.
    #[inline]
    pub(super) fn prefetch(&self, positions: &[u32]) {
        for &position in positions {
            prefetch_read(&self.cells[position as usize]);
            prefetch_read(&self.separators[position as usize / BLOCK]);
        }
    }

    /// Set `counts` to the counts of the words at `positions`; wait for all of them together.
    #[inline]
    pub(super) fn read_counts(&self, positions: &[u32], counts: &mut Vec<u64>) {
        counts.clear();
        counts.extend(positions.iter().map(|&position| {
            let word = self.word_at(position);
            prefetch_read(&self.counts[word]);
            word as u64
        }));
        counts.iter_mut().for_each(|count| *count = self.counts[*count as usize]);
    }

    /// Return the count of the word at a position, 0 if its pairs do not count.
    #[inline]
    pub(super) fn count_at(&self, position: u32) -> u64 {
        let word = self.word_at(position);
        if word < self.counted {
            self.counts[word]
        } else {
            0
        }
    }

    /// Return the number of the word at a position.
    #[inline]
    fn word_at(&self, position: u32) -> usize {
        let (before, mask) = self.separators[position as usize / BLOCK];
        let within = mask & ((1 << (position as usize % BLOCK)) - 1);
        (before + within.count_ones() - 1) as usize
    }

    /// Return the number of the ascending positions before the first word that begins after position number `at`.
    pub(super) fn word_end(&self, positions: &[u32], at: usize) -> usize {
        let Some(&last) = at.checked_sub(1).and_then(|last| positions.get(last)) else { return at };
        let word = self.word_at(last);
        at + positions[at..].partition_point(|&position| self.word_at(position) == word)
    }

    /// Return whether `left` starts at `position` and `right` follows it.
    #[inline]
    pub(super) fn starts_pair(&self, position: u32, left: u32, right: u32) -> bool {
        self.cell(position) == left && self.cell(self.next(position)) == right
    }

    /// Return the entry before `position` and its position, unless a word starts at `position`.
    #[inline]
    pub(super) fn before(&self, position: u32) -> Option<(u32, u32)> {
        let last = self.cell(position - 1);
        if last == SEPARATOR {
            return None;
        }
        let width = if last & INNER == 0 { 1 } else { last & !INNER };
        let start = position - width;
        Some((self.cell(start), start))
    }

    /// Return the entry after the one at `position`, unless that ends its word.
    #[inline]
    pub(super) fn after(&self, position: u32) -> Option<u32> {
        let after = self.cell(self.next(position));
        (after != SEPARATOR).then_some(after)
    }

    /// Count the consecutive occurrences of an entry that end at `position`.
    pub(super) fn run_to_left(&self, position: u32) -> u64 {
        let (entry, mut start, mut length) = (self.cell(position), position, 1);
        while let Some((_, before)) = self.before(start).filter(|&(before, _)| before == entry) {
            (start, length) = (before, length + 1);
        }
        length
    }

    /// Count the consecutive occurrences of an entry that start after the entry at `position`.
    pub(super) fn run_to_right(&self, position: u32) -> u64 {
        let mut position = self.next(position);
        let entry = self.cell(position);
        let mut length = 0;
        while self.cell(position) == entry {
            length += 1;
            position = self.next(position);
        }
        length
    }

    /// Replace the pair that starts at `position` by one entry.
    #[inline]
    pub(super) fn merge(&self, position: u32, merged: u32) {
        let middle = self.next(position);
        let end = self.next(middle);
        let width = INNER | (end - position);
        for (at, cell) in [(middle, INNER), (position, merged), (position + 1, width), (end - 1, width)] {
            self.cells[at as usize].store(cell, Ordering::Relaxed);
        }
    }

    #[inline]
    fn cell(&self, at: u32) -> u32 {
        self.cells[at as usize].load(Ordering::Relaxed)
    }

    /// Return the position after the entry at `position`.
    #[inline]
    pub(super) fn next(&self, position: u32) -> u32 {
        let second = self.cell(position + 1);
        if second & INNER == 0 || second == SEPARATOR {
            position + 1
        } else {
            position + (second & !INNER)
        }
    }
}
