//! Place the states of a trie in a double array, breadth first.
//!
//! States near the root, which most walks pass, get neighbouring slots.

use std::collections::VecDeque;

use super::allocator::Allocator;
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

    /// Extend the array to so many slots.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
}
