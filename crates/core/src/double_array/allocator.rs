//! Assigns the slots and bases of a double array, by blocks of 256 slots.
//!
//! No two states get the same base, so the byte that leads to a slot identifies its parent. The bases of a block that
//! have free slots for all of some bytes are found at once, by bit sets: O(children) for each state.

use super::byte_set::ByteSet;

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
        self.bases.first_base(self.free, &bytes.iter().copied())
    }

    /// Return whether no more states fit. One base stays unused.
    fn is_full(&self) -> bool {
        self.bases.len() < 2 || self.free.is_empty()
    }
}

fn offset_in_block(slot: usize) -> u8 {
    (slot % BLOCK) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

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
    }
}
