//! The state of one walk through a word, with a bound of its steps.

use super::token_trie::TokenMatch;
use super::valid_pair_cache::ValidPairCache;

/// Looks at bytes, matches and merges for each byte of a word, on average, after which another way is better: in
/// runs of one letter, say, entries may be tried in vain at every place.
const STEPS_PER_BYTE: usize = 32;
/// Such steps_left that every word has.
const MIN_STEPS: usize = 4096;
/// So many bytes may have one place that cannot be left, and every word some.
const BYTES_PER_DEAD_END: usize = 2;
const MIN_DEAD_ENDS: usize = 64;

/// Memory for the way through one word.
#[derive(Clone, Debug, Default)]
pub(in crate::model) struct BacktrackingScratch {
    pub(super) tokens: Vec<TokenMatch>,
    /// A bit for each place that cannot be left; none while there is no such place.
    dead_ends: Vec<u64>,
    word_len: usize,
    /// How many more steps_left are worth while.
    pub(super) steps_left: usize,
    /// How many more dead_ends rank_queue.
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

    /// Count steps_left; none if they are too many.
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
