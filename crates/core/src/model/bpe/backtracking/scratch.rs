//! The state of walks through words: a bound on the steps of each, and recent decisions about pairs of tokens.

use piecework_kernels::merges::NUMBER_BITS;

use super::token_trie::TokenMatch;

/// The average number of steps for each byte after which the fallback takes over: in runs of one letter, for example,
/// tokens may be tried without success at every position. A step reads a byte of the trie, tries a token or looks up
/// a merge.
const STEPS_PER_BYTE: usize = 32;
/// The number of steps that every word has in addition.
const MIN_STEPS: usize = 4096;
/// The number of bytes of a word for each dead end that a walk may find.
const BYTES_PER_DEAD_END: usize = 2;
const MIN_DEAD_ENDS: usize = 64;

const PAIR_BITS: u32 = 2 * NUMBER_BITS;
/// The slots of recent pairs, 128 KB: half of the second-level cache of small machines.
const SLOT_BITS: u32 = 15;
const TAG_BITS: u32 = PAIR_BITS - SLOT_BITS;
/// Greater than any tag with its decision.
const FREE: u32 = u32::MAX;

/// The tokens so far and the dead ends.
#[derive(Clone, Debug, Default)]
pub(in crate::model) struct BacktrackingScratch {
    pub(super) tokens: Vec<TokenMatch>,
    /// A bit for each byte that is a dead end; empty before the first one.
    dead_ends: Vec<u64>,
    word_len: usize,
    /// The number of steps before the walk stops.
    pub(super) steps_left: usize,
    /// The number of dead ends before the walk stops.
    dead_ends_left: usize,
    pub(super) valid_pairs: ValidPairCache,
}

impl BacktrackingScratch {
    pub(super) fn begin(&mut self, word_len: usize) {
        self.tokens.clear();
        self.dead_ends.clear();
        self.word_len = word_len;
        self.steps_left = MIN_STEPS + STEPS_PER_BYTE * word_len;
        self.dead_ends_left = MIN_DEAD_ENDS + word_len / BYTES_PER_DEAD_END;
    }

    /// Count steps; `None` if there are too many.
    pub(super) fn spend(&mut self, times: u32) -> Option<()> {
        self.steps_left = self.steps_left.checked_sub(times as usize)?;
        Some(())
    }

    #[inline]
    pub(super) fn is_dead_end(&self, at: usize) -> bool {
        self.dead_ends.get(at / 64).is_some_and(|bits| bits >> (at % 64) & 1 != 0)
    }

    #[cold]
    pub(super) fn set_dead_end(&mut self, at: usize) -> Option<()> {
        if self.dead_ends.is_empty() {
            self.dead_ends.resize(self.word_len / 64 + 1, 0);
        }
        self.dead_ends[at / 64] |= 1 << (at % 64);
        self.dead_ends_left = self.dead_ends_left.checked_sub(1)?;
        Some(())
    }
}

/// Recent decisions about pairs of tokens: a direct-mapped cache.
///
/// A bijection mixes the bits of a pair. Some of them select the slot, which stores the others, so a lookup never returns
/// the decision of another pair. The slots, allocated at the first lookup, are a tag, and the decision in the lowest bit.
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
