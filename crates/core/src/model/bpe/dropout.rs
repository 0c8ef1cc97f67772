//! BPE-dropout: each step skips every possible merge with the same probability and applies the best one that is left.
//! The word is done when all are skipped. O(n log n) for any probability.
//!
//! Provilkov, Emelianenko and Voita 2020, "BPE-Dropout: Simple and Effective Subword Regularization", algorithm 1. A
//! merge that one step skips can be applied by the next.

use super::merge_ranks::MergeRanks;
use super::merges::NO_RANK;
use super::pair_order::PairOrder;
use super::symbols::{MergeLookup, Symbol, SymbolLinks};
use crate::model::sampling::SamplingRng;

/// Merge until all pairs with a rank are skipped in one step.
pub(super) fn merge(
    symbols: &mut Vec<Symbol>,
    mut pairs: &MergeRanks,
    (links, pair_order): (&mut SymbolLinks, &mut PairOrder),
    rng: &mut SamplingRng,
) {
    links.chain(symbols.len());
    pair_order.clear(symbols.len());
    let ranked = (0..).zip(symbols.iter()).filter(|(_, symbol)| symbol.rank != NO_RANK);
    ranked.for_each(|(at, symbol)| pair_order.insert(symbol.rank, at));
    while let Some(at) = pair_order.nth(rng.skip_count()) {
        for position in links.pairs_around(at) {
            if symbols.get(position as usize).is_some_and(|symbol| symbol.rank != NO_RANK) {
                pair_order.remove(position);
            }
        }
        let merged = pairs.merged(symbols[at as usize].rank);
        links.merge_at(at, merged, symbols, &mut pairs, |rank, at| pair_order.insert(rank, at));
    }
    links.keep_linked(symbols);
}
