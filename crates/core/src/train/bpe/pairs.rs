//! The pairs that are followed: counts, and the positions where each occurs or once occurred.
//!
//! Positions are only appended; whether a pair still stands there is checked when it is merged.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// The pairs of a round, numbered as they came.
#[derive(Default)]
pub(super) struct Pairs {
    ids: HashMap<u64, u32, FxBuildHasher>,
    followed: Vec<Followed>,
}

/// A pair that is followed.
pub(super) struct Followed {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) count: u64,
    places: Vec<u32>,
    unsorted: bool,
}

impl Pairs {
    pub(super) fn get(&self, pair: u32) -> &Followed {
        &self.followed[pair as usize]
    }

    pub(super) fn get_mut(&mut self, pair: u32) -> &mut Followed {
        &mut self.followed[pair as usize]
    }

    #[inline]
    pub(super) fn find(&self, left: u32, right: u32) -> Option<u32> {
        self.ids.get(&key(left, right)).copied()
    }

    /// Begin to follow a pair that occurs `count` times in `places` places.
    pub(super) fn follow(&mut self, left: u32, right: u32, count: u64, places: usize) -> u32 {
        let pair = self.followed.len() as u32;
        self.ids.insert(key(left, right), pair);
        let places = Vec::with_capacity(places);
        self.followed.push(Followed { left, right, count, places, unsorted: false });
        pair
    }
}

impl Followed {
    /// Note that the pair stands at `position`.
    #[inline]
    pub(super) fn note(&mut self, position: u32) {
        self.unsorted |= self.places.last().is_some_and(|&last| last > position);
        self.places.push(position);
    }

    /// Take all positions, ascending, and the count: every match is about to be merged.
    pub(super) fn take(&mut self) -> (Vec<u32>, u64) {
        if std::mem::take(&mut self.unsorted) {
            self.places.sort_unstable();
        }
        (std::mem::take(&mut self.places), std::mem::take(&mut self.count))
    }
}

/// Both entries of a pair in one number.
#[inline]
pub(super) fn key(left: u32, right: u32) -> u64 {
    (u64::from(left) << 32) | u64::from(right)
}
