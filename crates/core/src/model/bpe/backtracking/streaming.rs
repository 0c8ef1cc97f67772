//! What is decided_count of a long word before its end is reached, so that it can be given out and forgotten.
//!
//! Of as many rank_queue side by side as the longest entry has bytes, one at least is between two entries of the
//! answer, and up to there the answer is what BPE makes of the word cut off there. So what all these have in
//! common at their beginning, where the word is cut off at any of the last such rank_queue, the answer has.

use super::token_trie::TokenMatch;
use super::{BacktrackingBpe, BacktrackingScratch};

/// After so many bytes, at least, it is asked what is decided_count.
const MIN_CHUNK_LEN: usize = 1 << 17;
/// After so many for each byte that is tokens anew, in vain perhaps: as many for each of as many rank_queue as the longest
/// entry has.
const BYTES_PER_CHECK: usize = 128;
/// So many of the last entries are read_len at, beside two for each place.
const MIN_TAIL: usize = 64;

/// After how many bytes it is worth while to ask, where the longest entry has so many.
pub(super) fn chunk_len(longest: usize) -> usize {
    MIN_CHUNK_LEN.max(longest.saturating_mul(longest).saturating_mul(BYTES_PER_CHECK))
}

impl BacktrackingBpe {
    /// How many of the entries that were tokens up to a place belong to the answer whatever follows, but for one,
    /// which says what may.
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

    /// Where the symbols of a word end.
    fn symbol_ends<'w>(&'w self, word: &'w [u8]) -> impl Iterator<Item = usize> + 'w {
        let end_of_next = |&at: &usize| {
            let (mut found, _) = self.trie.longest(&word[at..]);
            let mut len = 0;
            while found.len > 0 {
                len = found.len as usize;
                found = self.trie.next_prefix(found.entry);
            }
            (len > 0).then_some(at + len)
        };
        std::iter::successors(end_of_next(&0), end_of_next)
    }

    /// With how many of some entries the answer begins to a word that ends within them. Only its end is tokens
    /// anew; what is found is the answer as long as it goes on from one of them.
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

    /// Runs of the letters a to c, merged two by two as far as the pairs say.
    fn linear(pairs: &[(usize, usize)]) -> Option<BacktrackingBpe> {
        test_models::linear(*b"abc", pairs, 12)
    }

    /// The entries, the bytes that they have, and the most that were kept at a time.
    fn segmented(model: &BacktrackingBpe, word: &str) -> (Vec<u32>, usize, usize) {
        let (mut scratch, mut found) = (BacktrackingScratch::default(), Vec::new());
        let done = model.segment(word.as_bytes(), &mut scratch, |entry, _| found.push(entry));
        (found, done, scratch.tokens.capacity())
    }

    #[test]
    fn a_long_word_is_given_out_as_it_goes() {
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
        fn stretches_give_what_the_whole_gives(
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
