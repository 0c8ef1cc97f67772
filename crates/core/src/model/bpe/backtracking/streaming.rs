//! The tokens at the start of a long word that are decided before its end is reached, so that they can be emitted and
//! dropped.
//!
//! Among as many adjacent positions as the longest token has bytes, at least one is a token boundary of the
//! segmentation. Up to that boundary, the word has the segmentation of its prefix that ends there. So the tokens that
//! the segmentations of all these prefixes have in common begin the segmentation of the word.

use super::token_trie::TokenMatch;
use super::{BacktrackingBpe, BacktrackingScratch};

/// The least number of bytes between two checks.
const MIN_CHUNK_LEN: usize = 1 << 17;
/// The bytes between two checks for each byte that a check segments again, which is as many for each of as many
/// positions as the longest token has bytes.
const BYTES_PER_CHECK: usize = 128;
/// A check looks at this number of the last tokens, and at two more for each position.
const MIN_TAIL: usize = 64;

/// Return the bytes between two checks, by the length of the longest token.
pub(super) fn chunk_len(longest: usize) -> usize {
    MIN_CHUNK_LEN.max(longest.saturating_mul(longest).saturating_mul(BYTES_PER_CHECK))
}

impl BacktrackingBpe {
    /// Return the number of tokens up to byte `at` that are decided. Keep the last decided one, since the next token
    /// depends on it.
    #[cold]
    pub(super) fn decided_count(&self, word: &[u8], at: usize, scratch: &mut BacktrackingScratch) -> usize {
        let first = scratch.tokens.len().saturating_sub(2 * self.longest + MIN_TAIL);
        let tail = &scratch.tokens[first..];
        let start = at - tail.iter().map(|token| token.len as usize).sum::<usize>();
        let mut lookahead = BacktrackingScratch::default();
        std::mem::swap(&mut lookahead.valid_pairs, &mut scratch.valid_pairs);
        let ends = self.symbol_ends(&word[start..at]).filter(|end| start + end + self.longest > at);
        let common_prefix =
            ends.map(|end| self.common_prefix(&word[start..start + end], tail, &mut lookahead)).min();
        scratch.valid_pairs = lookahead.valid_pairs;
        common_prefix.and_then(|count| count.checked_sub(1)).map_or(0, |count| first + count)
    }

    /// Return the positions after each first symbol of a word.
    fn symbol_ends<'w>(&'w self, word: &'w [u8]) -> impl Iterator<Item = usize> + 'w {
        let trie = self.trie();
        let end_of_next = move |&at: &usize| {
            let trie = trie?;
            let (mut found, _) = trie.longest(&word[at..]);
            let mut len = 0;
            while found.len > 0 {
                len = found.len as usize;
                found = trie.next_prefix(found.entry);
            }
            (len > 0).then_some(at + len)
        };
        std::iter::successors(end_of_next(&0), end_of_next)
    }

    /// Return the number of tokens that the segmentation of a word shares with `entries`. Segment only the end of the
    /// word again, from the last of these tokens.
    fn common_prefix(
        &self,
        word: &[u8],
        entries: &[TokenMatch],
        scratch: &mut BacktrackingScratch,
    ) -> usize {
        scratch.begin(word.len());
        let mut at = 0;
        for &entry in entries {
            if at + entry.len as usize + self.longest > word.len() {
                break;
            }
            at += entry.len as usize;
            scratch.tokens.push(entry);
        }
        let reached = self.extend_to(word.len(), word, at, scratch);
        let pairs = scratch.tokens.iter().zip(entries).filter(|_| reached.is_some());
        pairs.take_while(|(one, other)| one.entry == other.entry).count()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{test_models, BacktrackingBpe, BacktrackingScratch};

    /// Return a model of the letters a to c with these merges, by indices of symbols.
    fn linear(pairs: &[(usize, usize)]) -> Option<BacktrackingBpe> {
        test_models::linear(*b"abc", pairs, 12)
    }

    /// Return the ids, the segmented bytes, and the capacity for pending tokens.
    fn segmented(model: &BacktrackingBpe, word: &str) -> (Vec<u32>, usize, usize) {
        let (mut scratch, mut found) = (BacktrackingScratch::default(), Vec::new());
        let done = model.segment(word.as_bytes(), &mut scratch, |entry, _| found.push(entry));
        (found, done, scratch.tokens.capacity())
    }

    #[test]
    fn decided_tokens_of_a_long_word_are_emitted_early() {
        let mut model = linear(&[(0, 0), (0, 1), (3, 3), (4, 0), (5, 1)]).unwrap();
        for word in ["a".repeat(100_000), "ab".repeat(50_000), "aabac".repeat(20_000)] {
            model.chunk_len = usize::MAX;
            let (whole, done, _) = segmented(&model, &word);
            model.chunk_len = 100;
            let (found, found_done, kept) = segmented(&model, &word);
            assert_eq!((&found, found_done, done), (&whole, word.len(), word.len()));
            assert!(kept < 1000, "{kept} entries kept of {}", found.len());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn chunks_equal_the_whole(
            pairs in prop::collection::vec((0..40usize, 0..40usize), 1..20),
            word in "([abc]{1,12}){1,40}|(a{1,30}b{0,3}){1,20}|[abc]{1,3}",
            times in 1..20usize,
            chunk_len in 1..60usize,
        ) {
            let Some(mut model) = linear(&pairs) else { return Ok(()) };
            let word = word.repeat(times);
            model.chunk_len = usize::MAX;
            let (whole, done, _) = segmented(&model, &word);
            model.chunk_len = chunk_len;
            let (found, found_done, _) = segmented(&model, &word);
            prop_assert!(whole.starts_with(&found) || found.starts_with(&whole));
            prop_assert!(found_done >= done);
        }
    }
}
