//! A trie that a file holds, checked: it is one of the keys that it should hold, and of no others.
//!
//! What is built on it relies on that: with another trie, a match could be longer than the text.

use super::{Step, Trie, BASE, BLOCK, ENTRIES, NOBODY, NONE, PARENT, UNITS};
use crate::error::Error;
use crate::table_sections::{damaged, TableSections};

/// Put together the trie of these sets of keys; also gives its states in breadth-first order.
///
/// Linear in the slots and the bytes of the keys.
pub(super) fn restore(
    parts: &TableSections,
    sets: &[Vec<(&[u8], u32)>],
) -> Result<(Trie, Vec<Step>), Error> {
    let trie = Trie { units: parts.get(UNITS)?, entries: parts.get(ENTRIES)? };
    let slots = trie.units.len();
    let is_whole = slots >= BLOCK && slots.is_multiple_of(BLOCK) && slots < (NONE / 2) as usize;
    if !is_whole || trie.entries.len() != slots {
        return Err(damaged(UNITS, format!("{slots} slots and {} entries", trie.entries.len())));
    }
    // Slots come in blocks of 256, so a base within the array keeps all children within it.
    let leads_within = |unit: &[u32; 2]| {
        (unit[BASE] as usize) < slots && (unit[PARENT] >= NOBODY || (unit[PARENT] as usize) < slots)
    };
    if !trie.units.iter().all(leads_within) {
        return Err(damaged(UNITS, "a step that leads nowhere"));
    }
    let steps = breadth_first(&trie, sets.len()).ok_or_else(|| damaged(UNITS, "states below no root"))?;
    if !holds(&trie, sets) {
        return Err(damaged(ENTRIES, "other keys"));
    }
    Ok((trie, steps))
}

/// Whether every key ends where its number stands, and nothing else ends anywhere.
fn holds(trie: &Trie, sets: &[Vec<(&[u8], u32)>]) -> bool {
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

/// All states but the roots, each after its parent; `None` if some hang below none, or lead to no entry.
fn breadth_first(trie: &Trie, roots: usize) -> Option<Vec<Step>> {
    let (first, children) = children(trie);
    let mut steps = Vec::with_capacity(children.len());
    let expand = |state: u32, depth: u32, steps: &mut Vec<Step>| {
        let base = trie.units[state as usize][BASE];
        let is_leaf = first[state as usize] == first[state as usize + 1];
        if is_leaf && depth > 1 && trie.entries[state as usize] == NONE {
            return false;
        }
        for &child in &children[first[state as usize] as usize..first[state as usize + 1] as usize] {
            // A child that stands elsewhere is never stepped to.
            let Ok(byte) = u8::try_from(base ^ child) else { return false };
            steps.push(Step { parent: state, byte, state: child, depth });
        }
        true
    };
    let mut is_whole = trie.units.iter().filter(|unit| unit[PARENT] == NOBODY).count() == roots;
    for root in 0..roots as u32 {
        is_whole &= trie.units[root as usize][PARENT] == NOBODY && expand(root, 1, &mut steps);
    }
    let mut at = 0;
    while let Some(&Step { state, depth, .. }) = steps.get(at).filter(|_| is_whole) {
        is_whole &= expand(state, depth + 1, &mut steps);
        at += 1;
    }
    (is_whole && steps.len() == children.len()).then_some(steps)
}

/// The children of all states, those of a state together, and where those of each begin.
fn children(trie: &Trie) -> (Vec<u32>, Vec<u32>) {
    let mut first = vec![0; trie.units.len() + 1];
    for unit in trie.units.iter().filter(|unit| unit[PARENT] < NOBODY) {
        first[unit[PARENT] as usize + 1] += 1;
    }
    for state in 0..trie.units.len() {
        first[state + 1] += first[state];
    }
    let mut children = vec![0; first[trie.units.len()] as usize];
    let mut next = first.clone();
    for (slot, unit) in (0..).zip(trie.units.iter()).filter(|(_, unit)| unit[PARENT] < NOBODY) {
        let place = &mut next[unit[PARENT] as usize];
        children[*place as usize] = slot;
        *place += 1;
    }
    (first, children)
}
