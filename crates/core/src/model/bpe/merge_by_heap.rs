//! The merges of any word with a heap of pairs, lowest rank first, leftmost of equal ones: O(n log n).
//!
//! A pair whose symbols have changed is skipped when it is popped: its merge makes another token than the merge of
//! the pair that is now at its position.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::merge_ranks::RankLookup;
use super::merges::NO_RANK;
use super::symbol::Symbol;

const NONE: u32 = u32::MAX;

/// The neighbors of each symbol, and the memory of the heap.
#[derive(Clone, Debug, Default)]
pub(super) struct SymbolLinks {
    /// The positions of the previous and the next symbol.
    around: Vec<(u32, u32)>,
    /// The rank in the high half, the position in the low half.
    heap_buffer: Vec<Reverse<u64>>,
}

/// Merge until no pair has a rank.
pub(super) fn merge(symbols: &mut Vec<Symbol>, pairs: &impl RankLookup, links: &mut SymbolLinks) {
    links.chain(symbols.len());
    let mut heap = BinaryHeap::from(std::mem::take(&mut links.heap_buffer));
    let ranked = (0..).zip(symbols.iter()).filter(|(_, symbol)| symbol.rank != NO_RANK);
    heap.extend(ranked.map(|(at, symbol)| entry(symbol.rank, at)));
    while let Some(Reverse(entry_of_best)) = heap.pop() {
        let (rank, at) = ((entry_of_best >> 32) as u32, entry_of_best as u32);
        let now = symbols[at as usize].rank;
        if now != NO_RANK && pairs.merged(now) == pairs.merged(rank) {
            links.merge_at(at, pairs.merged(rank), symbols, pairs, |rank, at| heap.push(entry(rank, at)));
        }
    }
    links.heap_buffer = heap.into_vec();
    links.keep_linked(symbols);
}

fn entry(rank: u32, at: u32) -> Reverse<u64> {
    Reverse(u64::from(rank) << 32 | u64::from(at))
}

impl SymbolLinks {
    /// Link `len` adjacent symbols.
    pub(super) fn chain(&mut self, len: usize) {
        self.around.clear();
        self.around.extend((0..len as u32).map(|at| (at.wrapping_sub(1), at + 1)));
        if let Some(last) = self.around.last_mut() {
            last.1 = NONE;
        }
    }

    /// The positions of the pairs that a merge at `at` changes; `u32::MAX` for a pair that does not exist.
    pub(super) fn pairs_around(&self, at: u32) -> [u32; 3] {
        let (before, gone) = self.around[at as usize];
        [before, at, gone]
    }

    /// Merge a symbol with the next one. Calls `found` with the rank and the position of each new pair that has a
    /// rank.
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

    /// Keep the symbols that are still linked, in order.
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
