//! The merges of any word by a heap of pairs, lowest rank first, leftmost of equals: O(n log n).
//!
//! A pair whose symbols have changed since is skipped when it comes up; it is known by joining to another
//! entry than the pair that stands there now.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::pairs::{Pairs, NO_RANK};
use super::Symbol;

const NONE: u32 = u32::MAX;

/// Memory for the neighbours of each symbol and for the heap.
#[derive(Clone, Debug, Default)]
pub(super) struct Links {
    /// The symbols to the left and to the right.
    around: Vec<(u32, u32)>,
    /// Rank in the high half, position in the low one.
    waiting: Vec<Reverse<u64>>,
}

/// Join until no pair has a rank.
pub(super) fn join(symbols: &mut Vec<Symbol>, pairs: &Pairs, links: &mut Links) {
    let Links { around, waiting } = links;
    around.clear();
    around.extend((0..symbols.len() as u32).map(|at| (at.wrapping_sub(1), at + 1)));
    if let Some(last) = around.last_mut() {
        last.1 = NONE;
    }
    let mut heap = BinaryHeap::from(std::mem::take(waiting));
    heap.extend((0..).zip(symbols.iter()).filter_map(|(at, symbol)| entry(symbol.rank, at)));
    while let Some(Reverse(entry)) = heap.pop() {
        let (rank, at) = ((entry >> 32) as u32, entry as u32);
        let now = symbols[at as usize].rank;
        if now != NO_RANK && pairs.joined(now) == pairs.joined(rank) {
            join_at(at, pairs.joined(rank), symbols, around, pairs, &mut heap);
        }
    }
    *waiting = heap.into_vec();
    keep_linked(symbols, around);
}

fn entry(rank: u32, at: u32) -> Option<Reverse<u64>> {
    (rank != NO_RANK).then_some(Reverse(u64::from(rank) << 32 | u64::from(at)))
}

/// Join a symbol with its right neighbour and rank the pairs that it makes with its new ones.
fn join_at(
    at: u32,
    id: u32,
    symbols: &mut [Symbol],
    around: &mut [(u32, u32)],
    pairs: &Pairs,
    heap: &mut BinaryHeap<Reverse<u64>>,
) {
    let (before, gone) = around[at as usize];
    let after = around[gone as usize].1;
    let right = symbols[gone as usize];
    symbols[gone as usize].rank = NO_RANK;
    symbols[at as usize].join(right, id);
    symbols[at as usize].rank = NO_RANK;
    around[at as usize].1 = after;
    if after != NONE {
        around[after as usize].0 = at;
    }
    for (left, right) in [(before, at), (at, after)] {
        if left != NONE && right != NONE {
            let rank = pairs.rank(symbols[left as usize].id, symbols[right as usize].id);
            symbols[left as usize].rank = rank;
            heap.extend(entry(rank, left));
        }
    }
}

/// Keep the symbols that the links still reach, in order.
fn keep_linked(symbols: &mut Vec<Symbol>, around: &[(u32, u32)]) {
    let (mut kept, mut at) = (0, if symbols.is_empty() { NONE } else { 0 });
    while at != NONE {
        symbols[kept] = symbols[at as usize];
        at = around[at as usize].1;
        kept += 1;
    }
    symbols.truncate(kept);
}
