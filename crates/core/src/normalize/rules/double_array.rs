//! A trie as the units of a double array (Aoe 1989), in the format that `charsmap` reads.
//!
//! A node gets a base such that the unit at `base ^ byte` is free for each of its children, and that at
//! `base` if it has a value. Bases stay within a block of 256 units, so that all bases a block has room for
//! come from its 256 free bits, permuted once for each byte. The last blocks are tried, then a new one:
//! O(children) for each node.

use super::compile::RuleError;
use super::minimal_trie::{MinimalTrie, Node};

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
    let mut blocks = vec![Block::default()];
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
        blocks.push(Block::default());
        (blocks.len() - 1, 0)
    });
    blocks[at].take(base, node);
    at * 256 + usize::from(base)
}

/// What is free in 256 units.
#[derive(Clone, Copy, Default)]
struct Block {
    /// Units that nothing stands in.
    free: Bits,
    /// Units that are no node's base.
    bases: Bits,
}

impl Block {
    fn base_for(&self, node: &Node) -> Option<u8> {
        let mut fits = self.bases;
        for byte in taken(node) {
            fits = fits.and(self.free.exchanged(byte));
        }
        fits.first()
    }

    fn take(&mut self, base: u8, node: &Node) {
        self.bases.remove(base);
        taken(node).for_each(|byte| self.free.remove(base ^ byte));
    }
}

/// The places of a node relative to its base.
fn taken(node: &Node) -> impl Iterator<Item = u8> + '_ {
    node.value.map(|_| 0).into_iter().chain(node.children.iter().map(|&(byte, _)| byte))
}

/// A set of bytes.
#[derive(Clone, Copy)]
struct Bits([u64; 4]);

impl Default for Bits {
    fn default() -> Self {
        Self([u64::MAX; 4])
    }
}

impl Bits {
    fn and(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }

    fn remove(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] &= !(1 << (byte & 63));
    }

    fn first(self) -> Option<u8> {
        let at = self.0.iter().position(|&word| word != 0)?;
        Some((at as u32 * 64 + self.0[at].trailing_zeros()) as u8)
    }

    /// The set of all `x` for which `x ^ byte` is in this one.
    fn exchanged(self, byte: u8) -> Self {
        /// The lower half of each pair of neighbours that are 1, 2, 4, ... bits wide.
        const LOWER: [u64; 6] = [
            0x5555_5555_5555_5555,
            0x3333_3333_3333_3333,
            0x0F0F_0F0F_0F0F_0F0F,
            0x00FF_00FF_00FF_00FF,
            0x0000_FFFF_0000_FFFF,
            0x0000_0000_FFFF_FFFF,
        ];
        let swapped = |word: u64| {
            let bits = (0..6).filter(|bit| byte >> bit & 1 == 1);
            bits.fold(word, |word, bit| {
                let lower = LOWER[bit];
                (word & lower) << (1 << bit) | (word >> (1 << bit)) & lower
            })
        };
        Self(std::array::from_fn(|at| swapped(self.0[at ^ usize::from(byte >> 6)])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchanging_moves_every_bit_by_exclusive_or() {
        for byte in 0..=255u8 {
            for other in [0u8, 1, 63, 64, 100, 200, 255] {
                let mut set = Bits::default();
                set.remove(other);
                let gone = (0..=255u8)
                    .filter(|&x| set.exchanged(byte).0[usize::from(x >> 6)] >> (x & 63) & 1 == 0);
                assert_eq!(gone.collect::<Vec<_>>(), [other ^ byte]);
            }
        }
    }
}
