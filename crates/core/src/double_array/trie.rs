//! A byte trie whose states name their parents: a step is two reads and a comparison.
//!
//! Several sets of keys may share the array; the root of set `i` is state `i`. Matches of whole UTF-8 keys end at
//! character boundaries.

use piecework_kernels::array::Array;

use super::builder::{build_breadth_first, sorted_keys, SortedKey, TrieLayout, TrieStep, BLOCK};
use crate::error::{Error, ErrorKind};
use crate::table_sections::{damaged, TableSections};

pub(super) const NONE: u32 = u32::MAX;
/// Tries of more slots are rejected.
pub(super) const MAX_SLOTS: usize = (NONE / 2) as usize;

/// A slot: its base and the parent of its state. The child of state `s` by byte `b` is in slot `s[BASE] ^ b` if the
/// `PARENT` there is `s`.
pub(super) type TrieUnit = [u32; 2];
pub(super) const BASE: usize = 0;
pub(super) const PARENT: usize = 1;

/// The base of states without children.
const NO_BASE: u32 = 0;
const FREE: TrieUnit = [NO_BASE, NONE];
/// The parent of a root.
pub(super) const NO_PARENT: u32 = NONE - 1;

/// The double array and the number of the key that ends at each state.
#[derive(Clone, Debug)]
pub(crate) struct Trie {
    pub(super) units: Array<TrieUnit>,
    pub(super) entries: Array<u32>,
}

impl Trie {
    /// Build from at most 256 sets of keys; also return all states but the roots in breadth-first order. Empty keys
    /// end nowhere. Of equal keys the highest number counts.
    pub(crate) fn build<const SETS: usize>(
        sets: [Vec<(&[u8], u32)>; SETS],
    ) -> Result<(Self, Vec<TrieStep>), Error> {
        let mut states = TrieBuilder::default();
        let keys = sets.map(|keys| sorted_keys(keys.into_iter()));
        if build_breadth_first(&keys, MAX_SLOTS, &mut states).is_none() {
            let found = format!("{} trie slots", states.units.len());
            return Err(Error::new(ErrorKind::Vocabulary, "model.vocab", found, "a smaller vocabulary"));
        }
        let TrieBuilder { mut units, entries, steps } = states;
        units[..SETS].iter_mut().for_each(|root| root[PARENT] = NO_PARENT);
        Ok((Self { units: units.into(), entries: entries.into() }, steps))
    }

    /// Return the state after `byte`.
    #[inline]
    pub(crate) fn child(&self, state: u32, byte: u8) -> Option<u32> {
        let next = self.units[state as usize][BASE] ^ u32::from(byte);
        (self.units[next as usize][PARENT] == state).then_some(next)
    }

    /// Return the number of the key that ends at a state.
    #[inline]
    pub(crate) fn entry(&self, state: u32) -> Option<u32> {
        Some(self.entries[state as usize]).filter(|&id| id != NONE)
    }

    /// Return the byte that leads to a state from its parent.
    #[inline]
    pub(crate) fn byte_between(&self, parent: u32, state: u32) -> u8 {
        (self.units[parent as usize][BASE] ^ state) as u8
    }

    /// Return the children of all states.
    pub(crate) fn children(&self) -> ChildLists {
        let slots = self.units.len();
        let mut lists = ChildLists { first: vec![NONE; slots], next: vec![NONE; slots], count: 0 };
        for (slot, unit) in (0..slots as u32).zip(self.units.iter()).rev() {
            if let Some(first) = lists.first.get_mut(unit[PARENT] as usize) {
                lists.next[slot as usize] = std::mem::replace(first, slot);
                lists.count += 1;
            }
        }
        lists
    }

    /// Return the bases and parents of all slots.
    pub(crate) fn units(&self) -> &[[u32; 2]] {
        &self.units
    }

