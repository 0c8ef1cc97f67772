//! The table of adjacent pairs: counts, and the positions where each pair occurs or once occurred.
//!
//! Positions are only appended; whether a pair still stands there is checked against the corpus when it
//! matters. Pairs are numbered in the order in which they were first seen and are never forgotten.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::segmented_words::SegmentedWords;

/// Counts and occurrences by pair number.
#[derive(Default)]
pub(super) struct PairTable {
    ids: HashMap<u64, u32, FxBuildHasher>,
    parts: Vec<(u32, u32)>,
    counts: Vec<u64>,
    occurrences: Vec<Occurrences>,
}

#[derive(Default)]
struct Occurrences {
    positions: Vec<u32>,
    /// Positions before this one have been found to be gone.
    head: u32,
    unsorted: bool,
}

impl PairTable {
    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Left and right entry of a pair.
    #[inline]
    pub(super) fn parts(&self, pair: u32) -> (u32, u32) {
        self.parts[pair as usize]
    }

    #[inline]
    pub(super) fn count(&self, pair: u32) -> u64 {
        self.counts[pair as usize]
    }

    #[inline]
    pub(super) fn count_mut(&mut self, pair: u32) -> &mut u64 {
        &mut self.counts[pair as usize]
    }

    #[inline]
    pub(super) fn find(&self, left: u32, right: u32) -> Option<u32> {
        self.ids.get(&key(left, right)).copied()
    }

    /// Note that the pair stands at `position`; returns its number.
    #[inline]
    pub(super) fn add_occurrence(&mut self, left: u32, right: u32, position: u32) -> u32 {
        let next = self.parts.len() as u32;
        let pair = *self.ids.entry(key(left, right)).or_insert(next);
        if pair == next {
            self.parts.push((left, right));
            self.counts.push(0);
            self.occurrences.push(Occurrences::default());
        }
        let occurrences = &mut self.occurrences[pair as usize];
        occurrences.unsorted |= occurrences.positions.last().is_some_and(|&last| last > position);
        occurrences.positions.push(position);
        pair
    }

    /// Take the positions of a pair, ascending; some may be gone.
    pub(super) fn take_positions(&mut self, pair: u32) -> Vec<u32> {
        let occurrences = &mut self.occurrences[pair as usize];
        occurrences.sort();
        std::mem::take(occurrences).positions
    }

    /// Give a position not after the first one where the pair still stands, without looking.
    #[inline]
    pub(super) fn first_position_bound(&self, pair: u32) -> u32 {
        let occurrences = &self.occurrences[pair as usize];
        if occurrences.unsorted {
            return 0;
        }
        occurrences.positions.get(occurrences.head as usize).copied().unwrap_or(0)
    }

    /// Find the first position where the pair still stands; each gone position is passed over once.
    pub(super) fn first_position(&mut self, pair: u32, corpus: &SegmentedWords) -> Option<u32> {
        let (left, right) = self.parts(pair);
        let occurrences = &mut self.occurrences[pair as usize];
        occurrences.sort();
        let rest = &occurrences.positions[occurrences.head as usize..];
        let gone = rest.iter().take_while(|&&position| !corpus.starts_pair(position, left, right)).count();
        occurrences.head += gone as u32;
        rest.get(gone).copied()
    }

    /// Count the matches of `entry` followed by itself that do not overlap, left to right.
    pub(super) fn count_non_overlapping(&mut self, pair: u32, corpus: &SegmentedWords) -> u64 {
        let (entry, _) = self.parts(pair);
        let occurrences = &mut self.occurrences[pair as usize];
        occurrences.sort();
        let (mut sum, mut free_from) = (0, 0);
        for &position in &occurrences.positions {
            if position >= free_from && corpus.starts_pair(position, entry, entry) {
                sum += corpus.count_at(position);
                free_from = corpus.next(corpus.next(position));
            }
        }
        sum
    }
}

impl Occurrences {
    fn sort(&mut self) {
        if self.unsorted {
            self.positions.drain(..self.head as usize);
            self.positions.sort_unstable();
            (self.head, self.unsorted) = (0, false);
        }
    }
}

fn key(left: u32, right: u32) -> u64 {
    (u64::from(left) << 32) | u64::from(right)
}
