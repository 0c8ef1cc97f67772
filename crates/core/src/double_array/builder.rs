//! Place the states of a trie in a double array, breadth first.
//!
//! States near the root, which most walks pass, get neighbouring slots.

use std::collections::VecDeque;

use super::allocator::Allocator;
use super::sorted_keys::{chunks, SortedKey};

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
    let (mut pending, mut bytes) = (VecDeque::new(), Vec::new());
    for (state, keys) in (0..).zip(tries) {
        pending.push_back(Subtree { state, depth: 0, keys, context: L::Context::default() });
    }
    while let Some(subtree) = pending.pop_front() {
        expand(&subtree, &mut pending, &mut bytes, &mut allocator, layout);
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
    bytes: &mut Vec<u8>,
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
    bytes.clear();
    bytes.extend(chunks(keys, depth).map(|keys| keys[0].byte_at(depth)));
    let base = allocator.allocate(bytes);
    layout.grow(allocator.slots());
    layout.set_base(state, base);
    for keys in chunks(keys, depth) {
        let byte = keys[0].byte_at(depth);
        let (parent, state, depth) = (state, base as u32 ^ u32::from(byte), depth + 1);
        layout.add_child(TrieStep { parent, byte, state, depth: depth as u32 });
        pending.push_back(Subtree { state, depth, keys, context });
    }
}
