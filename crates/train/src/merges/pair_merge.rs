//! The merge of a pair at all of its positions.
//!
//! Positions are far apart in a large corpus, so each of them waits for memory: for its cells, for the number of
//! its word and for the count of that word. These are prefetched for many positions together.

use std::ops::AddAssign;

use super::neighbour_changes::{NeighbourChanges, Side};
use super::packed_words::PackedWords;
use crate::progress::Progress;
use piecework_core::error::Error;

/// The positions whose counts are read before the pair is merged there.
const SEGMENT: usize = 64;
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
    /// Merge the pair at those of the ascending `positions` where it still occurs; records the changes around
    /// them.
    pub(super) fn apply(
        self,
        words: &mut PackedWords,
        positions: &[u32],
        changes: &mut NeighbourChanges,
        progress: &mut Progress<'_>,
    ) -> Result<MergedPositions, Error> {
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
            progress.advance(WORK * segment.len())?;
        }
        Ok(merged)
    }

    /// Merge the pair at one position, in a word that occurs `count` times.
    #[inline]
    fn apply_at(self, words: &mut PackedWords, position: u32, count: u64, changes: &mut NeighbourChanges) {
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
