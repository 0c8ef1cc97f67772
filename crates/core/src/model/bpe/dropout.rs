//! BPE-dropout: each step skips every possible merge with the same probability and applies the best one that is left.
//! The word is done when all are skipped. O(n log n) for any probability.
//!
//! Provilkov, Emelianenko and Voita 2020, "BPE-Dropout: Simple and Effective Subword Regularization", algorithm 1. A
//! merge that one step skips can be applied by the next.

use super::merge_ranks::MergeRanks;
use super::merges::NO_RANK;
use super::symbols::{MergeLookup, Symbol, SymbolLinks};
use crate::interrupt;
use crate::model::sampling::{mix64, SamplingRng};

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
        interrupt::check(1);
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

const NONE: u32 = u32::MAX;

/// The pairs of a word that have a merge, ordered by rank, the leftmost of equal ones first. Insertion, removal and
/// selection by index take O(log n).
///
/// A treap whose node numbers are the positions of the pairs (Seidel and Aragon 1996, "Randomized search trees"). The
/// heap order is that of hashed positions.
#[derive(Clone, Debug, Default)]
pub(super) struct PairOrder {
    nodes: Vec<TreapNode>,
    root: u32,
}

#[derive(Clone, Copy, Debug)]
struct TreapNode {
    rank: u32,
    /// The number of nodes of this subtree.
    size: u32,
    left: u32,
    right: u32,
}

impl PairOrder {
    /// Remove all pairs and reserve `len` positions.
    pub(super) fn clear(&mut self, len: usize) {
        self.nodes.clear();
        self.nodes.resize(len, TreapNode { rank: 0, size: 0, left: NONE, right: NONE });
        self.root = NONE;
    }

    /// Insert the pair at a position.
    pub(super) fn insert(&mut self, rank: u32, at: u32) {
        self.nodes[at as usize] = TreapNode { rank, size: 1, left: NONE, right: NONE };
        let (before, after) = self.split(self.root, (rank, at));
        let before = self.merge(before, at);
        self.root = self.merge(before, after);
    }

    /// Remove the pair at a position.
    pub(super) fn remove(&mut self, at: u32) {
        let rank = self.nodes[at as usize].rank;
        let (before, rest) = self.split(self.root, (rank, at));
        let (_, after) = self.split(rest, (rank, at + 1));
        self.root = self.merge(before, after);
    }

    /// Return the position of the pair with this index in the order.
    pub(super) fn nth(&self, number: usize) -> Option<u32> {
        if number >= self.size(self.root) as usize {
            return None;
        }
        let (mut at, mut number) = (self.root, number as u32);
        loop {
            let node = self.nodes[at as usize];
            let before = self.size(node.left);
            match number.cmp(&before) {
                std::cmp::Ordering::Less => at = node.left,
                std::cmp::Ordering::Equal => return Some(at),
                std::cmp::Ordering::Greater => {
                    number -= before + 1;
                    at = node.right;
                }
            }
        }
    }

    fn size(&self, node: u32) -> u32 {
        self.nodes.get(node as usize).map_or(0, |node| node.size)
    }

    /// Split a tree into the nodes before a key and the others.
    fn split(&mut self, tree: u32, key: (u32, u32)) -> (u32, u32) {
        if tree == NONE {
            return (NONE, NONE);
        }
        let node = self.nodes[tree as usize];
        if (node.rank, tree) < key {
            let (before, after) = self.split(node.right, key);
            self.nodes[tree as usize].right = before;
            (self.counted(tree), after)
        } else {
            let (before, after) = self.split(node.left, key);
            self.nodes[tree as usize].left = after;
            (before, self.counted(tree))
        }
    }

    /// Merge two trees, all nodes of the first before all of the second.
    fn merge(&mut self, first: u32, second: u32) -> u32 {
        if first == NONE || second == NONE {
            return first.min(second);
        }
        if mix64(u64::from(first)) > mix64(u64::from(second)) {
            let right = self.nodes[first as usize].right;
            self.nodes[first as usize].right = self.merge(right, second);
            self.counted(first)
        } else {
            let left = self.nodes[second as usize].left;
            self.nodes[second as usize].left = self.merge(first, left);
            self.counted(second)
        }
    }

    /// Update the size of a tree.
    fn counted(&mut self, tree: u32) -> u32 {
        let TreapNode { left, right, .. } = self.nodes[tree as usize];
        self.nodes[tree as usize].size = self.size(left) + self.size(right) + 1;
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn pair_order_equals_a_sorted_set(changes in prop::collection::vec((0u32..4, 0u32..20), 0..200)) {
            let (mut order, mut expected) = (PairOrder::default(), BTreeSet::new());
            order.clear(20);
            let mut ranks = [None; 20];
            for (rank, at) in changes {
                match ranks[at as usize].take() {
                    Some(rank) => {
                        order.remove(at);
                        expected.remove(&(rank, at));
                    }
                    None => {
                        order.insert(rank, at);
                        expected.insert((rank, at));
                        ranks[at as usize] = Some(rank);
                    }
                }
                let listed: Vec<u32> = (0..=20).map_while(|number| order.nth(number)).collect();
                prop_assert_eq!(listed, expected.iter().map(|&(_, at)| at).collect::<Vec<_>>());
            }
        }
    }
}
