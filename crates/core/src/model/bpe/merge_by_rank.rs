//! The merges of any word, rank by rank, for merges in order: none makes a pair of a lower rank, so that each rank is
//! processed once, from left to right. O(n log n) for sorting the positions of a rank, most of which are in order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::merges::NO_RANK;
use super::symbols::{MergeLookup, Symbol, SymbolLinks};
use crate::interrupt;

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
pub(super) fn merge(
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