    /// Return the same trie of one set of keys as nodes of four bytes, with an unused label where a slot is free.
    /// `None` if two states have the same base, as only a table section can make them, or if a base does not fit in a
    /// node.
    pub(crate) fn nodes(&self) -> Option<Vec<CompactNode>> {
        let mut owners = vec![NONE; self.units.len()];
        for &[_, parent] in self.units.iter().filter(|unit| unit[PARENT] < NO_PARENT) {
            let base = self.units[parent as usize][BASE];
            let owner = &mut owners[base as usize];
            if base == NO_BASE || *owner != NONE && *owner != parent {
                return None;
            }
            *owner = parent;
        }
        let node = |(slot, unit): (u32, &TrieUnit)| {
            let parent = self.units.get(unit[PARENT] as usize);
            // No UTF-8 contains this byte.
            let mut node =
                CompactNode::with_label(parent.map_or(0xFF, |parent| (parent[BASE] ^ slot) as u8));
            node.set_base(unit[BASE] as usize);
            if self.entries[slot as usize] != NONE {
                node.set_final();
            }
            node
        };
        let fits = self.units.len() <= super::MAX_BASE;
        fits.then(|| (0..).zip(self.units.iter()).map(node).collect())
    }

    /// Return the number of slots, used or free.
    pub(crate) fn slots(&self) -> usize {
        self.units.len()
    }
}

/// The children of each state as a linked list, in the order of their slots. [`ChildLists::END`] ends a list.
pub(crate) struct ChildLists {
    /// By state: its first child.
    pub(crate) first: Vec<u32>,
    /// By state: the next child of its parent.
    pub(crate) next: Vec<u32>,
    /// The number of all children.
    pub(super) count: usize,
}

impl ChildLists {
    pub(crate) const END: u32 = NONE;
}

#[derive(Default)]
struct TrieBuilder {
    units: Vec<TrieUnit>,
    entries: Vec<u32>,
    steps: Vec<TrieStep>,
}

impl TrieLayout for TrieBuilder {
    type Context = ();

    fn grow(&mut self, slots: usize) {
        self.units.resize(slots, FREE);
        self.entries.resize(slots, NONE);
    }

    fn end_key(&mut self, state: u32, key: SortedKey<'_>, (): ()) {
        self.entries[state as usize] = key.number;
    }

    fn set_base(&mut self, state: u32, base: usize) {
        self.units[state as usize][BASE] = base as u32;
    }

    fn add_child(&mut self, step: TrieStep) {
        self.units[step.state as usize][PARENT] = step.parent;
        self.steps.push(step);
    }
}

// A state of a double array in four bytes.
//
// A node stores the byte that leads to it, its label, instead of its parent. No two states have the same base, so the
// label identifies the parent (Yata's darts-clone). A walk reads one cache line a byte.

const IS_FINAL: u32 = 1 << 8;
const BASE_SHIFT: u32 = 9;

/// The largest base that a node can store.
pub(crate) const MAX_BASE: usize = (1 << (32 - BASE_SHIFT)) - 1;

/// From the lowest bit: the label, whether a key ends here, and the base of the children.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CompactNode(u32);

impl CompactNode {
    /// Return a node that `label` leads to, without children.
    pub(crate) fn with_label(label: u8) -> Self {
        Self(u32::from(label))
    }

    /// Let a key end here.
    pub(crate) fn set_final(&mut self) {
        self.0 |= IS_FINAL;
    }

    /// Set the label of a node that has none yet.
    pub(crate) fn set_label(&mut self, label: u8) {
        self.0 |= u32::from(label);
    }

    /// Set the base of a node that has none yet; it is at most [`MAX_BASE`].
    pub(crate) fn set_base(&mut self, base: usize) {
        self.0 |= (base as u32) << BASE_SHIFT;
    }

    /// Return the slot of the child by `byte`, if there is one: then that child has this label.
    #[inline(always)]
    pub(crate) fn child(self, byte: u8) -> usize {
        self.base() ^ usize::from(byte)
    }

    /// Return whether `byte` leads to this node.
    #[inline(always)]
    pub(crate) fn has_label(self, byte: u8) -> bool {
        self.0 as u8 == byte
    }

    /// Return whether a key ends here.
    #[inline(always)]
    pub(crate) fn is_final(self) -> bool {
        self.0 & IS_FINAL != 0
    }

    /// Return the base of the children.
    #[inline(always)]
    pub(crate) fn base(self) -> usize {
        (self.0 >> BASE_SHIFT) as usize
    }

    /// Return the node of these bits, as a table section stores it.
    pub(crate) fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Return the bits of the node.
    pub(crate) fn bits(self) -> u32 {
        self.0
    }
}

// The table sections of a trie, checked when they are read: the trie has exactly the keys it should have.
//
// Models rely on that: with another trie, a match could be longer than the text.

/// The names of the table sections.
const UNITS: &str = "trie.units";
const ENTRIES: &str = "trie.entries";

