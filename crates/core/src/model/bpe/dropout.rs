//! BPE-dropout: at each step every merge that could be made is left out with the same probability, and the
//! best of the rest is made; when all are left out, the word is done. O(n log n) whatever the share.
//!
//! Provilkov, Emelianenko and Voita 2020, "BPE-Dropout: Simple and Effective Subword Regularization",
//! algorithm 1. A merge that was left out at one step can be made at the next.

use super::long::Links;
use super::order::Order;
use super::pairs::{Pairs, Ranks, NO_RANK};
use super::Symbol;
use crate::model::sampling::Draws;

/// Join until all pairs that have a rank are left out at once.
pub(super) fn join(
    symbols: &mut Vec<Symbol>,
    pairs: &Pairs,
    links: &mut Links,
    order: &mut Order,
    draws: &mut Draws,
) {
    links.chain(symbols.len());
    order.clear(symbols.len());
    let ranked = (0..).zip(symbols.iter()).filter(|(_, symbol)| symbol.rank != NO_RANK);
    ranked.for_each(|(at, symbol)| order.insert(symbol.rank, at));
    while let Some(at) = order.nth(draws.dropped()) {
        for place in links.pairs_around(at) {
            if symbols.get(place as usize).is_some_and(|symbol| symbol.rank != NO_RANK) {
                order.remove(place);
            }
        }
        let joined = pairs.joined(symbols[at as usize].rank);
        links.join_at(at, joined, symbols, pairs, |rank, at| order.insert(rank, at));
    }
    links.keep_linked(symbols);
}
