//! The table sections of a trie, checked when they are read: the trie has exactly the keys it should have.
//!
//! Models rely on that: with another trie, a match could be longer than the text.

use super::allocator::BLOCK;
use super::builder::TrieStep;
use super::trie::{ChildLists, Trie, BASE, MAX_SLOTS, NONE, NO_PARENT, PARENT};
use crate::error::Error;
use crate::table_sections::{damaged, TableSections};

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

/// Read the trie of these sets of keys; also returns its states in breadth-first order.
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
