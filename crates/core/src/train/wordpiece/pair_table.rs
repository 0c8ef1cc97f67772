//! The table of adjacent pairs: counts, and the positions where each pair occurs or occurred.
//!
//! Positions are only appended. Callers check them against the segmented words before use. Pairs are
//! numbered by first occurrence and never removed.

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
    /// The pair no longer occurs at `positions[..head]`.
    head: u32,
    unsorted: bool,
}

impl PairTable {
    /// The number of pairs.
    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// The left and the right entry of a pair.
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

    /// Add a position of a pair, whose count the caller updates; returns the number of the pair.
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

    /// Remove and return the positions of a pair, ascending; the pair may no longer occur at some of them.
    pub(super) fn take_positions(&mut self, pair: u32) -> Vec<u32> {
        let occurrences = &mut self.occurrences[pair as usize];
        occurrences.sort();
        std::mem::take(occurrences).positions
    }

    /// Return a lower bound of the pair's first position, in constant time.
    #[inline]
    pub(super) fn first_position_bound(&self, pair: u32) -> u32 {
        let occurrences = &self.occurrences[pair as usize];
        if occurrences.unsorted {
            return 0;
        }
        occurrences.positions.get(occurrences.head as usize).copied().unwrap_or(0)
    }

    /// Return the first position where the pair occurs; skips each outdated position once.
    pub(super) fn first_position(&mut self, pair: u32, words: &SegmentedWords) -> Option<u32> {
        let (left, right) = self.parts(pair);
        let occurrences = &mut self.occurrences[pair as usize];
        occurrences.sort();
        let rest = &occurrences.positions[occurrences.head as usize..];
        let outdated =
            rest.iter().take_while(|&&position| !words.starts_pair(position, left, right)).count();
        occurrences.head += outdated as u32;
        rest.get(outdated).copied()
    }

    /// Count the non-overlapping matches of a doubled pair, left to right.
    pub(super) fn count_non_overlapping(&mut self, pair: u32, words: &SegmentedWords) -> u64 {
        let (entry, _) = self.parts(pair);
        let occurrences = &mut self.occurrences[pair as usize];
        occurrences.sort();
        let (mut sum, mut free_from) = (0, 0);
        for &position in &occurrences.positions {
            if position >= free_from && words.starts_pair(position, entry, entry) {
                sum += words.count_at(position);
                free_from = words.next(words.next(position));
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
