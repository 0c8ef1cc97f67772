//! What is decided of a long word before its end is reached, so that it can be given out and forgotten.
//!
//! Of as many places side by side as the longest entry has bytes, one at least is between two entries of the
//! answer, and up to there the answer is what BPE makes of the word cut off there. So what all these have in
//! common at their beginning, where the word is cut off at any of the last such places, the answer has.

use super::prefixes::Match;
use super::{Linear, Walk};

/// After so many bytes, at least, it is asked what is decided.
const STRETCH: usize = 1 << 17;
/// After so many for each byte that is taken anew, in vain perhaps: as many for each of as many places as the longest
/// entry has.
const BYTES_PER_LOOK: usize = 128;
/// So many of the last entries are looked at, beside two for each place.
const TAIL: usize = 64;

/// After how many bytes it is worth while to ask, where the longest entry has so many.
pub(super) fn stretch(longest: usize) -> usize {
    STRETCH.max(longest.saturating_mul(longest).saturating_mul(BYTES_PER_LOOK))
}

impl Linear {
    /// How many of the entries that were taken up to a place belong to the answer whatever follows, but for one,
    /// which says what may.
    #[cold]
    pub(super) fn decided(&self, word: &[u8], at: usize, walk: &mut Walk) -> usize {
        let first = walk.taken.len().saturating_sub(2 * self.longest + TAIL);
        let tail = &walk.taken[first..];
        let start = at - tail.iter().map(|taken| taken.len as usize).sum::<usize>();
        let mut trial = Walk { verdicts: std::mem::take(&mut walk.verdicts), ..Walk::default() };
        let ends = self.symbol_ends(&word[start..at]).filter(|end| start + end + self.longest > at);
        let in_common = ends.map(|end| self.in_common(&word[start..start + end], tail, &mut trial)).min();
        walk.verdicts = trial.verdicts;
        in_common.and_then(|count| count.checked_sub(1)).map_or(0, |count| first + count)
    }

    /// Where the symbols of a word end.
    fn symbol_ends<'w>(&'w self, word: &'w [u8]) -> impl Iterator<Item = usize> + 'w {
        let end_of_next = |&at: &usize| {
            let (mut found, _) = self.prefixes.longest(&word[at..]);
            let mut len = 0;
            while found.len > 0 {
                len = found.len as usize;
                found = self.prefixes.shorter(found.entry);
            }
            (len > 0).then_some(at + len)
        };
        std::iter::successors(end_of_next(&0), end_of_next)
    }

    /// With how many of some entries the answer begins to a word that ends within them. Only its end is taken
    /// anew; what is found is the answer as long as it goes on from one of them.
    fn in_common(&self, word: &[u8], entries: &[Match], trial: &mut Walk) -> usize {
        trial.begin(word.len());
        let mut at = 0;
        for &entry in entries {
            if at + entry.len as usize + self.longest > word.len() {
                break;
            }
            at += entry.len as usize;
            trial.taken.push(entry);
        }
        let reached = self.take_up_to(word.len(), word, at, trial);
        let pairs = trial.taken.iter().zip(entries).filter(|_| reached.is_some());
        pairs.take_while(|(one, other)| one.entry == other.entry).count()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{small, Linear, Walk};

    /// Runs of the letters a to c, joined two by two as far as the pairs say.
    fn linear(pairs: &[(usize, usize)]) -> Option<Linear> {
        small::linear(*b"abc", pairs, 12)
    }

    /// The entries, the bytes that they have, and the most that were kept at a time.
    fn segmented(linear: &Linear, word: &str) -> (Vec<u32>, usize, usize) {
        let (mut walk, mut found) = (Walk::default(), Vec::new());
        let done = linear.segment(word.as_bytes(), &mut walk, |entry, _| found.push(entry));
        (found, done, walk.taken.capacity())
    }

    #[test]
    fn a_long_word_is_given_out_as_it_goes() {
        let mut linear = linear(&[(0, 0), (0, 1), (3, 3), (4, 0), (5, 1)]).unwrap();
        for word in ["a".repeat(100_000), "ab".repeat(50_000), "aabac".repeat(20_000)] {
            linear.stretch = usize::MAX;
            let (whole, done, _) = segmented(&linear, &word);
            linear.stretch = 100;
            let (found, found_done, kept) = segmented(&linear, &word);
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
            stretch in 1..60usize,
        ) {
            let Some(mut linear) = linear(&pairs) else { return Ok(()) };
            let word = word.repeat(times);
            linear.stretch = usize::MAX;
            let (whole, done, _) = segmented(&linear, &word);
            linear.stretch = stretch;
            let (found, found_done, _) = segmented(&linear, &word);
            prop_assert!(whole.starts_with(&found) || found.starts_with(&whole));
            prop_assert!(found_done >= done);
        }
    }
}
