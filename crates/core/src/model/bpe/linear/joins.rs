//! Which two entries join to which, by their numbers: a flat table of 64-bit slots behind a filter of bits.

use super::NONE;

/// Numbers have so many bits, and are all below the number that has nothing but ones.
pub(super) const NUMBER_BITS: u32 = 21;
pub(super) const NUMBER_BOUND: u32 = (1 << NUMBER_BITS) - 1;
const FREE: u64 = u64::MAX;
/// Bits of the filter for each slot, as a power of two.
const FILTER_BITS: u32 = 3;

/// The table; at most four fifths full, as hardly any pair is sought in vain.
#[derive(Clone, Debug)]
pub(super) struct Joins {
    /// Left, right and joined, from the top.
    slots: Vec<u64>,
    shift: u32,
    /// Two bits in one word for each pair: most pairs that are not joined are told by it alone.
    filter: Vec<u64>,
}

impl Joins {
    pub(super) fn with_room_for(pairs: usize) -> Self {
        let bits = (pairs + pairs / 4).next_power_of_two().ilog2().max(6);
        let filter = vec![0; 1 << (bits + FILTER_BITS - 6)];
        Self { slots: vec![FREE; 1 << bits], shift: 64 - bits, filter }
    }

    /// Let two entries join, which did not.
    pub(super) fn insert(&mut self, left: u32, right: u32, joined: u32) {
        let hash = hash(left, right);
        let slot = self.slot_of(left, right, hash);
        self.slots[slot] = key(left, right) << (NUMBER_BITS + 1) | u64::from(joined);
        let (word, bits) = self.filter_bits(hash);
        self.filter[word] |= bits;
    }

    /// What two entries join to, or `NONE`.
    #[inline]
    pub(super) fn joined(&self, left: u32, right: u32) -> u32 {
        let hash = hash(left, right);
        let (word, bits) = self.filter_bits(hash);
        if self.filter[word] & bits != bits {
            return NONE;
        }
        match self.slots[self.slot_of(left, right, hash)] {
            FREE => NONE,
            slot => slot as u32 & NUMBER_BOUND,
        }
    }

    /// Where a pair is, or would be.
    #[inline]
    fn slot_of(&self, left: u32, right: u32, hash: u64) -> usize {
        let sought = key(left, right);
        let mut at = (hash >> self.shift) as usize;
        loop {
            let slot = self.slots[at];
            if slot >> (NUMBER_BITS + 1) == sought || slot == FREE {
                return at;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    #[inline]
    fn filter_bits(&self, hash: u64) -> (usize, u64) {
        let bits = hash >> (self.shift - FILTER_BITS - 6);
        let word = (hash >> (self.shift - FILTER_BITS + 6)) as usize;
        (word, 1 << (bits & 63) | 1 << (bits >> 6 & 63))
    }

    /// The memory they take.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.slots.as_slice()) + size_of_val(self.filter.as_slice())
    }
}

#[inline]
fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << NUMBER_BITS | u64::from(right)
}

#[inline]
fn hash(left: u32, right: u32) -> u64 {
    key(left, right).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
