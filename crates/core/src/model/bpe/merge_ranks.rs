//! The rank of each pair of tokens that has a merge, and the token that it makes.

use std::cmp::Reverse;

use piecework_kernels::level::prefetch_read;
use piecework_kernels::merges::{PairMap, NUMBER_BOUND};

use super::merges::{MergeIds, Merges, NO_RANK};
use super::symbols::{MergeLookup, Symbol};
use crate::hash_runs::seeds_of;
use crate::locks::Late;

/// All merges. The table of pairs is built at its first lookup, in a few milliseconds: backtracking needs none. Two threads
/// may both build it, as a word that needs it has no other definition.
#[derive(Clone, Debug)]
pub(super) struct MergeRanks {
    merges: Merges,
    /// The ids of the vocabulary are below.
    id_bound: usize,
    table: Late<RankTable>,
}

/// The rank of each pair.
#[derive(Clone, Debug)]
struct RankTable {
    ranks: PairRanks,
    are_in_order: bool,
}

#[derive(Clone, Debug)]
enum PairRanks {
    Hashed(MergeTable),
    /// Sorted by pair, where an id or a rank has too many bits for the hash table, or every seed makes a long run.
    Sorted(Vec<((u32, u32), u32)>),
}

impl MergeRanks {
    pub(super) fn new(merges: Merges, id_bound: usize) -> Self {
        Self { merges, id_bound, table: Late::unbuilt() }
    }

    #[inline]
    fn table(&self) -> &RankTable {
        self.table.get_or_make(|| RankTable::of(&self.merges, self.id_bound))
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
        size_of_val(self.merges.list.as_slice()) + self.table.get().map_or(0, |table| table.ranks.bytes())
    }
}

impl MergeLookup for &MergeRanks {
    #[inline]
    fn rank(&mut self, left: &Symbol, right: &Symbol) -> u32 {
        self.table().ranks.get(left.id, right.id)
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
    /// Build the table of all merges; of equal pairs the last one counts. All ids are below `id_bound`.
    fn of(merges: &Merges, id_bound: usize) -> Self {
        let fits = id_bound.max(merges.list.len()) < NUMBER_BOUND as usize;
        let hashed = if fits { MergeTable::of_ranks(&merges.list) } else { None };
        let ranks = hashed.map_or_else(|| PairRanks::sorted(&merges.list), PairRanks::Hashed);
        let are_in_order = !merges.may_repeat && ranks.make_only_for_later(&merges.list);
        Self { ranks, are_in_order }
    }
}

impl PairRanks {
    fn sorted(merges: &[MergeIds]) -> Self {
        let ranked = merges.iter().zip(0..);
        let mut ranks: Vec<_> = ranked.map(|(merge, rank)| ((merge.left, merge.right), rank)).collect();
        ranks.sort_unstable_by_key(|&(pair, rank)| (pair, Reverse(rank)));
        ranks.dedup_by_key(|&mut (pair, _)| pair);
        Self::Sorted(ranks)
    }

    /// Return the rank of a pair, or `NO_RANK`.
    #[inline]
    fn get(&self, left: u32, right: u32) -> u32 {
        match self {
            Self::Hashed(table) => table.get(left, right),
            Self::Sorted(ranks) => {
                let found = ranks.binary_search_by_key(&(left, right), |&(pair, _)| pair);
                found.map_or(NO_RANK, |at| ranks[at].1)
            }
        }
    }

    /// Return whether every merge that makes a token comes before all merges of that token.
    fn make_only_for_later(&self, merges: &[MergeIds]) -> bool {
        let bound = merges.iter().map(|merge| merge.merged as usize + 1).max().unwrap_or(0);
        let mut last_made = vec![None; bound];
        for (rank, merge) in (0..).zip(merges) {
            last_made[merge.merged as usize] = Some(rank);
        }
        let comes_before = |id: u32, rank: u32| {
            last_made.get(id as usize).is_none_or(|made| made.is_none_or(|made| made < rank))
        };
        (0..).zip(merges).all(|(rank, &MergeIds { left, right, .. })| {
            comes_before(left, rank) && comes_before(right, rank) || self.get(left, right) != rank
        })
    }

    /// Return the bytes of memory.
    fn bytes(&self) -> usize {
        match self {
            Self::Hashed(table) => table.bytes(),
            Self::Sorted(ranks) => size_of_val(ranks.as_slice()),
        }
    }
}

/// The base-2 logarithm of the filter's bits for each pair, at least.
const FILTER_BITS: u32 = 3;

/// A number for each pair of tokens that has a merge, in a hash table behind a Bloom filter: the rank of the merge, or the
/// number of the token that it makes.
#[derive(Clone, Debug)]
pub(super) struct MergeTable {
    pairs: PairMap,
    /// A Bloom filter with two bits in one word for each pair, which excludes most pairs without a merge.
    filter: Vec<u64>,
    shift: u32,
}

impl MergeTable {
    pub(super) fn with_capacity(pairs: usize) -> Self {
        let words = (pairs << FILTER_BITS).next_power_of_two().max(64) / 64;
        let shift = 64 - (words * 64).ilog2();
        Self { pairs: PairMap::with_capacity(pairs), filter: vec![0; words], shift }
    }

