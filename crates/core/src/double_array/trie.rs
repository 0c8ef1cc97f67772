//! A byte trie whose states name their parents: a step is two reads and a comparison.
//!
//! Several sets of keys may share the array; the root of set `i` is state `i`. Matches of whole UTF-8 keys end at
//! character boundaries.

use piecework_kernels::array::Array;

use super::builder::{build_breadth_first, sorted_keys, SortedKey, TrieLayout, TrieStep};
use super::node::CompactNode;
use crate::error::{Error, ErrorKind};

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
    /// Build from at most 256 sets of keys; also returns all states but the roots in breadth-first order. Empty keys
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
