//! The tracked pairs of a round: counts, and the positions where each pair occurs or occurred.
//!
//! Positions are only appended. The trainer checks them when it merges the pair.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

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
    unsorted: bool,
}

impl TrackedPairs {
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
        self.tracked.push(TrackedPair { left, right, count, positions, unsorted: false });
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

    /// Remove and return all positions, ascending, and the count: all matches are about to be merged.
    pub(super) fn take(&mut self) -> (Vec<u32>, u64) {
        if std::mem::take(&mut self.unsorted) {
            self.positions.sort_unstable();
        }
        (std::mem::take(&mut self.positions), std::mem::take(&mut self.count))
    }
}

/// Return both entries of a pair as one number.
#[inline]
pub(super) fn key(left: u32, right: u32) -> u64 {
    (u64::from(left) << 32) | u64::from(right)
}
