//! What the tokens of a byte-level model have around their ASCII spaces: up to four bytes before a space, and up to four
//! after it. A token that has fewer of them begins or ends there.

use foldhash::{HashMap, HashSet};
use memchr::memchr_iter;

use super::{little_endian, PairFilter};

/// The most bytes on each side of a space.
const MOST: usize = 4;

/// The surroundings of the spaces of tokens.
#[derive(Clone, Debug)]
pub(super) struct SpaceContexts {
    contexts: PairFilter,
    /// The numbers of bytes before and after the spaces, the most frequent first.
    shapes: Vec<(usize, usize)>,
    /// Whether a token has a space after another character than whitespace.
    are_between_words: bool,
}

impl SpaceContexts {
    /// Collect the surroundings of the spaces of tokens with these bytes.
    pub(super) fn of<'t>(tokens: impl Iterator<Item = &'t [u8]>) -> Self {
        let mut contexts = HashSet::default();
        let mut shapes: HashMap<(usize, usize), usize> = HashMap::default();
        let mut are_between_words = false;
        for token in tokens {
            for space in memchr_iter(b' ', token).filter(|&space| space > 0) {
                let shape = (space.min(MOST), (token.len() - space - 1).min(MOST));
                contexts.insert(context(token, space, shape));
                *shapes.entry(shape).or_default() += 1;
                are_between_words |= !token[space - 1].is_ascii_whitespace();
            }
        }
        let mut shapes: Vec<_> = shapes.into_iter().collect();
        shapes.sort_unstable_by(|one, two| (two.1, one.0).cmp(&(one.1, two.0)));
        let shapes = shapes.into_iter().map(|(shape, _)| shape).collect();
        Self { contexts: PairFilter::of(contexts), shapes, are_between_words }
    }

    /// Return whether a token has a space after another character than whitespace.
    pub(super) fn are_between_words(&self) -> bool {
        self.are_between_words
    }

    /// Return whether no token has this space of a word after another byte.
    fn can_split(&self, word: &[u8], space: usize) -> bool {
        let fits = |&&(before, after): &&(usize, usize)| before <= space && after < word.len() - space;
        !self.shapes.iter().filter(fits).any(|&shape| {
            let (before, after) = context(word, space, shape);
            self.contexts.may_contain(before, after)
        })
    }

    /// Split a word of a text before spaces; append the starts and ends of its parts.
    pub(super) fn split(
        &self,
        text: &str,
        (start, end): (u32, u32),
        starts: &mut Vec<u32>,
        ends: &mut Vec<u32>,
    ) {
        let word = &text.as_bytes()[start as usize..end as usize];
        starts.push(start);
        for space in memchr_iter(b' ', word).filter(|&space| space > 0 && self.can_split(word, space)) {
            ends.push(start + space as u32);
            starts.push(start + space as u32);
        }
        ends.push(end);
    }

    /// Return the bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        self.contexts.bytes() + size_of_val(self.shapes.as_slice())
    }
}

/// Return the bytes before and after a space.
#[inline]
fn context(bytes: &[u8], space: usize, (before, after): (usize, usize)) -> (u32, u32) {
    (little_endian(&bytes[space - before..space]), little_endian(&bytes[space + 1..space + 1 + after]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(tokens: &[&str], word: &str) -> Vec<String> {
        let contexts = SpaceContexts::of(tokens.iter().map(|token| token.as_bytes()));
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        contexts.split(word, (0, word.len() as u32), &mut starts, &mut ends);
        let spans = starts.iter().zip(&ends);
        spans.map(|(&start, &end)| word[start as usize..end as usize].to_owned()).collect()
    }

    #[test]
    fn words_are_split_before_spaces_that_no_token_has() {
        let tokens = ["ab", " of the", ", and", "y "];
        assert_eq!(split(&tokens, "one of the dogs"), ["one", " of the", " dogs"]);
        assert_eq!(split(&tokens, "of the dogs, and"), ["of", " the", " dogs, and"]);
        assert_eq!(split(&tokens, " of their city of them"), [" of their", " city of them"]);
        assert_eq!(split(&["ab"], "in the end"), ["in", " the", " end"]);
    }

    #[test]
    fn tokens_that_cross_no_word_are_known() {
        let crosses = |token: &str| SpaceContexts::of([token.as_bytes()].into_iter()).are_between_words();
        assert!(crosses("a b") && crosses("a ") && crosses(", a"));
        assert!(!crosses(" a") && !crosses("    ") && !crosses("\n  "));
    }
}
