//! The merge of a pair at all of its positions.
//!
//! Positions are far apart in a large corpus, so each of them waits for memory: for its cells, for the number of
//! its word and for the count of that word. These are prefetched for many positions together.
//!
//! The changes of a merge are collected by neighbouring entry, so each distinct neighbour takes one lookup in the
//! table of pairs, not each position.

use std::ops::AddAssign;
use std::sync::{Mutex, PoisonError};

use super::packed_words::PackedWords;
use crate::thread_team::ThreadTeam;
use piecework_core::error::Error;

/// The positions whose counts are read before the pair is merged there.
const SEGMENT: usize = 64;
/// The positions that a thread takes at once.
const PART_POSITIONS: usize = if cfg!(test) { 2 } else { 1 << 10 };
/// The least positions that several threads share; with fewer, starting them takes longer.
const SHARED_POSITIONS: usize = if cfg!(test) { 3 } else { 1 << 11 };

/// Units of work of a position in progress reports.
const WORK: usize = 4;

/// A pair, and the entry that replaces it.
#[derive(Clone, Copy)]
pub(super) struct PairMerge {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) merged: u32,
    /// Whether `aaa` counts as two pairs (a, a), or as one because matches must not overlap.
    pub(super) overlapping: bool,
}

/// The positions where a pair was merged: their number, and the sum of the counts of their words.
#[derive(Clone, Copy, Default)]
pub(super) struct MergedPositions {
    pub(super) number: usize,
    pub(super) count: u64,
}

impl PairMerge {
    /// Merge the pair at the ascending `positions` where it still occurs; record the changes around them.
    ///
    /// Many positions are shared by the threads of a team: the positions of a word go to one thread, which records
    /// its changes in one of the `spare` ones.
    pub(super) fn apply(
        self,
        words: &PackedWords,
        positions: &[u32],
        changes: &mut NeighbourChanges,
        spare: &mut Vec<NeighbourChanges>,
        team: &mut ThreadTeam<'_, '_>,
    ) -> Result<MergedPositions, Error> {
        if team.threads() == 1 || positions.len() < SHARED_POSITIONS {
            let merged = self.apply_part(words, positions, changes);
            return team.advance(WORK * positions.len()).map(|()| merged);
        }
        let unused = Mutex::new(std::mem::take(spare));
        let start = || {
            let mut own = unused.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
            own.grow(changes.entries());
            (own, MergedPositions::default())
        };
        let states = team.run_parts(positions.len(), PART_POSITIONS, start, |(own, merged), _, part| {
            let [start, end] = [part.start, part.end].map(|at| words.word_end(positions, at));
            *merged += self.apply_part(words, &positions[start..end], own);
        })?;
        let mut all = MergedPositions::default();
        for (mut own, merged) in states {
            changes.append(&mut own);
            spare.push(own);
            all += merged;
        }
        Ok(all)
    }

    fn apply_part(
        self,
        words: &PackedWords,
        positions: &[u32],
        changes: &mut NeighbourChanges,
    ) -> MergedPositions {
        let mut counts = Vec::with_capacity(SEGMENT);
        let mut merged = MergedPositions::default();
        let mut segments = positions.chunks(SEGMENT).peekable();
        while let Some(segment) = segments.next() {
            words.read_counts(segment, &mut counts);
            segments.peek().into_iter().for_each(|next| words.prefetch(next));
            for (&position, &count) in segment.iter().zip(&counts) {
                if words.starts_pair(position, self.left, self.right) {
                    self.apply_at(words, position, count, changes);
                    merged += MergedPositions { number: 1, count };
                }
            }
        }
        merged
    }

    /// Merge the pair at one position, in a word that occurs `count` times.
    #[inline]
    fn apply_at(self, words: &PackedWords, position: u32, count: u64, changes: &mut NeighbourChanges) {
        let Self { left, right, merged, overlapping } = self;
        let before = words.before(position);
        if let Some((before, _)) = before {
            if before == merged {
                changes.remerge(left, count);
            } else if overlapping || before != left || words.run_to_left(position).is_multiple_of(2) {
                // If matches must not overlap, a run that loses an end loses a match only if its length is even.
                changes.lose(Side::Left, before, count);
            }
        }
        if let Some(after) = words.after(words.next(position)) {
            // In a run of one entry, the next pair is the merged pair itself, whose count is already 0.
            let is_merged_pair = (right, after) == (left, right);
            if !is_merged_pair
                && (overlapping || after != right || words.run_to_right(position).is_multiple_of(2))
            {
                changes.lose(Side::Right, after, count);
            }
            changes.gain(Side::Right, after, count, position);
        }
        words.merge(position, merged);
        if let Some((before, start)) = before {
            changes.gain(Side::Left, before, count, start);
        }
    }
}

impl AddAssign for MergedPositions {
    fn add_assign(&mut self, other: Self) {
        self.number += other.number;
        self.count += other.count;
    }
}

/// The side of the merged pair on which a neighbour occurs.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Side {
    #[default]
    Left,
    Right,
}

/// The changes around the positions of one merge.
#[derive(Default)]
pub(super) struct NeighbourChanges {
    /// By side and entry: the number of its change plus 1, or 0 without one.
    numbers: [Vec<u32>; 2],
    changes: Vec<NeighbourChange>,
    /// The number of the change, and the position, of each new occurrence.
    gains: Vec<(u32, u32)>,
    /// The changes of earlier sources.
    ended: usize,
    /// By change, if several sources changed: the number of the sum over sources.
    sums: Vec<u32>,
    /// By side and neighbour: the sum over sources.
    totals: Vec<GainedPair>,
}

