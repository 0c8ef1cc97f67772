//! The symbols of a word: the tokens that it consists of while it is merged, as an array and as a linked list.

use super::merges::NO_RANK;
use crate::interrupt;
use crate::model::{TokenSink, TokenSpan};

/// A token of the word while it is merged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Symbol {
    pub(super) id: u32,
    /// The rank of the merge with the next symbol, `NO_RANK` without one.
    pub(super) rank: u32,
    /// The byte span in the word.
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Symbol {
    /// Become the token that this symbol and its right neighbor merge to.
    pub(super) fn merge(&mut self, right: Self, id: u32) {
        self.id = id;
        self.start = self.start.min(right.start);
        self.end = self.end.max(right.end);
    }
}

/// Looks up the merges of adjacent symbols.
pub(super) trait MergeLookup {
    /// Return the number of the merge of two adjacent symbols, or `NO_RANK`.
    fn rank(&mut self, left: &Symbol, right: &Symbol) -> u32;

    /// Return the token that a merge makes.
    fn merged(&self, rank: u32) -> u32;

    /// Return the priority of a merge, the lowest first. It is the number unless several merges have the same.
    fn priority(&self, rank: u32) -> u32 {
        rank
    }

    /// Return whether the merge `rank` that is now at a position is the one that was queued there with `priority`.
    fn is_queued(&self, rank: u32, priority: u32) -> bool {
        self.priority(rank) == priority
    }
}

/// The symbols of a long word whose merges are looked up between two checks for an interrupt.
const CHECKED: usize = 1 << 12;

/// Look up the merges of all adjacent symbols.
pub(super) fn rank_all(symbols: &mut [Symbol], merges: &mut impl MergeLookup) {
    for right in 1..symbols.len() {
        if right % CHECKED == 0 {
            interrupt::check(CHECKED);
        }
        symbols[right - 1].rank = merges.rank(&symbols[right - 1], &symbols[right]);
    }
}

const NONE: u32 = u32::MAX;

/// The neighbors of each symbol.
#[derive(Clone, Debug, Default)]
pub(super) struct SymbolLinks {
    /// The positions of the previous and the next symbol.
    around: Vec<(u32, u32)>,
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

    /// Return the positions of the pairs that a merge at `at` changes; `u32::MAX` for a pair that does not exist.
    pub(super) fn pairs_around(&self, at: u32) -> [u32; 3] {
        let (before, gone) = self.around[at as usize];
        [before, at, gone]
    }

    /// Merge a symbol with the next one. Call `found` with the priority and the position of each new pair that has a
    /// merge.
    pub(super) fn merge_at(
        &mut self,
        at: u32,
        id: u32,
        symbols: &mut [Symbol],
        pairs: &mut impl MergeLookup,
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
                let rank = pairs.rank(&symbols[left as usize], &symbols[right as usize]);
                symbols[left as usize].rank = rank;
                if rank != NO_RANK {
                    found(pairs.priority(rank), left);
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

/// Append the symbols of a part that begins at byte `start` of its word.
pub(super) fn push_all(symbols: &[Symbol], start: usize, out: &mut impl TokenSink) {
    for symbol in symbols {
        let [from, to] = [symbol.start, symbol.end].map(|at| start as u32 + at);
        out.push(TokenSpan { id: symbol.id, start: from, end: to });
    }
}
