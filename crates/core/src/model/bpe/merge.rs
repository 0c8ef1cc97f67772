//! The merges of a word, in three ways with one result: the pair of the lowest rank first, the leftmost of equal ones.
//!
//! - [`merge_by_scan`], for short words: scan for the best pair, merge it, repeat. O(n²) without the overhead of a heap.
//! - [`merge_by_heap`], for any word: a queue of pairs, in which a pair whose symbols have changed is skipped when it is
//!   popped. O(n log n).
//! - [`merge_by_rank`], for merges in order: none makes a pair of a lower rank, so that each rank is processed once, from
//!   left to right. O(n log n) for sorting the positions of a rank, most of which are in order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::merge_ranks::MergeRanks;
use super::merges::NO_RANK;
use super::symbols::{MergeLookup, Symbol, SymbolLinks};
use crate::interrupt;

/// A heap of more pairs is sorted once all sorted ones are popped.
const MAX_HEAP: usize = 64;
/// Pairs that are sorted at once.
const MAX_SORTED: usize = 1 << 20;

/// Pairs ordered by priority, then by position. The first ones, and those that pile up, are sorted at once; the others
/// are in a heap.
#[derive(Clone, Debug, Default)]
pub(super) struct MergeQueue {
    /// In order, with the priority in the high half and the position in the low half. Those before `popped` are popped.
    sorted: Vec<u64>,
    popped: usize,
    heap: BinaryHeap<Reverse<u64>>,
}

/// Merge until no pair has a merge. A merge for which `skips` returns `true` is never tried again.
pub(super) fn merge_by_heap(
    symbols: &mut Vec<Symbol>,
    pairs: &mut impl MergeLookup,
    (links, queue): (&mut SymbolLinks, &mut MergeQueue),
    mut skips: impl FnMut() -> bool,
) {
    links.chain(symbols.len());
    let ranked = (0..).zip(symbols.iter()).filter(|(_, symbol)| symbol.rank != NO_RANK);
    queue.fill(ranked.map(|(at, symbol)| entry(pairs.priority(symbol.rank), at)));
    while let Some(best) = queue.pop() {
        interrupt::check(1);
        let (priority, at) = ((best >> 32) as u32, best as u32);
        let rank = symbols[at as usize].rank;
        if rank == NO_RANK || !pairs.is_queued(rank, priority) {
            continue;
        }
        if skips() {
            symbols[at as usize].rank = NO_RANK;
            continue;
        }
        let merged = pairs.merged(rank);
        links.merge_at(at, merged, symbols, pairs, |priority, at| queue.push(entry(priority, at)));
    }
    links.keep_linked(symbols);
}

fn entry(priority: u32, at: u32) -> u64 {
    u64::from(priority) << 32 | u64::from(at)
}

impl MergeQueue {
    /// Fill the empty queue.
    fn fill(&mut self, entries: impl Iterator<Item = u64>) {
        self.sorted.clear();
        self.sorted.extend(entries);
        for run in self.sorted.chunks_mut(MAX_SORTED) {
            interrupt::check(run.len() / 8);
            run.sort_unstable();
        }
        if self.sorted.len() > MAX_SORTED {
            // This sort merges sorted runs.
            self.sorted.sort();
        }
        self.popped = 0;
    }

    #[inline]
    fn push(&mut self, entry: u64) {
        self.heap.push(Reverse(entry));
    }

    #[inline]
    fn pop(&mut self) -> Option<u64> {
        if self.popped == self.sorted.len() && self.heap.len() > MAX_HEAP {
            let mut heap = std::mem::take(&mut self.heap);
            self.fill(heap.drain().map(|Reverse(entry)| entry));
            self.heap = heap;
        }
        match (self.sorted.get(self.popped), self.heap.peek()) {
            (Some(&entry), top) if top.is_none_or(|Reverse(top)| entry <= *top) => {
                self.popped += 1;
                Some(entry)
            }
            _ => self.heap.pop().map(|Reverse(entry)| entry),
        }
    }
}

const NONE: u32 = u32::MAX;

/// The positions of the pairs of each rank.
#[derive(Clone, Debug, Default)]
pub(super) struct RankQueue {
    /// The ranks with positions.
    ranks: BinaryHeap<Reverse<u32>>,
    /// The index of the last position of each rank.
    last: Vec<u32>,
    /// A position, and the index of the previous one of the same rank.
    entries: Vec<(u32, u32)>,
    /// The positions of the current rank.
    sorted: Vec<u32>,
}

/// Merge until no pair has a rank; only for merges in order.
pub(super) fn merge_by_rank(
    symbols: &mut Vec<Symbol>,
    pairs: &mut impl MergeLookup,
    links: &mut SymbolLinks,
    (rank_queue, rank_count): (&mut RankQueue, usize),
) {
    links.chain(symbols.len());
    rank_queue.begin(rank_count);
    for (at, symbol) in (0..).zip(symbols.iter()) {
        rank_queue.add(symbol.rank, at);
    }
    while let Some((rank, sorted)) = rank_queue.take() {
        for &at in &sorted {
            interrupt::check(1);
            if symbols[at as usize].rank == rank {
                let merged = pairs.merged(rank);
                links.merge_at(at, merged, symbols, pairs, |rank, at| rank_queue.add(rank, at));
            }
        }
        rank_queue.sorted = sorted;
    }
    links.keep_linked(symbols);
}

impl RankQueue {
    fn begin(&mut self, rank_count: usize) {
        self.last.resize(rank_count, NONE);
        self.entries.clear();
    }

    #[inline]
    fn add(&mut self, rank: u32, at: u32) {
        if rank == NO_RANK {
            return;
        }
        let last = &mut self.last[rank as usize];
        if *last == NONE {
            self.ranks.push(Reverse(rank));
        }
        self.entries.push((at, *last));
        *last = self.entries.len() as u32 - 1;
    }

    /// Pop the lowest rank with its positions from left to right.
    fn take(&mut self) -> Option<(u32, Vec<u32>)> {
        let Reverse(rank) = self.ranks.pop()?;
        let mut sorted = std::mem::take(&mut self.sorted);
        sorted.clear();
        let mut entry = std::mem::replace(&mut self.last[rank as usize], NONE);
        while entry != NONE {
            let (at, before) = self.entries[entry as usize];
            sorted.push(at);
            entry = before;
        }
        sorted.reverse();
        sorted.sort_unstable();
        Some((rank, sorted))
    }
}

/// Merge until no pair has a rank.
pub(super) fn merge_by_scan(symbols: &mut Vec<Symbol>, mut pairs: &MergeRanks) {
    while let Some((at, rank)) = best(symbols) {
        let right = symbols.remove(at + 1);
        symbols[at].merge(right, pairs.merged(rank));
        symbols[at].rank = symbols.get(at + 1).map_or(NO_RANK, |next| pairs.rank(&symbols[at], next));
        if at > 0 {
            symbols[at - 1].rank = pairs.rank(&symbols[at - 1], &symbols[at]);
        }
    }
}

/// Return the position and the rank of the leftmost pair of the lowest rank.
#[inline]
fn best(symbols: &[Symbol]) -> Option<(usize, u32)> {
    let mut best = (0, NO_RANK);
    for (at, symbol) in symbols.iter().enumerate() {
        if symbol.rank < best.1 {
            best = (at, symbol.rank);
        }
    }
    Some(best).filter(|&(_, rank)| rank != NO_RANK)
}