/// The occurrences and the positions that a pair gained in all sources.
#[derive(Clone, Copy, Default)]
pub(super) struct GainedPair {
    pub(super) gained: u64,
    pub(super) remerged: u64,
    pub(super) positions: usize,
}

/// The changes of the pairs that contain one neighbour in one source, weighted by word counts.
#[derive(Clone, Copy, Default)]
pub(super) struct NeighbourChange {
    pub(super) side: Side,
    pub(super) neighbour: u32,
    pub(super) source: u32,
    /// Occurrences next to the entry of the pair on its side, which the merge has removed.
    pub(super) lost: u64,
    /// Occurrences next to the merged entry, which the merge has created.
    pub(super) gained: u64,
    /// Occurrences next to the merged entry that were merged themselves.
    pub(super) remerged: u64,
    /// The number of positions of `gained`.
    pub(super) positions: usize,
}

impl NeighbourChanges {
    /// Reserve memory for `entries` entries.
    pub(super) fn grow(&mut self, entries: usize) {
        self.numbers.iter_mut().for_each(|numbers| numbers.resize(entries, 0));
    }

    /// Record a new pair of a neighbour and the merged entry that starts at `position`.
    #[inline]
    pub(super) fn gain(&mut self, side: Side, neighbour: u32, count: u64, position: u32) {
        let number = self.number(side, neighbour);
        let change = &mut self.changes[number as usize];
        change.gained += count;
        change.positions += 1;
        self.gains.push((number, position));
    }

    /// Record that a neighbour is no longer next to the entry of the pair on its side.
    #[inline]
    pub(super) fn lose(&mut self, side: Side, neighbour: u32, count: u64) {
        let number = self.number(side, neighbour);
        self.changes[number as usize].lost += count;
    }

    /// Record that the right neighbour of a merged entry was merged itself.
    #[inline]
    pub(super) fn remerge(&mut self, neighbour: u32, count: u64) {
        let number = self.number(Side::Right, neighbour);
        self.changes[number as usize].remerged += count;
    }

    /// Return the number of entries that memory is reserved for.
    fn entries(&self) -> usize {
        self.numbers[0].len()
    }

    /// Move the changes of other positions to the end.
    fn append(&mut self, other: &mut Self) {
        let add = |change: &NeighbourChange| {
            let number = self.number(change.side, change.neighbour);
            let sum = &mut self.changes[number as usize];
            sum.lost += change.lost;
            sum.gained += change.gained;
            sum.remerged += change.remerged;
            sum.positions += change.positions;
            number
        };
        let numbers: Vec<u32> = other.changes.iter().map(add).collect();
        let gains = other.gains.iter().map(|&(number, position)| (numbers[number as usize], position));
        self.gains.extend(gains);
        other.end_source(0, true);
        other.clear();
    }

    /// Return the number of changes.
    pub(super) fn len(&self) -> usize {
        self.changes.len()
    }

    pub(super) fn change(&self, number: usize) -> NeighbourChange {
        self.changes[number]
    }

    /// Return the number of the change, and the position, of each new occurrence, in corpus order for each thread.
    pub(super) fn gains(&self) -> &[(u32, u32)] {
        &self.gains
    }

    /// End the changes of a source; without `counts`, keep their positions only.
    pub(super) fn end_source(&mut self, source: u32, counts: bool) {
        for change in &mut self.changes[self.ended..] {
            self.numbers[change.side as usize][change.neighbour as usize] = 0;
            change.source = source;
            if !counts {
                (change.lost, change.gained, change.remerged) = (0, 0, 0);
            }
        }
        self.ended = self.changes.len();
    }

    /// Add up the changes of all sources, after the last one ended.
    pub(super) fn add_up(&mut self) {
        let source = |change: Option<&NeighbourChange>| change.map(|change| change.source);
        if source(self.changes.first()) == source(self.changes.last()) {
            return;
        }
        for change in &self.changes {
            let number = &mut self.numbers[change.side as usize][change.neighbour as usize];
            if *number == 0 {
                self.totals.push(GainedPair::default());
                *number = self.totals.len() as u32;
            }
            self.totals[*number as usize - 1] += GainedPair::of(change);
            self.sums.push(*number - 1);
        }
        for change in &self.changes {
            self.numbers[change.side as usize][change.neighbour as usize] = 0;
        }
    }

    /// Return what the pair of a change gained in all sources.
    pub(super) fn total(&self, number: usize) -> GainedPair {
        match self.sums.get(number) {
            Some(&sum) => self.totals[sum as usize],
            None => GainedPair::of(&self.changes[number]),
        }
    }

    /// Remove all changes.
    pub(super) fn clear(&mut self) {
        self.changes.clear();
        self.gains.clear();
        self.sums.clear();
        self.totals.clear();
        self.ended = 0;
    }

    #[inline]
    fn number(&mut self, side: Side, neighbour: u32) -> u32 {
        let number = &mut self.numbers[side as usize][neighbour as usize];
        if *number == 0 {
            self.changes.push(NeighbourChange { side, neighbour, ..NeighbourChange::default() });
            *number = self.changes.len() as u32;
        }
        *number - 1
    }
}

impl GainedPair {
    fn of(change: &NeighbourChange) -> Self {
        Self { gained: change.gained, remerged: change.remerged, positions: change.positions }
    }
}

impl AddAssign for GainedPair {
    fn add_assign(&mut self, other: Self) {
        self.gained += other.gained;
        self.remerged += other.remerged;
        self.positions += other.positions;
    }
}