    /// Return the rank of each pair, the last one of equal pairs; `None` if every seed makes a long run.
    fn of_ranks(merges: &[MergeIds]) -> Option<Self> {
        let mut table = Self::with_capacity(merges.len());
        for (rank, &MergeIds { left, right, .. }) in merges.iter().enumerate().rev() {
            let is_spread = table.get(left, right) != NO_RANK
                || table.insert(left, right, rank as u32)
                || table.spread_again((&[], merges));
            if !is_spread {
                return None;
            }
        }
        Some(table)
    }

    /// Add a pair that is not in the table. If it returns `false`, [`MergeTable::spread_again`] must follow.
    pub(super) fn insert(&mut self, left: u32, right: u32, merged: u32) -> bool {
        self.add_to_filter(left, right);
        self.pairs.insert(left, right, merged)
    }

    /// Spread all pairs by a seed of the symbols and merges; return `false` if every seed makes a long run.
    #[cold]
    pub(super) fn spread_again(&mut self, (symbols, merges): (&[u32], &[MergeIds])) -> bool {
        let ids = merges.iter().flat_map(|&MergeIds { left, right, merged }| [left, right, merged]);
        if !self.pairs.spread_again(seeds_of(symbols.iter().copied().chain(ids))) {
            return false;
        }
        self.filter.fill(0);
        let pairs: Vec<(u32, u32)> = self.pairs.pairs().collect();
        pairs.iter().for_each(|&(left, right)| self.add_to_filter(left, right));
        true
    }

    fn add_to_filter(&mut self, left: u32, right: u32) {
        let (word, bits) = self.filter_bits(self.pairs.hash(left, right));
        self.filter[word] |= bits;
    }

    /// Prefetch the filter and the bucket of a pair.
    #[inline]
    pub(super) fn prefetch(&self, left: u32, right: u32) {
        let (word, _) = self.filter_bits(self.pairs.hash(left, right));
        prefetch_read(&self.filter[word]);
        self.pairs.prefetch(left, right);
    }

    /// Return the number of a pair, or `NO_RANK`.
    #[inline]
    pub(super) fn get(&self, left: u32, right: u32) -> u32 {
        if !self.may_have(left, right) {
            return NO_RANK;
        }
        match self.pairs.get(left, right) {
            NUMBER_BOUND => NO_RANK,
            number => number,
        }
    }

    /// Return whether the filter has a pair.
    #[inline]
    pub(super) fn may_have(&self, left: u32, right: u32) -> bool {
        let (word, bits) = self.filter_bits(self.pairs.hash(left, right));
        self.filter[word] & bits == bits
    }

    /// Return the table without its filter.
    pub(super) fn pairs(&self) -> &PairMap {
        &self.pairs
    }

    /// Return the same, by value.
    pub(super) fn into_pairs(self) -> PairMap {
        self.pairs
    }

    #[inline]
    fn filter_bits(&self, hash: u64) -> (usize, u64) {
        let bits = hash >> (self.shift - 6);
        let word = (hash >> self.shift >> 6) as usize;
        (word, 1 << (bits & 63) | 1 << (bits >> 6 & 63))
    }

    /// Return the bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        self.pairs.bytes() + size_of_val(self.filter.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merges_of(pairs: impl IntoIterator<Item = (u32, u32)>) -> Merges {
        let list =
            pairs.into_iter().zip(5000..).map(|((left, right), merged)| MergeIds { left, right, merged });
        Merges { list: list.collect(), may_repeat: false, duplicate: None }
    }

    /// Return the tables with and without hashing.
    fn both_tables(merges: &Merges) -> [RankTable; 2] {
        let tables = [1 << 20, NUMBER_BOUND as usize].map(|bound| RankTable::of(merges, bound));
        assert!(matches!(
            tables.each_ref().map(|table| &table.ranks),
            [PairRanks::Hashed(_), PairRanks::Sorted(_)]
        ));
        tables
    }

    #[test]
    fn of_equal_pairs_the_last_one_counts() {
        let merges = merges_of((0..500_u32).map(|i| (i * i % 19, i * 7 % 23)));
        for RankTable { ranks, are_in_order } in both_tables(&merges) {
            assert!(are_in_order);
            for pair in (0..25).flat_map(|left| (0..25).map(move |right| (left, right))) {
                let last = merges.list.iter().rposition(|merge| (merge.left, merge.right) == pair);
                assert_eq!(ranks.get(pair.0, pair.1), last.map_or(NO_RANK, |rank| rank as u32));
            }
        }
    }

    #[test]
    fn only_the_last_of_equal_pairs_must_come_after_the_merges_of_its_sides() {
        let repeated = [(5001, 7), (1, 2), (5001, 7)];
        for (pairs, are_in_order) in [(&repeated[..], true), (&repeated[..2], false)] {
            for table in both_tables(&merges_of(pairs.iter().copied())) {
                assert_eq!(table.are_in_order, are_in_order);
            }
        }
    }

    #[test]
    fn pairs_chosen_to_collide_are_found_by_a_seed() {
        let map = PairMap::with_capacity(1000);
        let all = (0..).flat_map(|left| (0..2000).map(move |right| (left, right)));
        let merges = merges_of(all.filter(|&(left, right)| map.prefetch(left, right) == 0).take(1000));
        let [hashed, sorted] = both_tables(&merges);
        let PairRanks::Hashed(table) = &hashed.ranks else { unreachable!() };
        assert_ne!(table.pairs().hash(1, 2), map.hash(1, 2));
        for merge in &merges.list {
            assert_eq!(
                hashed.ranks.get(merge.left, merge.right),
                sorted.ranks.get(merge.left, merge.right)
            );
        }
    }
}
