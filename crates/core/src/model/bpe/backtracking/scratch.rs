//! The state of one walk through a word, with a bound on its steps.

use super::token_trie::TokenMatch;
use super::valid_pair_cache::ValidPairCache;

/// The average number of steps for each byte after which the fallback takes over: in runs of one letter, for example,
/// tokens may be tried without success at every position. A step reads a byte of the trie, tries a token or looks up
/// a merge.
const STEPS_PER_BYTE: usize = 32;
/// The number of steps that every word has in addition.
const MIN_STEPS: usize = 4096;
/// The number of bytes of a word for each dead end that a walk may find.
const BYTES_PER_DEAD_END: usize = 2;
const MIN_DEAD_ENDS: usize = 64;

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
