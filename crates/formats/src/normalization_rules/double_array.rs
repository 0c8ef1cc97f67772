//! The units of a charsmap: a minimal trie as a double array (Aoe 1989) in the format of darts-clone.
//!
//! A unit is 32 bits: bits 0..8 and 31 are the label, bit 8 says that the node has a value, bits 10..31 the offset,
//! in steps of 256 where bit 9 is set. A node has a base such that the unit at `base ^ byte` is that of its child, and
//! the one at `base` holds its value, with bit 31 set. Laying out takes O(children) for each node.

use piecework_core::double_array::Allocator;

use super::minimal_trie::{MinimalTrie, TrieNode};
use super::rule_error::RuleError;

/// Offsets of this many bits are stored without a shift.
const MAX_UNITS: usize = 1 << 21;

const HAS_VALUE: u32 = 1 << 8;
const IS_VALUE: u32 = 1 << 31;

/// Return the units of a trie.
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

/// Return the base of each node, and the number of units.
fn bases(trie: &MinimalTrie) -> Result<(Vec<usize>, usize), RuleError> {
    let mut allocator = Allocator::with_roots(1);
    let mut bases = Vec::with_capacity(trie.nodes.len());
    let mut bytes = Vec::new();
    for TrieNode { value, children } in &trie.nodes {
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

/// The units of a blob, which nothing vouches for: a lookup outside of them finds no child.
pub(super) struct Units<'b>(&'b [[u8; 4]]);

impl<'b> Units<'b> {
    /// Read units of four bytes each.
    pub(super) fn of(bytes: &'b [u8]) -> Self {
        Self(bytes.as_chunks().0)
    }

    fn unit(&self, at: usize) -> Option<u32> {
        self.0.get(at).map(|&unit| u32::from_le_bytes(unit))
    }

    /// Return the base of the root's children.
    pub(super) fn root(&self) -> usize {
        self.unit(0).map_or(0, offset_of)
    }

    /// Return the base of the children of the child by `byte`, and its value if it ends a rule.
    pub(super) fn child(&self, base: usize, byte: u8) -> Option<(usize, Option<usize>)> {
        let at = base ^ usize::from(byte);
        let unit = self.unit(at).filter(|unit| unit & (IS_VALUE | 0xFF) == u32::from(byte))?;
        let below = at ^ offset_of(unit);
        let value = if unit & HAS_VALUE == 0 { None } else { Some(self.unit(below)? & !IS_VALUE) };
        Some((below, value.map(|value| value as usize)))
    }
}

/// Return the offset of a unit.
fn offset_of(unit: u32) -> usize {
    ((unit >> 10) as usize) << ((unit & 1 << 9) >> 6)
}
