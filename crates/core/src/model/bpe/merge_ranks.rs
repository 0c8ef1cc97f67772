//! The rank of each pair of tokens that has a merge, and the token that it makes.

use std::hash::BuildHasher;

use foldhash::{HashMap, HashMapExt};

use super::merges::{MergeIds, Merges, NO_RANK};
use super::symbols::{MergeLookup, Symbol};
use crate::locks::Late;

/// All merges. The table of pairs is built at its first lookup, in a few milliseconds: backtracking needs none. Two threads
/// may both build it, as a word that needs it has no other definition.
#[derive(Clone, Debug)]
pub(super) struct MergeRanks {
    merges: Merges,
    table: Late<RankTable>,
}

/// The rank of each pair, behind a filter.
#[derive(Clone, Debug)]
struct RankTable {
    ranks: HashMap<(u32, u32), u32>,
    /// A Bloom filter with one bit a pair, which excludes most pairs without a merge.
    filter: Vec<u64>,
    /// Multiplies a pair before its highest bits select a bit of the filter (Fibonacci hashing).
    multiplier: u64,
    /// The shift from a hash to the index of a bit.
    shift: u32,
    are_in_order: bool,
}

/// The base-2 logarithm of the filter's bits for each merge, at least.
const FILTER_BITS: u32 = 3;

impl MergeRanks {
    pub(super) fn new(merges: Merges) -> Self {
        Self { merges, table: Late::unbuilt() }
    }

    #[inline]
    fn table(&self) -> &RankTable {
        self.table.get_or_make(|| RankTable::of(&self.merges))
    }

    /// Build the table.
    pub(super) fn warm_up(&self) {
        self.table();
    }

    /// Return whether no merge makes a pair that has a lower rank.
    pub(super) fn are_in_order(&self) -> bool {
        self.table().are_in_order
    }

    /// Return whether two successive pairs at one position may merge to the same token. This needs a merge that makes
    /// no token longer, because it adds nothing but the prefix.
    pub(super) fn may_repeat(&self) -> bool {
        self.merges.may_repeat
    }

    /// Return the ranks of the first merge that occurs twice.
    pub(super) fn duplicate(&self) -> Option<(usize, usize)> {
        self.merges.duplicate
    }

    /// Return the number of merges.
    pub(super) fn len(&self) -> usize {
        self.merges.list.len()
    }

    /// Return the bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        let table = self.table.get();
        size_of_val(self.merges.list.as_slice())
            + table.map_or(0, |table| {
                table.ranks.capacity() * size_of::<[u32; 3]>() + size_of_val(table.filter.as_slice())
            })
    }
}

impl MergeLookup for &MergeRanks {
    #[inline]
    fn rank(&mut self, left: &Symbol, right: &Symbol) -> u32 {
        self.table().rank(left.id, right.id)
    }

    #[inline]
    fn merged(&self, rank: u32) -> u32 {
        self.merges.list[rank as usize].merged
    }

    /// As in `tokenizers`: a pair that was queued counts as well if both merge to the same token.
    #[inline]
    fn is_queued(&self, rank: u32, priority: u32) -> bool {
        self.merged(rank) == self.merged(priority)
    }
}

impl RankTable {
    /// Build the table of all merges; of equal pairs the last one counts.
    fn of(merges: &Merges) -> Self {
        let bits = (merges.list.len() << FILTER_BITS).next_power_of_two().ilog2().max(6);
        let ranks = HashMap::with_capacity(merges.list.len());
        let multiplier = ranks.hasher().hash_one(bits) | 1;
        let (filter, shift) = (vec![0; 1 << (bits - 6)], 64 - bits);
        let mut table = Self { ranks, filter, multiplier, shift, are_in_order: false };
        for (rank, &MergeIds { left, right, .. }) in (0..).zip(&merges.list) {
            table.ranks.insert((left, right), rank);
            let (word, bit) = table.filter_bit(left, right);
            table.filter[word] |= bit;
        }
        table.are_in_order = !merges.may_repeat && table.makes_only_for_later(&merges.list);
        table
    }

    /// Return whether every merge that makes a token comes before all merges of that token.
    fn makes_only_for_later(&self, merges: &[MergeIds]) -> bool {
        let bound = merges.iter().map(|merge| merge.merged as usize + 1).max().unwrap_or(0);
        let mut last_made = vec![None; bound];
        for (rank, merge) in (0..).zip(merges) {
            last_made[merge.merged as usize] = Some(rank);
        }
        let comes_before = |id: u32, rank: u32| {
            last_made.get(id as usize).is_none_or(|made| made.is_none_or(|made| made < rank))
        };
        let mut ranks = self.ranks.iter();
        ranks.all(|(&(left, right), &rank)| comes_before(left, rank) && comes_before(right, rank))
    }

    #[inline]
    fn rank(&self, left: u32, right: u32) -> u32 {
        let (word, bit) = self.filter_bit(left, right);
        if self.filter[word] & bit == 0 {
            return NO_RANK;
        }
        self.ranks.get(&(left, right)).copied().unwrap_or(NO_RANK)
    }

    #[inline]
    fn filter_bit(&self, left: u32, right: u32) -> (usize, u64) {
        let hash = (u64::from(left) << 32 | u64::from(right)).wrapping_mul(self.multiplier);
        let at = (hash >> self.shift) as usize;
        (at / 64, 1 << (at % 64))
    }
}
