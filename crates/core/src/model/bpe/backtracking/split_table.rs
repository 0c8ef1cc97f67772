//! The left and the right side that each token is merged from, what two tokens merge to, and which pairs are valid.
//!
//! Tokens are numbered in the order of their merges, after the first symbols.
//!
//! Two adjacent tokens are a valid pair if the segmentation of their bytes is this pair, that is, if no merge crosses
//! the boundary between them first. The symbols at the boundary are known at any time: on the left the token itself,
//! before that its right side, before that the right side of this one, and so on; on the right likewise with left
//! sides. A merge crosses the boundary if it is of two such symbols that exist at the same time and comes before the
//! merge that replaces the left one, or not after the merge that replaces the right one, since the leftmost of equal
//! merges comes first. The number of tests is at most the length of both lists.

use piecework_kernels::merges::{BytePairMap, PairMap, NUMBER_BOUND};

use super::MergeIds;
use crate::model::bpe::merge_ranks::MergeTable;

/// No number.
pub(super) const NONE: u32 = u32::MAX;

/// The bucket of a merge is prefetched this many merges ahead.
const PREFETCH_DISTANCE: usize = 16;

/// The sides of each number and the merges.
#[derive(Clone, Debug)]
pub(in crate::model) struct SplitTable {
    /// The number of first symbols; their numbers are below.
    symbols: u32,
    /// The sides of each number.
    lefts: Vec<u32>,
    rights: Vec<u32>,
    merges: MergeTable,
}

impl SplitTable {
    /// Return a table of symbols, numbered from 0, with capacity for `max_merges` merges.
    pub(in crate::model) fn with_symbols(symbols: usize, max_merges: usize) -> Self {
        Self {
            symbols: symbols as u32,
            lefts: vec![0; symbols],
            rights: vec![0; symbols],
            merges: MergeTable::with_capacity(max_merges),
        }
    }

    /// Number the first symbols, then the tokens that merges make, by rank. Also return the id of each number;
    /// `None` if there are too many, if a merge occurs twice, if a merge may need a token that only a later one
    /// makes, or if the pairs fill long runs of the hash table by every seed. All ids are below `id_bound`.
    ///
    /// If several merges make a token, the first one that can be applied counts: where the sides of another are
    /// adjacent, the sides of the first one were adjacent before. So a merge that needs the token of a later merge
    /// has no effect if its own token has another split: then its sides are never adjacent.
    pub(super) fn number(
        symbols: &[u32],
        merges: &[MergeIds],
        id_bound: usize,
    ) -> Option<(Self, Vec<u32>)> {
        // Every merge makes a token, and only the first merge of a token counts.
        let max_merges = merges.len().min(id_bound);
        if symbols.len() + max_merges >= NUMBER_BOUND as usize {
            return None;
        }
        let mut numbers = vec![NONE; id_bound];
        (0..).zip(symbols).for_each(|(number, &symbol)| numbers[symbol as usize] = number);
        let mut split_table = Self::with_symbols(symbols.len(), max_merges);
        let mut entries = symbols.to_vec();
        let mut skipped = Vec::new();
        for (at, merge) in merges.iter().enumerate() {
            if let Some([left, right, _]) =
                merges.get(at + PREFETCH_DISTANCE).map(|later| later.numbers(&numbers))
            {
                split_table.merges.prefetch(left, right);
            }
            let [left, right, merged] = merge.numbers(&numbers);
            if left == NONE || right == NONE {
                skipped.push(merge);
            } else if split_table.has_split(merged, left, right) {
                return None;
            } else if merged == NONE && split_table.is_valid_token_pair(left, right) {
                numbers[merge.merged as usize] = split_table.merge(left, right, (symbols, merges))?;
                entries.push(merge.merged);
            }
        }
        let never_apply = skipped.iter().all(|merge| split_table.never_applies(merge.numbers(&numbers)));
        never_apply.then_some((split_table, entries))
    }

    /// Return whether a merge that needs tokens of later merges is never applied: one side is never made, the token has
    /// other sides, or another merge crosses the boundary between its sides.
    fn never_applies(&self, [left, right, merged]: [u32; 3]) -> bool {
        match merged {
            _ if left == NONE || right == NONE => true,
            NONE => !self.is_valid_token_pair(left, right),
            _ => !self.has_split(merged, left, right),
        }
    }

    /// Return whether a token has a number and these sides.
    fn has_split(&self, number: u32, left: u32, right: u32) -> bool {
        let at = number as usize;
        number != NONE && number >= self.symbols && (self.lefts[at], self.rights[at]) == (left, right)
    }

