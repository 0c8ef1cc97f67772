//! The rank of each pair of tokens that has a merge, and the token that it makes.

use std::hash::{BuildHasher, Hasher, RandomState};

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

/// A hash table from pairs to ranks.
#[derive(Clone, Debug)]
struct RankTable {
    /// Open addressing, at most half full.
    slots: Vec<PairSlot>,
    /// Multiplies a pair before its highest bits select a slot and a bit of the filter (Fibonacci hashing).
    multiplier: u64,
    /// The shift from a hash to the index of a slot.
    shift: u32,
    /// A Bloom filter with one bit a pair, which excludes most pairs without a merge.
    filter: Vec<u64>,
    are_in_order: bool,
}

/// The pair and the rank of a merge; a free slot has no rank.
#[derive(Clone, Copy, Debug)]
struct PairSlot {
    left: u32,
    right: u32,
    /// The rank, or `NO_RANK`.
    rank: u32,
}

const FREE: PairSlot = PairSlot { left: u32::MAX, right: u32::MAX, rank: NO_RANK };
/// The base-2 logarithm of the filter's bits for each slot.
const FILTER_BITS: u32 = 2;
/// The first multiplier.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
/// A pair that would be further from its slot gives the table a random multiplier. Only merges that were chosen for it
/// are that far.
const MAX_DISTANCE: usize = 256;

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
                size_of_val(table.slots.as_slice()) + size_of_val(table.filter.as_slice())
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
        let mut multiplier = SPREAD;
        loop {
            if let Some(mut table) = Self::spread_by(multiplier, merges) {
                table.are_in_order = !merges.may_repeat && table.makes_only_for_later(&merges.list);
                return table;
            }
            multiplier = RandomState::new().build_hasher().finish() | 1;
        }
    }

    /// Build the table with a multiplier; `None` if a pair is too far from its slot.
    fn spread_by(multiplier: u64, merges: &Merges) -> Option<Self> {
        let bits = (2 * merges.list.len()).next_power_of_two().ilog2().max(6);
        let mut table = Self {
            slots: vec![FREE; 1 << bits],
            multiplier,
            shift: 64 - bits,
            filter: vec![0; 1 << (bits + FILTER_BITS - 6)],
            are_in_order: false,
        };
        (0..)
            .zip(&merges.list)
            .all(|(rank, merge)| table.insert(merge, rank) <= MAX_DISTANCE)
            .then_some(table)
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
        let mut used = self.slots.iter().filter(|slot| slot.rank != NO_RANK);
        used.all(|slot| [slot.left, slot.right].iter().all(|&id| comes_before(id, slot.rank)))
    }

    /// Add the merge of the next rank; return the distance of its pair from its slot.
    fn insert(&mut self, merge: &MergeIds, rank: u32) -> usize {
        let MergeIds { left, right, .. } = *merge;
        let hash = self.hash(left, right);
        let slot = self.slot_of(left, right, hash);
        self.slots[slot] = PairSlot { left, right, rank };
        let (word, bit) = self.filter_bit(hash);
        self.filter[word] |= bit;
        slot.wrapping_sub((hash >> self.shift) as usize) & (self.slots.len() - 1)
    }

    #[inline]
    fn rank(&self, left: u32, right: u32) -> u32 {
        let hash = self.hash(left, right);
        let (word, bit) = self.filter_bit(hash);
        if self.filter[word] & bit == 0 {
            return NO_RANK;
        }
        self.slots[self.slot_of(left, right, hash)].rank
    }

    /// Return the slot of a pair, or the free slot where it would be.
    #[inline]
    fn slot_of(&self, left: u32, right: u32, hash: u64) -> usize {
        let mut at = (hash >> self.shift) as usize;
        loop {
            let slot = &self.slots[at];
            if (slot.left, slot.right) == (left, right) || slot.rank == NO_RANK {
                return at;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    #[inline]
    fn filter_bit(&self, hash: u64) -> (usize, u64) {
        let at = (hash >> (self.shift - FILTER_BITS)) as usize;
        (at / 64, 1 << (at % 64))
    }

    #[inline]
    fn hash(&self, left: u32, right: u32) -> u64 {
        (u64::from(left) << 32 | u64::from(right)).wrapping_mul(self.multiplier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_chosen_to_collide_are_near_their_slots() {
        let count = 3000;
        let slot = |left: u32, right: u32| {
            let bits = (2 * count as usize).next_power_of_two().ilog2();
            (u64::from(left) << 32 | u64::from(right)).wrapping_mul(SPREAD) >> (64 - bits)
        };
        let all = (0..).flat_map(|left| (0..count).map(move |right| (left, right)));
        let colliding = all.filter(|&(left, right)| slot(left, right) == 0).take(count as usize);
        let list: Vec<MergeIds> =
            colliding.zip(0..).map(|((left, right), merged)| MergeIds { left, right, merged }).collect();
        let table = RankTable::of(&Merges { list, may_repeat: false, duplicate: None });
        let full = table.slots.split(|slot| slot.rank == NO_RANK).map(<[PairSlot]>::len);
        assert!(full.max() <= Some(MAX_DISTANCE));
        let ranks = table.slots.iter().filter(|slot| slot.rank != NO_RANK);
        assert!(ranks.clone().all(|slot| table.rank(slot.left, slot.right) == slot.rank));
        assert_eq!(ranks.count(), count as usize);
    }
}
