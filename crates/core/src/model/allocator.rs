//! Room in a double array (Aoe 1989), by blocks of 256 slots, as sets of bits.
//!
//! The child by a byte of a state with some base stands at the exclusive or of both, so all children of a state
//! stand in the block of its base. No two states get the same base: a byte then tells whose child a slot is.
//! Which bases of a block have free slots for all of some bytes is found for the whole block at once.

use crate::text::ByteSet;

pub(super) const BLOCK: usize = 256;
/// How many of the newest blocks with room are tried before a new one is opened.
const TRIED: usize = 12;

/// What is taken and what is not.
#[derive(Default)]
pub(super) struct Room {
    blocks: Vec<Block>,
    /// Blocks with room, newest last.
    open: Vec<usize>,
}

struct Block {
    /// Slots that nothing stands at.
    free: ByteSet,
    /// Bases that no state has.
    bases: ByteSet,
}

impl Room {
    /// The number of slots, taken or not.
    pub(super) fn slots(&self) -> usize {
        self.blocks.len() * BLOCK
    }

    /// Whether nothing stands at a slot.
    pub(super) fn is_free(&self, slot: usize) -> bool {
        self.blocks[slot / BLOCK].free.has(place_of(slot))
    }

    /// A base in the block of a slot that no state has: one is always left.
    pub(super) fn nobodys_base(&self, slot: usize) -> usize {
        let start = slot / BLOCK * BLOCK;
        start + usize::from(self.blocks[slot / BLOCK].bases.first().unwrap_or_default())
    }

    /// Open the first block, some slots of which are taken; base 0 is given to no state.
    pub(super) fn with_roots(roots: usize) -> Self {
        let mut room = Self::default();
        room.open_block();
        (0..roots).for_each(|slot| room.blocks[0].free.remove(place_of(slot)));
        room.blocks[0].bases.remove(0);
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
        block.bases.remove(base);
        bytes.iter().for_each(|byte| block.free.remove(base ^ byte));
        if block.is_full() {
            self.open.remove(at);
        }
        number * BLOCK + usize::from(base)
    }

    /// Open a block; says which of the open ones it is.
    fn open_block(&mut self) -> usize {
        self.open.push(self.blocks.len());
        self.blocks.push(Block { free: ByteSet::ALL, bases: ByteSet::ALL });
        self.open.len() - 1
    }
}

impl Block {
    /// A base that no state has, whose slots for all bytes are free.
    fn base_for(&self, bytes: &[u8]) -> Option<u8> {
        self.bases.first_base(self.free, &bytes.iter().copied())
    }

    /// Whether no state may have children here: one base stays nobody's.
    fn is_full(&self) -> bool {
        self.bases.len() < 2 || self.free.is_empty()
    }
}

/// Where in its block a slot is.
fn place_of(slot: usize) -> u8 {
    (slot % BLOCK) as u8
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
    }
}
