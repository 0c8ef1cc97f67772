//! Which pairs of entries are merged, how soon, and to what.

use std::sync::OnceLock;

use super::merges::{Merge, Merges};

/// No merge has this rank; it sorts after all.
pub(super) const NO_RANK: u32 = u32::MAX;

/// Which two entries join, how soon, and to what.
pub(super) trait RankLookup {
    /// The rank of a pair, or `NO_RANK`.
    fn rank(&self, left: u32, right: u32) -> u32;

    /// The entry that a pair of some rank merges to.
    fn merged(&self, rank: u32) -> u32;

    /// All ranks are below.
    fn len(&self) -> usize;
}

/// All merges. The table of pairs is made when the first is looked for: words printable by their bytes
/// need none where merges are in order.
#[derive(Clone, Debug)]
pub(super) struct MergeRanks {
    merges: Merges,
    table: OnceLock<PairTable>,
}

/// The ranks of pairs.
#[derive(Clone, Debug)]
struct PairTable {
    /// Open addressing, at most half full.
    slots: Vec<Slot>,
    /// How far the hash is shifted to become the index of a slot.
    shift: u32,
    /// A bit for some of the bits of each pair's hash: most pairs that are no merge are told by it alone.
    filter: Vec<u64>,
    are_in_order: bool,
}

/// One merge; without a rank, none.
#[derive(Clone, Copy, Debug)]
struct Slot {
    left: u32,
    right: u32,
    /// How soon; `NO_RANK` if never.
    rank: u32,
}

const FREE: Slot = Slot { left: u32::MAX, right: u32::MAX, rank: NO_RANK };
/// Bits of the filter for each slot, as a power of two.
const FILTER_BITS: u32 = 2;

impl MergeRanks {
    pub(super) fn new(merges: Merges) -> Self {
        Self { merges, table: OnceLock::new() }
    }

    /// The table. Never waits for another thread, which a fork may have left behind: rather, both make it.
    #[inline]
    fn table(&self) -> &PairTable {
        match self.table.get() {
            Some(table) => table,
            None => self.make_table(),
        }
    }

    #[cold]
    fn make_table(&self) -> &PairTable {
        let table = PairTable::of(&self.merges);
        self.table.get_or_init(|| table)
    }

    /// Whether a join never makes a pair that should have been merged before.
    pub(super) fn are_in_order(&self) -> bool {
        self.table().are_in_order
    }

    /// Whether two pairs that stand at one position, one after the other, may join to the same entry.
    /// They cannot while each merge makes an entry longer, which it does unless nothing but the prefix
    /// is added.
    pub(super) fn may_repeat(&self) -> bool {
        self.merges.may_repeat
    }

    /// The ranks of the first merge that is there twice.
    pub(super) fn duplicate(&self) -> Option<(usize, usize)> {
        self.merges.duplicate
    }

    /// The memory they take.
    pub(super) fn bytes(&self) -> usize {
        let table = self.table.get();
        size_of_val(self.merges.list.as_slice())
            + table.map_or(0, |table| {
                size_of_val(table.slots.as_slice()) + size_of_val(table.filter.as_slice())
            })
    }
}

impl RankLookup for MergeRanks {
    #[inline]
    fn rank(&self, left: u32, right: u32) -> u32 {
        self.table().rank(left, right)
    }

    #[inline]
    fn merged(&self, rank: u32) -> u32 {
        self.merges.list[rank as usize].merged
    }

    fn len(&self) -> usize {
        self.merges.list.len()
    }
}

impl PairTable {
    /// The table of all merges; of equal pairs the last one counts.
    fn of(merges: &Merges) -> Self {
        let bits = (2 * merges.list.len()).next_power_of_two().ilog2().max(6);
        let mut table = Self {
            slots: vec![FREE; 1 << bits],
            shift: 64 - bits,
            filter: vec![0; 1 << (bits + FILTER_BITS - 6)],
            are_in_order: false,
        };
        for (rank, merge) in (0..).zip(&merges.list) {
            table.insert(merge, rank);
        }
        table.are_in_order = !merges.may_repeat && table.makes_only_for_later(&merges.list);
        table
    }

    /// Whether every merge that makes an entry comes before all that join it to another.
    fn makes_only_for_later(&self, merges: &[Merge]) -> bool {
        let bound = merges.iter().map(|merge| merge.merged as usize + 1).max().unwrap_or(0);
        let mut last_made = vec![None; bound];
        for (rank, merge) in (0..).zip(merges) {
            last_made[merge.merged as usize] = Some(rank);
        }
        let comes_before = |id: u32, rank: u32| {
            last_made.get(id as usize).is_none_or(|made| made.is_none_or(|made| made < rank))
        };
        let mut taken = self.slots.iter().filter(|slot| slot.rank != NO_RANK);
        taken.all(|slot| [slot.left, slot.right].iter().all(|&id| comes_before(id, slot.rank)))
    }

    /// Add the merge of the next rank.
    fn insert(&mut self, merge: &Merge, rank: u32) {
        let Merge { left, right, .. } = *merge;
        let hash = hash(left, right);
        let slot = self.slot_of(left, right, hash);
        self.slots[slot] = Slot { left, right, rank };
        let (word, bit) = self.filter_bit(hash);
        self.filter[word] |= bit;
    }

    #[inline]
    fn rank(&self, left: u32, right: u32) -> u32 {
        let hash = hash(left, right);
        let (word, bit) = self.filter_bit(hash);
        if self.filter[word] & bit == 0 {
            return NO_RANK;
        }
        self.slots[self.slot_of(left, right, hash)].rank
    }

    /// Where a pair is, or would be.
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
}

#[inline]
fn hash(left: u32, right: u32) -> u64 {
    (u64::from(left) << 32 | u64::from(right)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
