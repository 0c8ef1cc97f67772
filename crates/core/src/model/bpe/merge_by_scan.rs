//! The merges of a short word: scan for the best pair, merge it, repeat. O(n²) without the overhead of a heap.

use super::merge_ranks::MergeRanks;
use super::merges::NO_RANK;
use super::symbols::{MergeLookup, Symbol};

/// Merge until no pair has a rank.
pub(super) fn merge(symbols: &mut Vec<Symbol>, mut pairs: &MergeRanks) {
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
