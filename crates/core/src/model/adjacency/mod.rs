//! Where a word can be split before segmentation: between two characters that are adjacent in no token.
//!
//! No token and no merge crosses such a position, so both parts are segmented as they are alone. Parts are shorter than
//! words and often the same.
//!
//! ```text
//! chars  for models whose tokens are text
//! bytes  for byte-level models, whose tokens may begin and end within characters, or have several words
//! ```

mod bytes;
mod chars;

use foldhash::HashSet;

pub use bytes::ByteAdjacency;
pub use chars::CharAdjacency;

/// Bits for each pair of characters: at most one position in 16 is not split although it could be.
const BITS_PER_PAIR: usize = 16;
const MIN_BITS: usize = 1 << 12;

/// A set of pairs of numbers with false positives: one bit for the hash of each pair.
#[derive(Clone, Debug)]
struct PairFilter {
    bits: Vec<u64>,
    shift: u32,
}

impl PairFilter {
    /// Return the filter of these pairs, with at least this many bits for each.
    fn of(pairs: HashSet<(u32, u32)>, bits_per_pair: usize) -> Self {
        let bits = (pairs.len() * bits_per_pair).next_power_of_two().max(MIN_BITS);
        let mut filter = Self { bits: vec![0; bits / 64], shift: 64 - bits.trailing_zeros() };
        for (one, next) in pairs {
            let bit = filter.bit_of(one, next);
            filter.bits[bit / 64] |= 1 << (bit % 64);
        }
        filter
    }

    /// Return whether a pair may be in the set; `false` is always right.
    #[inline]
    fn may_contain(&self, one: u32, next: u32) -> bool {
        let bit = self.bit_of(one, next);
        self.bits[bit / 64] >> (bit % 64) & 1 != 0
    }

    #[inline]
    fn bit_of(&self, one: u32, next: u32) -> usize {
        let pair = u64::from(one) << 32 | u64::from(next);
        (pair.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    /// Return the bytes of memory.
    fn bytes(&self) -> usize {
        size_of_val(self.bits.as_slice())
    }
}

/// Return up to eight bytes as a number.
fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
