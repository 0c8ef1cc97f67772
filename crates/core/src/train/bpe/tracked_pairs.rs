//! The tracked pairs of a round: counts, and the positions where each pair occurs or occurred.
//!
//! Positions are only appended. The trainer checks them when it merges the pair.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::train::packed_words::PackedWords;

/// The tracked pairs, numbered in the order of insertion.
#[derive(Default)]
pub(super) struct TrackedPairs {
    ids: HashMap<u64, u32, FxBuildHasher>,
    tracked: Vec<TrackedPair>,
}

/// A tracked pair.
pub(super) struct TrackedPair {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) count: u64,
    positions: Vec<u32>,
    /// The pair no longer occurs at `positions[..outdated]`.
    outdated: u32,
    unsorted: bool,
}

impl TrackedPairs {
    /// The number of pairs.
    pub(super) fn len(&self) -> usize {
        self.tracked.len()
    }

    pub(super) fn get(&self, pair: u32) -> &TrackedPair {
        &self.tracked[pair as usize]
    }

    pub(super) fn get_mut(&mut self, pair: u32) -> &mut TrackedPair {
        &mut self.tracked[pair as usize]
    }

    #[inline]
    pub(super) fn find(&self, left: u32, right: u32) -> Option<u32> {
        self.ids.get(&key(left, right)).copied()
    }

    /// Insert a pair that occurs `count` times and will have `positions` positions.
    pub(super) fn track(&mut self, left: u32, right: u32, count: u64, positions: usize) -> u32 {
        let pair = self.tracked.len() as u32;
        self.ids.insert(key(left, right), pair);
        let positions = Vec::with_capacity(positions);
        self.tracked.push(TrackedPair { left, right, count, positions, outdated: 0, unsorted: false });
        pair
    }
}

impl TrackedPair {
    /// Add a position of the pair.
    #[inline]
    pub(super) fn add_position(&mut self, position: u32) {
        self.unsorted |= self.positions.last().is_some_and(|&last| last > position);
        self.positions.push(position);
    }

    /// Return a lower bound of the pair's first position, in constant time.
    pub(super) fn first_position_bound(&self) -> u32 {
        if self.unsorted {
            return 0;
        }
        self.positions.get(self.outdated as usize).copied().unwrap_or(0)
    }

    /// Return the first position where the pair occurs; skips each outdated position once.
    pub(super) fn first_position(&mut self, words: &PackedWords) -> Option<u32> {
        self.sort();
        let rest = &self.positions[self.outdated as usize..];
        let occurs = |&&position: &&u32| words.starts_pair(position, self.left, self.right);
        let outdated = rest.iter().take_while(|position| !occurs(position)).count();
        self.outdated += outdated as u32;
        rest.get(outdated).copied()
    }

    fn sort(&mut self) {
        if std::mem::take(&mut self.unsorted) {
            self.positions.drain(..self.outdated as usize);
            self.positions.sort_unstable();
            self.outdated = 0;
        }
    }

    /// Remove and return all positions, ascending, and the count: all matches are about to be merged.
    pub(super) fn take(&mut self) -> (Vec<u32>, u64) {
        self.sort();
        self.outdated = 0;
        (std::mem::take(&mut self.positions), std::mem::take(&mut self.count))
    }
}

/// Return both entries of a pair as one number.
#[inline]
pub(super) fn key(left: u32, right: u32) -> u64 {
    (u64::from(left) << 32) | u64::from(right)
}
