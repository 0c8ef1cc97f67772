//! Assigns the slots and bases of a double array, by blocks of 256 slots.
//!
//! No two states get the same base, so the byte that leads to a slot identifies its parent. The bases of a block that
//! have free slots for all of some bytes are found at once, by bit sets: O(children) for each state.

/// Slots in a block.
pub(crate) const BLOCK: usize = 256;
/// So many of the newest blocks with free slots are tried before a new one is opened.
const MAX_TRIED: usize = 12;

/// The free slots and bases.
#[derive(Default)]
pub struct Allocator {
    blocks: Vec<SlotBlock>,
    /// The blocks that are not full, newest last.
    open: Vec<usize>,
}

struct SlotBlock {
    /// Slots without a state.
    free: ByteSet,
    /// Bases of no state.
    bases: ByteSet,
}

impl Allocator {
    /// Open the first block and reserve its first slots for roots. No state gets base 0.
    pub fn with_roots(roots: usize) -> Self {
        let mut allocator = Self::default();
        allocator.open_block();
        (0..roots).for_each(|slot| allocator.blocks[0].free.remove(offset_in_block(slot)));
        allocator.blocks[0].bases.remove(0);
        allocator
    }

    /// Return the number of slots, used or free.
    pub fn slots(&self) -> usize {
        self.blocks.len() * BLOCK
    }

    /// Return whether a slot has no state.
    pub(crate) fn is_free(&self, slot: usize) -> bool {
        self.blocks[slot / BLOCK].free.has(offset_in_block(slot))
    }

    /// Return a base in the block of a slot that no state has. Every block keeps one.
    pub(crate) fn unused_base(&self, slot: usize) -> usize {
        let start = slot / BLOCK * BLOCK;
        start + usize::from(self.blocks[slot / BLOCK].bases.first().unwrap_or_default())
    }

    /// Allocate a base that no state has, and the slots of the children by `bytes`, which are in ascending order.
    pub fn allocate(&mut self, bytes: &[u8]) -> usize {
        let tried = self.open.len().saturating_sub(MAX_TRIED)..self.open.len();
        let found = tried.rev().find_map(|at| Some((at, self.blocks[self.open[at]].base_for(bytes)?)));
        // A new block has free slots for any bytes.
        let (at, base) = found.unwrap_or_else(|| (self.open_block(), 0));
        let number = self.open[at];
        let block = &mut self.blocks[number];
        block.bases.remove(base);
        bytes.iter().for_each(|byte| block.free.remove(base ^ byte));
        if block.is_full() {
            self.open.remove(at);
        }
        number * BLOCK + usize::from(base)
    }

    /// Open a block; return its index in `open`.
    fn open_block(&mut self) -> usize {
        self.open.push(self.blocks.len());
        self.blocks.push(SlotBlock { free: ByteSet::ALL, bases: ByteSet::ALL });
        self.open.len() - 1
    }
}

impl SlotBlock {
    /// Return an unused base whose slots for all of `bytes` are free.
    fn base_for(&self, bytes: &[u8]) -> Option<u8> {
        match *bytes {
            [byte] => self.bases.base_of_one(self.free, byte),
            _ => self.bases.first_base(self.free, &bytes.iter().copied()),
        }
    }

    /// Return whether no more states fit. One base stays unused.
    fn is_full(&self) -> bool {
        self.bases.len() < 2 || self.free.is_empty()
    }
}

fn offset_in_block(slot: usize) -> u8 {
    (slot % BLOCK) as u8
}

/// A set of bytes, or of the offsets in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ByteSet([u64; 4]);

impl ByteSet {
    /// All bytes.
    const ALL: Self = Self([u64::MAX; 4]);

    /// Return whether a byte is in the set.
    fn has(self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 != 0
    }

    /// Remove a byte.
    fn remove(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] &= !(1 << (byte & 63));
    }

    /// Return the number of bytes.
    fn len(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Return whether the set has no byte.
    fn is_empty(self) -> bool {
        self.0 == [0; 4]
    }

    /// Return the lowest byte.
    fn first(self) -> Option<u8> {
        let at = self.0.iter().position(|&word| word != 0)?;
        Some((at as u32 * 64 + self.0[at].trailing_zeros()) as u8)
    }

    /// Return a base of this set whose exclusive or with `byte` is in `free`. Most states have one child, and most free
    /// slots an unused base.
    fn base_of_one(self, free: Self, byte: u8) -> Option<u8> {
        (0..4).find_map(|word| {
            let mut slots = free.0[word as usize];
            while slots != 0 {
                let base = (64 * word + slots.trailing_zeros()) as u8 ^ byte;
                if self.has(base) {
                    return Some(base);
                }
                slots &= slots - 1;
            }
            None
        })
    }

    /// Return the first base of this set whose exclusive or with each of `bytes` is in `free`. Test 64 bases at once.
    fn first_base(self, free: Self, bytes: &(impl Iterator<Item = u8> + Clone)) -> Option<u8> {
        (0..4).find_map(|word| {
            let mut fitting = self.0[word];
            for byte in bytes.clone() {
                fitting &= exchanged(free.0[word ^ usize::from(byte >> 6)], byte);
                if fitting == 0 {
                    return None;
                }
            }
            (fitting != 0).then(|| (word as u32 * 64 + fitting.trailing_zeros()) as u8)
        })
    }
}