impl Trie {
    /// Add the table sections of the trie.
    pub(crate) fn store(&self, sections: &mut TableSections) {
        sections.put(UNITS, &self.units);
        sections.put(ENTRIES, &self.entries);
    }

    /// Return the sections of a trie among others.
    pub(crate) fn stored_sections(all: &TableSections) -> TableSections {
        all.only(&[UNITS, ENTRIES])
    }

    /// Read the trie of some sets of keys, each key once, from `sections` if they contain it; else build it.
    pub(crate) fn restore_or_build<const SETS: usize>(
        sections: &TableSections,
        sets: [Vec<(&[u8], u32)>; SETS],
    ) -> Result<(Self, Vec<TrieStep>), Error> {
        if sections.has(UNITS) {
            restore(sections, &sets)
        } else {
            Self::build(sets)
        }
    }
}

/// Read the trie of these sets of keys; also return its states in breadth-first order.
///
/// Linear in the slots and the bytes of the keys.
fn restore(sections: &TableSections, sets: &[Vec<(&[u8], u32)>]) -> Result<(Trie, Vec<TrieStep>), Error> {
    let trie = Trie { units: sections.get(UNITS)?, entries: sections.get(ENTRIES)? };
    let slots = trie.units.len();
    let is_whole = slots >= BLOCK && slots.is_multiple_of(BLOCK) && slots < MAX_SLOTS;
    if !is_whole || trie.entries.len() != slots {
        return Err(damaged(UNITS, format!("{slots} slots and {} entries", trie.entries.len())));
    }
    // Slots come in blocks of 256, so all children of a base within the array are within it.
    let is_within = |unit: &[u32; 2]| {
        (unit[BASE] as usize) < slots && (unit[PARENT] >= NO_PARENT || (unit[PARENT] as usize) < slots)
    };
    if !trie.units.iter().all(is_within) {
        return Err(damaged(UNITS, "a step that leads nowhere"));
    }
    let steps = breadth_first(&trie, sets.len()).ok_or_else(|| damaged(UNITS, "states below no root"))?;
    if !has_exactly(&trie, sets) {
        return Err(damaged(ENTRIES, "other keys"));
    }
    Ok((trie, steps))
}

/// Return whether every key ends at its number, and no other key ends anywhere.
fn has_exactly(trie: &Trie, sets: &[Vec<(&[u8], u32)>]) -> bool {
    let mut ended = 0;
    for (root, keys) in (0..).zip(sets) {
        for &(key, number) in keys.iter().filter(|(key, _)| !key.is_empty()) {
            let mut state = root;
            for &byte in key {
                let Some(next) = trie.child(state, byte) else { return false };
                state = next;
            }
            if trie.entry(state) != Some(number) {
                return false;
            }
            ended += 1;
        }
    }
    ended == trie.entries.iter().filter(|&&entry| entry != NONE).count()
}

/// Return all states but the roots, each after its parent; `None` if a state is below no root or leads to no entry.
fn breadth_first(trie: &Trie, roots: usize) -> Option<Vec<TrieStep>> {
    let children = trie.children();
    let mut steps = Vec::with_capacity(children.count);
    let expand = |state: u32, depth: u32, steps: &mut Vec<TrieStep>| {
        let base = trie.units[state as usize][BASE];
        let mut child = children.first[state as usize];
        let is_leaf = child == ChildLists::END;
        if is_leaf && depth > 1 && trie.entries[state as usize] == NONE {
            return false;
        }
        while child != ChildLists::END {
            // No step leads to a child in another block.
            let Ok(byte) = u8::try_from(base ^ child) else { return false };
            steps.push(TrieStep { parent: state, byte, state: child, depth });
            child = children.next[child as usize];
        }
        true
    };
    let mut is_whole = trie.units.iter().filter(|unit| unit[PARENT] == NO_PARENT).count() == roots;
    for root in 0..roots as u32 {
        is_whole &= trie.units[root as usize][PARENT] == NO_PARENT && expand(root, 1, &mut steps);
    }
    let mut at = 0;
    while let Some(&TrieStep { state, depth, .. }) = steps.get(at).filter(|_| is_whole) {
        is_whole &= expand(state, depth + 1, &mut steps);
        at += 1;
    }
    (is_whole && steps.len() == children.count).then_some(steps)
}
