//! Room in a double array (Aoe 1989), by blocks of 256 slots, as sets of bits.
//!
//! The child by a byte of a state with some base stands at the exclusive or of both, so all children of a state
//! stand in the block of its base. No two states get the same base: a byte then tells whose child a slot is.
//! Which bases of a block have free slots for all of some bytes is found for the whole block at once.

pub(super) const BLOCK: usize = 256;
/// How many of the newest blocks with room are tried before a new one is opened.
const TRIED: usize = 12;

/// A set of the 256 places of a block.
type Set = [u64; 4];

const ALL: Set = [u64::MAX; 4];

/// What is taken and what is not.
#[derive(Default)]
pub(super) struct Room {
    blocks: Vec<Block>,
    /// Blocks with room, newest last.
    open: Vec<usize>,
}

struct Block {
    /// Slots that nothing stands at.
    free: Set,
    /// Bases that no state has.
    bases: Set,
}

impl Room {
    /// The number of slots, taken or not.
    pub(super) fn slots(&self) -> usize {
        self.blocks.len() * BLOCK
    }

    /// Whether nothing stands at a slot.
    pub(super) fn is_free(&self, slot: usize) -> bool {
        has(&self.blocks[slot / BLOCK].free, slot % BLOCK)
    }

    /// A base in the block of a slot that no state has: one is always left.
    pub(super) fn nobodys_base(&self, slot: usize) -> usize {
        let start = slot / BLOCK * BLOCK;
        start + first(&self.blocks[slot / BLOCK].bases).unwrap_or_default()
    }

    /// Open the first block, some slots of which are taken; base 0 is given to no state.
    pub(super) fn with_roots(roots: usize) -> Self {
        let mut room = Self::default();
        room.open_block();
        (0..roots).for_each(|slot| remove(&mut room.blocks[0].free, slot));
        remove(&mut room.blocks[0].bases, 0);
        room
    }

    /// Take a base that no state has and the slots of all children by `bytes`, which are in order.
    pub(super) fn take(&mut self, bytes: &[u8]) -> usize {
        let tried = self.open.len().saturating_sub(TRIED)..self.open.len();
        let found = tried.rev().find_map(|at| Some((at, self.blocks[self.open[at]].base_for(bytes)?)));
        // A new block has room for everything.
        let (at, base) = found.unwrap_or_else(|| (self.open_block(), 0));
        let number = self.open[at];
        let block = &mut self.blocks[number];
        remove(&mut block.bases, base);
        bytes.iter().for_each(|&byte| remove(&mut block.free, base ^ usize::from(byte)));
        if block.is_full() {
            self.open.remove(at);
        }
        number * BLOCK + base
    }

    /// Open a block; says which of the open ones it is.
    fn open_block(&mut self) -> usize {
        self.open.push(self.blocks.len());
        self.blocks.push(Block { free: ALL, bases: ALL });
        self.open.len() - 1
    }
}

impl Block {
    /// A base that no state has, whose slots for all bytes are free.
    fn base_for(&self, bytes: &[u8]) -> Option<usize> {
        (0..4).find_map(|word| {
            let mut fitting = self.bases[word];
            for &byte in bytes {
                fitting &= shuffled(self.free[word ^ usize::from(byte >> 6)], byte);
                if fitting == 0 {
                    return None;
                }
            }
            (fitting != 0).then(|| 64 * word + fitting.trailing_zeros() as usize)
        })
    }

    /// Whether no state may have children here: one base stays nobody's.
    fn is_full(&self) -> bool {
        let [one, two, three, four] = self.bases;
        let is_last = one.count_ones() + two.count_ones() + three.count_ones() + four.count_ones() < 2;
        is_last || self.free == [0; 4]
    }
}

/// The places of a word whose exclusive or with the low bits of a byte is in a set.
fn shuffled(mut set: u64, byte: u8) -> u64 {
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

fn has(set: &Set, at: usize) -> bool {
    set[at / 64] >> (at % 64) & 1 != 0
}

fn remove(set: &mut Set, at: usize) {
    set[at / 64] &= !(1 << (at % 64));
}

fn first(set: &Set) -> Option<usize> {
    (0..4).find(|&word| set[word] != 0).map(|word| 64 * word + set[word].trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn no_slot_and_no_base_is_given_twice(
            states in prop::collection::vec(prop::collection::btree_set(any::<u8>(), 1..6), 1..600),
            wide in prop::sample::subsequence((0..=255).collect::<Vec<u8>>(), 200..=256),
        ) {
            let mut room = Room::with_roots(2);
            let (mut bases, mut slots) = (BTreeSet::from([0]), BTreeSet::from([0, 1]));
            let narrow = states.iter().map(|bytes| bytes.iter().copied().collect::<Vec<u8>>());
            for bytes in narrow.chain([wide.clone(), wide]) {
                let base = room.take(&bytes);
                prop_assert!(bases.insert(base));
                for &byte in &bytes {
                    prop_assert!(slots.insert(base ^ usize::from(byte)));
                }
            }
            for slot in 0..room.slots() {
                prop_assert_eq!(room.is_free(slot), !slots.contains(&slot));
                prop_assert!(!bases.contains(&room.nobodys_base(slot)));
                prop_assert_eq!(room.nobodys_base(slot) / BLOCK, slot / BLOCK);
            }
        }

        #[test]
        fn shuffling_moves_every_place_by_itself(set in any::<u64>(), byte in any::<u8>()) {
            for at in 0..64 {
                prop_assert_eq!(shuffled(set, byte) >> at & 1, set >> (at ^ (byte & 63)) & 1);
            }
        }
    }
}