/// Return the offsets below 64 whose exclusive or with the low bits of a byte is in a set.
fn exchanged(mut set: u64, byte: u8) -> u64 {
    /// The lower half of every group of 2, 4, 8, ... bits.
    const LOWER: [u64; 6] = [
        0x5555_5555_5555_5555,
        0x3333_3333_3333_3333,
        0x0F0F_0F0F_0F0F_0F0F,
        0x00FF_00FF_00FF_00FF,
        0x0000_FFFF_0000_FFFF,
        0x0000_0000_FFFF_FFFF,
    ];
    for (bit, lower) in LOWER.iter().enumerate() {
        let exchanged = (set & lower) << (1 << bit) | set >> (1 << bit) & lower;
        let is_wanted = u64::from(byte >> bit & 1).wrapping_neg();
        set ^= (set ^ exchanged) & is_wanted;
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn set(bytes: &[u8]) -> ByteSet {
        let mut set = ByteSet::ALL;
        (0..=255).filter(|byte| !bytes.contains(byte)).for_each(|byte| set.remove(byte));
        set
    }

    proptest! {
        #[test]
        fn slots_and_bases_are_allocated_once(
            states in prop::collection::vec(prop::collection::btree_set(any::<u8>(), 1..6), 1..600),
            wide in prop::sample::subsequence((0..=255).collect::<Vec<u8>>(), 200..=256),
        ) {
            let mut allocator = Allocator::with_roots(2);
            let (mut bases, mut slots) = (BTreeSet::from([0]), BTreeSet::from([0, 1]));
            let narrow = states.iter().map(|bytes| bytes.iter().copied().collect::<Vec<u8>>());
            for bytes in narrow.chain([wide.clone(), wide]) {
                let base = allocator.allocate(&bytes);
                prop_assert!(bases.insert(base));
                for &byte in &bytes {
                    prop_assert!(slots.insert(base ^ usize::from(byte)));
                }
            }
            for slot in 0..allocator.slots() {
                prop_assert_eq!(allocator.is_free(slot), !slots.contains(&slot));
                prop_assert!(!bases.contains(&allocator.unused_base(slot)));
                prop_assert_eq!(allocator.unused_base(slot) / BLOCK, slot / BLOCK);
            }
        }

        #[test]
        fn exchanging_halves_moves_every_bit(set in any::<u64>(), byte in any::<u8>()) {
            for at in 0..64 {
                prop_assert_eq!(exchanged(set, byte) >> at & 1, set >> (at ^ (byte & 63)) & 1);
            }
        }

        #[test]
        fn the_first_base_is_the_one_that_an_exhaustive_search_finds(
            bases in prop::collection::vec(any::<u8>(), 0..40),
            free in prop::collection::vec(any::<u8>(), 0..256),
            bytes in prop::collection::vec(any::<u8>(), 0..4),
        ) {
            let is_base = |base: &u8| bases.contains(base) && bytes.iter().all(|byte| free.contains(&(base ^ byte)));
            let found = set(&bases).first_base(set(&free), &bytes.iter().copied());
            prop_assert_eq!(found, (0..=255).find(is_base));
            if let [byte] = bytes[..] {
                let found = set(&bases).base_of_one(set(&free), byte);
                prop_assert!(found.as_ref().map_or(!(0..=255).any(|base| is_base(&base)), is_base));
            }
        }

        #[test]
        fn a_set_contains_the_bytes_not_removed(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
            let set = set(&bytes);
            prop_assert!((0..=255).all(|byte| set.has(byte) == bytes.contains(&byte)));
            prop_assert_eq!(set.len(), (0..=255).filter(|byte| bytes.contains(byte)).count() as u32);
            prop_assert_eq!(set.first(), bytes.iter().min().copied());
            prop_assert_eq!(set.is_empty(), bytes.is_empty());
        }
    }
}
