//! A trie as the units of a double array (Aoe 1989), in the format that `charsmap` reads.
//!
//! A node gets a base such that the unit at `base ^ byte` is free for each of its children, and that at
//! `base` if it has a value. Bases stay within a block of 256 units, so that all bases a block has room for
//! come from its 256 free bits, permuted once for each byte. The last blocks are tried, then a new one:
//! O(children) for each node.

use super::compile::RuleError;
use super::minimal_trie::{MinimalTrie, Node};
use crate::text::ByteSet;

/// How many blocks at the end are looked at for room.
const OPEN_BLOCKS: usize = 16;
/// Offsets of this many bits are written as they are.
const MAX_UNITS: usize = 1 << 21;

const HAS_VALUE: u32 = 1 << 8;
const IS_VALUE: u32 = 1 << 31;

/// Lay out a trie.
pub(super) fn lay_out(trie: &MinimalTrie) -> Result<Vec<u32>, RuleError> {
    let (bases, blocks) = bases(trie)?;
    // Nothing leads to a free unit: it looks like a value, whose label is no byte.
    let mut units = vec![IS_VALUE; blocks * 256];
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

/// Where the children of each node begin, and the number of blocks.
fn bases(trie: &MinimalTrie) -> Result<(Vec<usize>, usize), RuleError> {
    let mut blocks = vec![Block::NEW];
    // The first unit is the root's, and a base there would let NUL lead to it.
    blocks[0].free.remove(0);
    blocks[0].bases.remove(0);
    let mut bases = Vec::with_capacity(trie.nodes.len());
    for node in &trie.nodes {
        bases.push(place(node, &mut blocks));
        if blocks.len() * 256 > MAX_UNITS {
            let found = format!("rules that need more than {MAX_UNITS} units");
            return Err(RuleError::of_all(&found, "fewer or more similar rules"));
        }
    }
    Ok((bases, blocks.len()))
}

/// Take the first base that has room for a node.
fn place(node: &Node, blocks: &mut Vec<Block>) -> usize {
    let first = blocks.len().saturating_sub(OPEN_BLOCKS);
    let found = (first..blocks.len()).find_map(|at| Some((at, blocks[at].base_for(node)?)));
    let (at, base) = found.unwrap_or_else(|| {
        blocks.push(Block::NEW);
        (blocks.len() - 1, 0)
    });
    blocks[at].take(base, node);
    at * 256 + usize::from(base)
}

/// What is free in 256 units.
#[derive(Clone, Copy)]
struct Block {
    /// Units that nothing stands in.
    free: ByteSet,
    /// Units that are no node's base.
    bases: ByteSet,
}

impl Block {
    /// One that all is free in.
    const NEW: Self = Self { free: ByteSet::ALL, bases: ByteSet::ALL };

    fn base_for(&self, node: &Node) -> Option<u8> {
        self.bases.first_base(self.free, &taken(node))
    }

    fn take(&mut self, base: u8, node: &Node) {
        self.bases.remove(base);
        taken(node).for_each(|byte| self.free.remove(base ^ byte));
    }
}

/// The places of a node relative to its base.
fn taken(node: &Node) -> impl Iterator<Item = u8> + Clone + '_ {
    node.value.map(|_| 0).into_iter().chain(node.children.iter().map(|&(byte, _)| byte))
}
