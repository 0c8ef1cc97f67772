//! The table of tracked pairs: counts, and the positions where each pair occurs or occurred.
//!
//! Positions are only appended. Callers check them against the words before use.

use std::sync::{Mutex, PoisonError};

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::frequent_pairs::{key, parts, recent_slot, CountsByPair, RECENT};
use super::packed_words::{PackedWords, PART_CELLS};
use crate::memory::{out_of_memory, reserve};
use crate::thread_team::{threads_within, ThreadTeam};
use piecework_core::error::Error;

/// Counts and occurrences by pair number.
#[derive(Default)]
pub(super) struct PairTable {
    ids: HashMap<u64, u32, RandomState>,
    parts: Vec<(u32, u32)>,
    counts: Vec<u64>,
    occurrences: Vec<Occurrences>,
    /// The positions of all pairs, outdated ones included.
    stored: usize,
}

#[derive(Default)]
struct Occurrences {
    positions: Vec<u32>,
    /// The pair no longer occurs at `positions[..head]`.
    head: u32,
    unsorted: bool,
}

impl PairTable {
    /// Track the counted pairs with all of their positions.
    pub(super) fn of(
        counted: Vec<CountsByPair>,
        words: &PackedWords,
        team: &mut ThreadTeam<'_, '_>,
    ) -> Result<Self, Error> {
        let mut table = Self::default();
        let pairs = counted.iter().map(HashMap::len).sum();
        table.reserve(pairs)?;
        let bytes = pairs * size_of::<Vec<u32>>();
        let threads = threads_within(team.threads(), bytes, words.len() * size_of::<u32>());
        let mut lists = vec![Vec::with_capacity(pairs); threads];
        for (pair, found) in counted.into_iter().flatten() {
            table.insert(parts(pair), found.count, 0)?;
            for lists in &mut lists {
                let mut positions = Vec::new();
                reserve(&mut positions, found.positions / threads)?;
                lists.push(positions);
            }
        }
        let lists = Mutex::new(lists);
        let recent = vec![(u64::MAX, None); RECENT];
        let next = || {
            let lists = lists.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
            (lists, recent.clone())
        };
        let mut team = team.of_at_most(threads);
        let found = team.run_parts(words.len(), PART_CELLS, next, |(lists, recent), _, cells| {
            words.visit_pairs(cells, |left, right, position, _| {
                let known = &mut recent[recent_slot(key(left, right))];
                if known.0 != key(left, right) {
                    *known = (key(left, right), table.find(left, right));
                }
                if let Some(pair) = known.1 {
                    lists[pair as usize].push(position);
                }
            });
        })?;
        for (lists, _) in found {
            for (occurrences, positions) in table.occurrences.iter_mut().zip(lists) {
                table.stored += positions.len();
                occurrences.append(positions);
            }
        }
        Ok(table)
    }

    /// Return the number of pairs.
    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Return the number of positions of all pairs, outdated ones included.
    pub(super) fn stored_positions(&self) -> usize {
        self.stored
    }

    /// Return the left and the right entry of a pair.
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

    /// Reserve memory for exactly `pairs` more pairs.
    fn reserve(&mut self, pairs: usize) -> Result<(), Error> {
        self.ids
            .try_reserve(pairs)
            .map_err(|_| out_of_memory(pairs.saturating_mul(2 * size_of::<(u64, u32)>())))?;
        reserve(&mut self.parts, pairs)?;
        reserve(&mut self.counts, pairs)?;
        reserve(&mut self.occurrences, pairs)
    }

    /// Insert a pair that is not in the table and will get `positions` positions.
    pub(super) fn insert(
        &mut self,
        (left, right): (u32, u32),
        count: u64,
        positions: usize,
    ) -> Result<u32, Error> {
        let pair = self.parts.len() as u32;
        let mut occurrences = Occurrences::default();
        reserve(&mut occurrences.positions, positions)?;
        self.ids.insert(key(left, right), pair);
        self.parts.push((left, right));
        self.counts.push(count);
        self.occurrences.push(occurrences);
        Ok(pair)
    }

    /// Add a position of a pair, whose count the caller updates.
    #[inline]
    pub(super) fn add_position(&mut self, pair: u32, position: u32) {
        let occurrences = &mut self.occurrences[pair as usize];
        occurrences.unsorted |= occurrences.positions.last().is_some_and(|&last| last > position);
        occurrences.positions.push(position);
        self.stored += 1;
    }

    /// Remove and return the positions of a pair, ascending; the pair may no longer occur at some of them.
    pub(super) fn take_positions(&mut self, pair: u32) -> Vec<u32> {
        let occurrences = &mut self.occurrences[pair as usize];
        occurrences.sort();
        self.stored = self.stored.saturating_sub(occurrences.positions.len());
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

    /// Return the first position where the pair occurs; skip each outdated position once.
    pub(super) fn first_position(&mut self, pair: u32, words: &PackedWords) -> Option<u32> {
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
    pub(super) fn count_non_overlapping(&mut self, pair: u32, words: &PackedWords) -> u64 {
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
    /// Append the ascending positions that a thread found.
    fn append(&mut self, mut positions: Vec<u32>) {
        let last = self.positions.last();
        self.unsorted |= last.zip(positions.first()).is_some_and(|(last, first)| last > first);
        if self.positions.is_empty() {
            self.positions = positions;
        } else {
            self.positions.append(&mut positions);
        }
    }

    /// Sort the positions, which are a few ascending runs.
    fn sort(&mut self) {
        if self.unsorted {
            self.positions.drain(..self.head as usize);
            self.positions.sort();
            (self.head, self.unsorted) = (0, false);
        }
    }
}
