//! Recent decisions about pairs of tokens: a direct-mapped cache.
//!
//! A bijection mixes the bits of a pair. Some of them select the slot, which stores the others, so a lookup never
//! returns the decision of another pair.

use piecework_kernels::merges::NUMBER_BITS;

const PAIR_BITS: u32 = 2 * NUMBER_BITS;
/// 128 KB: half of the second-level cache of small machines.
const SLOT_BITS: u32 = 15;
const TAG_BITS: u32 = PAIR_BITS - SLOT_BITS;
/// Greater than any tag with its decision.
const FREE: u32 = u32::MAX;

/// The slots, allocated at the first lookup: a tag, and the decision in the lowest bit.
#[derive(Clone, Debug, Default)]
pub(super) struct ValidPairCache(Vec<u32>);

impl ValidPairCache {
    /// Return the cached decision about a pair, or the result of `find`, which is cached.
    #[inline]
    pub(super) fn get_or_compute(&mut self, left: u32, right: u32, find: impl FnOnce() -> bool) -> bool {
        if self.0.is_empty() {
            self.0.resize(1 << SLOT_BITS, FREE);
        }
        let pair = u64::from(left) << NUMBER_BITS | u64::from(right);
        let mixed = pair.wrapping_mul(0x9E37_79B9_7F4A_7C15) & ((1 << PAIR_BITS) - 1);
        let tag = (mixed as u32 & ((1 << TAG_BITS) - 1)) << 1;
        let slot = &mut self.0[(mixed >> TAG_BITS) as usize];
        if *slot & !1 != tag {
            *slot = tag | u32::from(find());
        }
        *slot & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_distinguished() {
        let mut valid_pairs = ValidPairCache::default();
        let is_even = |left: u32, right: u32| (left / 3 + right) & 1 == 0;
        for _ in 0..2 {
            for left in (0..1 << NUMBER_BITS).step_by(7001) {
                for right in (0..1 << NUMBER_BITS).step_by(6007).chain(0..50) {
                    let is_valid = valid_pairs.get_or_compute(left, right, || is_even(left, right));
                    assert_eq!(is_valid, is_even(left, right));
                }
            }
        }
    }
}
