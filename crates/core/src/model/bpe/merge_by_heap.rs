//! The merges of any word with a queue of pairs, lowest rank first, leftmost of equal ones: O(n log n).
//!
//! A pair whose symbols have changed is skipped when it is popped.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
pub(super) fn merge(
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