    /// Add a merge of two tokens that are a valid pair so far; return the number of the merged token. `rules` are all
    /// symbols and merges, which determine all numbers. `None` if the hash table has a long run by every seed.
    pub(in crate::model) fn merge(
        &mut self,
        left: u32,
        right: u32,
        rules: (&[u32], &[MergeIds]),
    ) -> Option<u32> {
        let merged = self.lefts.len() as u32;
        self.lefts.push(left);
        self.rights.push(right);
        let is_spread = self.merges.insert(left, right, merged) || self.merges.spread_again(rules);
        is_spread.then_some(merged)
    }

    /// Return the sides of each merged token, by number.
    pub(super) fn splits(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.lefts.iter().copied().zip(self.rights.iter().copied()).skip(self.symbols as usize)
    }

    /// Return the number of numbers.
    pub(super) fn numbers(&self) -> usize {
        self.lefts.len()
    }

    /// Return the number that two tokens merge to, or `NONE`.
    #[inline]
    pub(super) fn merged(&self, left: u32, right: u32) -> u32 {
        self.merges.get(left, right)
    }

    /// Return the number of first symbols.
    pub(super) fn symbols(&self) -> u32 {
        self.symbols
    }

    /// Return the pairs of bytes that merge, if the first symbols are bytes.
    pub(in crate::model) fn byte_pairs(&self) -> BytePairMap {
        let byte = |number: u32| u8::try_from(number).ok().filter(|_| number < self.symbols);
        let merged = (self.symbols..).zip(self.splits());
        BytePairMap::of(
            merged.filter_map(|(merged, (left, right))| Some((byte(left)?, byte(right)?, merged))),
        )
    }

    /// Return the merge table without its filter.
    pub(super) fn pairs(&self) -> &PairMap {
        self.merges.pairs()
    }

    /// Return the same, by value.
    pub(in crate::model) fn into_pairs(self) -> PairMap {
        self.merges.into_pairs()
    }

    /// Return whether no merge crosses the boundary between two tokens.
    #[inline]
    pub(in crate::model) fn is_valid_token_pair(&self, mut left: u32, mut right: u32) -> bool {
        let mut limit = NONE;
        loop {
            if self.merged(left, right) < limit {
                return false;
            }
            if left.max(right) < self.symbols {
                return true;
            }
            if left > right {
                limit = left;
                left = self.rights[left as usize];
            } else {
                limit = right + 1;
                right = self.lefts[right as usize];
            }
        }
    }

    /// Return the bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.lefts.as_slice()) + size_of_val(self.rights.as_slice()) + self.merges.bytes()
    }
}

impl MergeIds {
    /// Return the numbers of both sides and of the merged token.
    fn numbers(&self, numbers: &[u32]) -> [u32; 3] {
        [self.left, self.right, self.merged].map(|entry| numbers[entry as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Merges of two symbols each whose pairs fill the buckets of a table in a row.
    fn merges_in_a_row(symbols: u32, count: usize) -> Vec<MergeIds> {
        let map = PairMap::with_capacity(count);
        let mut free = vec![4; count / 4];
        let all = (0..symbols).flat_map(|left| (0..symbols).map(move |right| (left, right)));
        let fits = |&(left, right): &(u32, u32)| {
            let free = free.get_mut(map.prefetch(left, right)).filter(|free| **free > 0);
            free.map(|free| *free -= 1).is_some()
        };
        let chosen: Vec<(u32, u32)> = all.filter(fits).collect();
        assert_eq!(chosen.len(), count);
        chosen
            .iter()
            .zip(symbols..)
            .map(|(&(left, right), merged)| MergeIds { left, right, merged })
            .collect()
    }

    #[test]
    fn merges_chosen_for_long_runs_are_found_by_a_seed_of_all_merges() {
        let (symbols, merges) = ((0..1000).collect::<Vec<u32>>(), merges_in_a_row(1000, 4000));
        let number = || SplitTable::number(&symbols, &merges, symbols.len() + merges.len()).unwrap().0;
        let (table, again) = (number(), number());
        let hash = |table: &SplitTable| table.pairs().hash(1, 2);
        assert_eq!(hash(&table), hash(&again));
        assert_ne!(hash(&table), PairMap::with_capacity(merges.len()).hash(1, 2));
        assert!(merges.iter().all(|merge| table.merged(merge.left, merge.right) == merge.merged));
        let absent = |left: u32| (1000..2000).map(move |right| (left, right));
        let absent: Vec<(u32, u32)> = (0..100).flat_map(absent).collect();
        assert!(absent.iter().all(|&(left, right)| table.merged(left, right) == NONE));
        let in_filter = absent.iter().filter(|&&(left, right)| table.merges.may_have(left, right));
        assert!(in_filter.count() < absent.len() / 10);
    }
}
