//! Encodes a minimal trie as the units of a double array (Aoe 1989) in the format of darts-clone, which `charsmap`
//! reads.
//!
//! A node has a base such that the unit at `base ^ byte` is free for each of its children, and the one at `base` for its
//! value: O(children) for each node.

use super::minimal_trie::{MinimalTrie, Node};
use super::rule_error::RuleError;
use crate::double_array::Allocator;

/// Offsets of this many bits are stored without a shift.
const MAX_UNITS: usize = 1 << 21;

const HAS_VALUE: u32 = 1 << 8;
const IS_VALUE: u32 = 1 << 31;

/// The units of a trie.
pub(super) fn lay_out(trie: &MinimalTrie) -> Result<Vec<u32>, RuleError> {
    let (bases, slots) = bases(trie)?;
    // A free unit is a value, so that no byte is its label.
    let mut units = vec![IS_VALUE; slots];
    for (node, &base) in trie.nodes.iter().zip(&bases) {
        if let Some(value) = node.value {
            units[base] = IS_VALUE | value;
        }
        for &(byte, child) in &node.children {
            let at = base ^ usize::from(byte);
            let has_value = if trie.nodes[child as usize].value.is_some() { HAS_VALUE } else { 0 };
            units[at] = offset(at, bases[child as usize]) | has_value | u32::from(byte);
        }
    }
    units[0] = offset(0, bases.last().copied().unwrap_or_default());
    Ok(units)
}

fn offset(from: usize, to: usize) -> u32 {
    ((from ^ to) as u32) << 10
}

/// The base of each node, and the number of units.
fn bases(trie: &MinimalTrie) -> Result<(Vec<usize>, usize), RuleError> {
    let mut allocator = Allocator::with_roots(1);
    let mut bases = Vec::with_capacity(trie.nodes.len());
    let mut bytes = Vec::new();
    for Node { value, children } in &trie.nodes {
        bytes.clear();
        bytes.extend(value.map(|_| 0).into_iter().chain(children.iter().map(|&(byte, _)| byte)));
        bases.push(allocator.allocate(&bytes));
        if allocator.slots() > MAX_UNITS {
            let found = format!("rules that need more than {MAX_UNITS} units");
            return Err(RuleError::of_all(&found, "fewer or more similar rules"));
        }
    }
    Ok((bases, allocator.slots()))
}
