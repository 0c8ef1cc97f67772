//! The merges of any word by a heap of pairs, lowest rank first, leftmost of equals: O(n log n).
//!
//! A pair whose symbols have changed since is skipped when it comes up; it is known by joining to another
//! entry than the pair that stands there now.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::merge_ranks::{RankLookup, NO_RANK};
use super::Symbol;

const NONE: u32 = u32::MAX;

/// Memory for the neighbours of each symbol and for the heap.
#[derive(Clone, Debug, Default)]
pub(super) struct SymbolLinks {
    /// The symbols to the left and to the right.
    around: Vec<(u32, u32)>,
    /// Rank in the high half, position in the low one.
    waiting: Vec<Reverse<u64>>,
}

/// Join until no pair has a rank.
pub(super) fn merge(symbols: &mut Vec<Symbol>, pairs: &impl RankLookup, links: &mut SymbolLinks) {
    links.chain(symbols.len());
    let mut heap = BinaryHeap::from(std::mem::take(&mut links.waiting));
    let ranked = (0..).zip(symbols.iter()).filter(|(_, symbol)| symbol.rank != NO_RANK);
    heap.extend(ranked.map(|(at, symbol)| entry(symbol.rank, at)));
    while let Some(Reverse(entry_of_best)) = heap.pop() {
        let (rank, at) = ((entry_of_best >> 32) as u32, entry_of_best as u32);
        let now = symbols[at as usize].rank;
        if now != NO_RANK && pairs.merged(now) == pairs.merged(rank) {
            links.merge_at(at, pairs.merged(rank), symbols, pairs, |rank, at| heap.push(entry(rank, at)));
        }
    }
    links.waiting = heap.into_vec();
    links.keep_linked(symbols);
}

fn entry(rank: u32, at: u32) -> Reverse<u64> {
    Reverse(u64::from(rank) << 32 | u64::from(at))
}

impl SymbolLinks {
    /// Link `len` symbols in a row.
    pub(super) fn chain(&mut self, len: usize) {
        self.around.clear();
        self.around.extend((0..len as u32).map(|at| (at.wrapping_sub(1), at + 1)));
        if let Some(last) = self.around.last_mut() {
            last.1 = NONE;
        }
    }

    /// The positions of the pairs that a join at `at` changes; `u32::MAX` for one that is not there.
    pub(super) fn pairs_around(&self, at: u32) -> [u32; 3] {
        let (before, gone) = self.around[at as usize];
        [before, at, gone]
    }

    /// Join a symbol with its right neighbour; gives `found` the rank and position of each pair that it
    /// makes with its new ones, where that has a rank.
    pub(super) fn merge_at(
        &mut self,
        at: u32,
        id: u32,
        symbols: &mut [Symbol],
        pairs: &impl RankLookup,
        mut found: impl FnMut(u32, u32),
    ) {
        let (before, gone) = self.around[at as usize];
        let after = self.around[gone as usize].1;
        let right = symbols[gone as usize];
        symbols[gone as usize].rank = NO_RANK;
        symbols[at as usize].merge(right, id);
        symbols[at as usize].rank = NO_RANK;
        self.around[at as usize].1 = after;
        if after != NONE {
            self.around[after as usize].0 = at;
        }
        for (left, right) in [(before, at), (at, after)] {
            if left != NONE && right != NONE {
                let rank = pairs.rank(symbols[left as usize].id, symbols[right as usize].id);
                symbols[left as usize].rank = rank;
                if rank != NO_RANK {
                    found(rank, left);
                }
            }
        }
    }

    /// Keep the symbols that the links still reach, in order.
    pub(super) fn keep_linked(&self, symbols: &mut Vec<Symbol>) {
        let (mut kept, mut at) = (0, if symbols.is_empty() { NONE } else { 0 });
        while at != NONE {
            symbols[kept] = symbols[at as usize];
            at = self.around[at as usize].1;
            kept += 1;
        }
        symbols.truncate(kept);
    }
}
