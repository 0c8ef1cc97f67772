//! Place the states of a trie in a double array, breadth first.
//!
//! States near the root, which most walks pass, get neighbouring slots.

use std::collections::VecDeque;

use crate::interrupt;

/// A key and its number. Most comparisons and lookups of bytes need only its first sixteen bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SortedKey<'k> {
    /// The first sixteen bytes as two big-endian numbers, padded with zeros.
    head: [u64; 2],
    pub(crate) bytes: &'k [u8],
    pub(crate) number: u32,
}

impl SortedKey<'_> {
    /// Return the byte at `depth`, which is less than the length.
    #[inline]
    fn byte_at(&self, depth: usize) -> u8 {
        match depth {
            0..8 => self.head[0].to_be_bytes()[depth],
            8..16 => self.head[1].to_be_bytes()[depth - 8],
            _ => self.bytes[depth],
        }
    }
}

/// Sort keys by their bytes, then by their numbers.
pub(crate) fn sorted_keys<'k>(keys: impl Iterator<Item = (&'k [u8], u32)>) -> Vec<SortedKey<'k>> {
    let mut sorted: Vec<_> =
        keys.map(|(bytes, number)| SortedKey { head: head(bytes), bytes, number }).collect();
    sorted.sort_unstable_by(|one, other| {
        one.head.cmp(&other.head).then_with(|| (one.bytes, one.number).cmp(&(other.bytes, other.number)))
    });
    sorted
}

/// The bytes that lead to the children of a state, and where the keys of each end.
#[derive(Default)]
struct Children {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Children {
    /// Split keys in order, at least one, where the byte at `depth` changes; all are longer than that.
    fn find(&mut self, keys: &[SortedKey<'_>], depth: usize) {
        self.bytes.clear();
        self.ends.clear();
        let byte_of = |at: usize| keys[at].byte_at(depth);
        let (mut byte, last) = (byte_of(0), byte_of(keys.len() - 1));
        let mut at = 1;
        while byte != last {
            let next = byte_of(at);
            if next != byte {
                self.bytes.push(byte);
                self.ends.push(at);
                byte = next;
            }
            at += 1;
        }
        self.bytes.push(last);
        self.ends.push(keys.len());
    }
}

fn head(bytes: &[u8]) -> [u64; 2] {
    let mut head = [0; 16];
    let len = bytes.len().min(16);
    head[..len].copy_from_slice(&bytes[..len]);
    let (first, second) = head.split_at(8);
    [first, second].map(|half| half.try_into().map_or(0, u64::from_be_bytes))
}

/// One state in breadth-first order, with the byte that led to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrieStep {
    pub(crate) parent: u32,
    pub(crate) byte: u8,
    pub(crate) state: u32,
    pub(crate) depth: u32,
}

/// Receives the states of a trie in breadth-first order and stores them.
pub(crate) trait TrieLayout {
    /// What a state passes on to its children.
    type Context: Copy + Default;

    /// Extend the array to `slots` slots.
    fn grow(&mut self, slots: usize);

    /// Store that a non-empty key ends at a state; return the context of the states below.
    fn end_key(&mut self, state: u32, key: SortedKey<'_>, context: Self::Context) -> Self::Context;

    /// Store the base of a state that has children.
    fn set_base(&mut self, state: u32, base: usize);

    /// Store a child of a state.
    fn add_child(&mut self, step: TrieStep);
}

/// Keys that share the first `depth` bytes, which lead to `state`.
struct Subtree<'s, 'k, C> {
    state: u32,
    depth: usize,
    keys: &'s [SortedKey<'k>],
    context: C,
}

/// Place the states of at most 256 tries, the keys of each in order. The root of trie `i` is state `i`. Empty keys end
/// nowhere. Return the slots and bases that are left, or `None` once more than `max_slots` slots are needed.
pub(crate) fn build_breadth_first<L: TrieLayout>(
    tries: &[Vec<SortedKey<'_>>],
    max_slots: usize,
    layout: &mut L,
) -> Option<Allocator> {
    let mut allocator = Allocator::with_roots(tries.len());
    layout.grow(allocator.slots());
    let (mut pending, mut children) = (VecDeque::new(), Children::default());
    for (state, keys) in (0..).zip(tries) {
        pending.push_back(Subtree { state, depth: 0, keys, context: L::Context::default() });
    }
    while let Some(subtree) = pending.pop_front() {
        interrupt::check(1);
        expand(&subtree, &mut pending, &mut children, &mut allocator, layout);
        if allocator.slots() > max_slots {
            return None;
        }
    }
    Some(allocator)
}

/// Place the children of one state.
fn expand<'s, 'k, L: TrieLayout>(
    subtree: &Subtree<'s, 'k, L::Context>,
    pending: &mut VecDeque<Subtree<'s, 'k, L::Context>>,
    children: &mut Children,
    allocator: &mut Allocator,
    layout: &mut L,
) {
    let Subtree { state, depth, mut keys, mut context } = *subtree;
    while let Some((&key, rest)) = keys.split_first().filter(|(key, _)| key.bytes.len() == depth) {
        if depth > 0 {
            context = layout.end_key(state, key, context);
        }
        keys = rest;
    }
    if keys.is_empty() {
        return;
    }
    children.find(keys, depth);
    let base = allocator.allocate(&children.bytes);
    layout.grow(allocator.slots());
    layout.set_base(state, base);
    let mut start = 0;
    for (&byte, &end) in children.bytes.iter().zip(&children.ends) {
        let (parent, state, depth) = (state, base as u32 ^ u32::from(byte), depth + 1);
        layout.add_child(TrieStep { parent, byte, state, depth: depth as u32 });
        pending.push_back(Subtree { state, depth, keys: &keys[start..end], context });
        start = end;
    }
}

// Assigns the slots and bases of a double array, by blocks of 256 slots.
//
// No two states get the same base, so the byte that leads to a slot identifies its parent. The bases of a block that
// have free slots for all of some bytes are found at once, by bit sets: O(children) for each state.

/// Slots in a block.
pub(crate) const BLOCK: usize = 256;
/// This many of the newest blocks with free slots are tried before a new one is opened.
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
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn keys_are_sorted_by_their_bytes(
            keys in prop::collection::vec(prop::collection::vec(0..3u8, 0..20), 0..80),
        ) {
            let mut expected: Vec<(&[u8], u32)> = keys.iter().map(Vec::as_slice).zip(0..).collect();
            let sorted = sorted_keys(expected.clone().into_iter());
            expected.sort_unstable();
            prop_assert_eq!(sorted.iter().map(|key| (key.bytes, key.number)).collect::<Vec<_>>(), expected);
            for key in sorted {
                let bytes: Vec<u8> = (0..key.bytes.len()).map(|depth| key.byte_at(depth)).collect();
                prop_assert_eq!(bytes, key.bytes);
            }
        }
    }

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
