//! What the tokens of a byte-level model have around their ASCII spaces: up to four bytes before a space, and up to four
//! after it. A token that has fewer of them begins or ends there. A word of several clauses seldom repeats; split before
//! the spaces that no token crosses, its parts repeat and are found in the word cache.

use std::cmp::Reverse;

use foldhash::HashMap;
use memchr::memchr_iter;

use super::{little_endian, PairFilter};

/// The most bytes on each side of a space.
const MOST: usize = 4;

/// Bits for each context: a space is looked up several times, and at most one lookup in 64 fails to split it.
const BITS_PER_CONTEXT: usize = 64;

/// The numbers of bytes before and after a space.
type Shape = (usize, usize);

/// The surroundings of the spaces of tokens.
#[derive(Clone, Debug)]
pub(super) struct SpaceContexts {
    contexts: PairFilter,
    /// The numbers of bytes before and after the spaces, the most frequent first.
    shapes: Vec<Shape>,
    possible: Box<PossibleShapes>,
    /// Whether a token has a space after a character that is no whitespace.
    are_between_words: bool,
}

impl SpaceContexts {
    /// Collect the surroundings of the spaces of tokens with these bytes.
    pub(super) fn of<'t>(tokens: impl Iterator<Item = &'t [u8]>) -> Self {
        let mut by_shape: HashMap<Shape, Vec<(u32, u32)>> = HashMap::default();
        let mut are_between_words = false;
        for token in tokens {
            for space in memchr_iter(b' ', token).filter(|&space| space > 0) {
                let around = Around::of(token, space);
                by_shape.entry(around.shape).or_default().push(around.context(around.shape));
                are_between_words |= follows_word(token, space);
            }
        }
        let mut shapes: Vec<_> = by_shape.into_iter().collect();
        shapes.sort_unstable_by_key(|(shape, contexts)| (Reverse(contexts.len()), *shape));
        let possible = Box::new(PossibleShapes::of(&shapes));
        let contexts = shapes.iter().flat_map(|(_, contexts)| contexts).copied().collect();
        let shapes = shapes.into_iter().map(|(shape, _)| shape).collect();
        Self { contexts: PairFilter::of(contexts, BITS_PER_CONTEXT), shapes, possible, are_between_words }
    }

    /// Return whether a token has a space after a character that is no whitespace.
    pub(super) fn are_between_words(&self) -> bool {
        self.are_between_words
    }

    /// Return whether no token has this space of a word after another byte.
    #[inline]
    fn can_split(&self, word: &[u8], space: usize) -> bool {
        let around = Around::of(word, space);
        let mut shapes = self.possible.of_space(around);
        while shapes != 0 {
            let (before, after) = around.context(self.shapes[shapes.trailing_zeros() as usize]);
            if self.contexts.may_contain(before, after) {
                return false;
            }
            shapes &= shapes - 1;
        }
        true
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
        self.contexts.bytes() + size_of_val(self.shapes.as_slice()) + size_of_val(&*self.possible)
    }
}

/// Return whether the character before a space of a token is whole and no whitespace: runs of spaces of any kind are
/// tokens of most vocabularies, and no words with spaces.
fn follows_word(token: &[u8], space: usize) -> bool {
    let before = &token[space.saturating_sub(MOST)..space];
    let start = before.iter().rposition(|&byte| !matches!(byte, 0x80..0xC0));
    let char = start.and_then(|start| std::str::from_utf8(&before[start..]).ok());
    char.is_some_and(|char| !char.starts_with(char::is_whitespace))
}

/// The bytes around a space: up to four on each side.
#[derive(Clone, Copy)]
struct Around {
    /// The bytes before the space; the last one is the highest byte.
    before: u32,
    /// The bytes after the space; the first one is the lowest byte.
    after: u32,
    shape: Shape,
}

impl Around {
    #[inline]
    fn of(bytes: &[u8], space: usize) -> Self {
        let shape = (space.min(MOST), (bytes.len() - space - 1).min(MOST));
        let before = little_endian(&bytes[space - shape.0..space]) << (8 * (MOST - shape.0));
        Self { before, after: little_endian(&bytes[space + 1..space + 1 + shape.1]), shape }
    }

    /// Return the bytes of a shape that fits.
    #[inline]
    fn context(self, (before, after): Shape) -> (u32, u32) {
        (self.before >> (8 * (MOST - before)), self.after & low_bytes(after))
    }
}

/// Return a mask of the lowest bytes.
#[inline]
fn low_bytes(count: usize) -> u32 {
    ((1_u64 << (8 * count)) - 1) as u32
}

/// The shapes that tokens have beside given bytes, as bits by their index: most spaces need no or few lookups.
#[derive(Clone, Debug)]
struct PossibleShapes {
    by_byte_before: [u32; 256],
    by_byte_after: [u32; 256],
    /// By the bytes that there are before and after a space.
    fitting: [[u32; MOST + 1]; MOST + 1],
}

impl PossibleShapes {
    fn of(shapes: &[(Shape, Vec<(u32, u32)>)]) -> Self {
        let mut possible =
            Self { by_byte_before: [0; 256], by_byte_after: [0; 256], fitting: [[0; MOST + 1]; MOST + 1] };
        for (number, ((before, after), contexts)) in shapes.iter().enumerate() {
            for &(bytes_before, bytes_after) in contexts {
                let last = bytes_before >> (8 * (before - 1));
                possible.by_byte_before[last as usize] |= 1 << number;
                match after {
                    0 => possible.by_byte_after.iter_mut().for_each(|shapes| *shapes |= 1 << number),
                    _ => possible.by_byte_after[bytes_after as usize & 0xFF] |= 1 << number,
                }
            }
            let fits = |(one, two): (usize, usize)| *before <= one && *after <= two;
            for (one, row) in possible.fitting.iter_mut().enumerate() {
                for (two, shapes) in row.iter_mut().enumerate() {
                    *shapes |= u32::from(fits((one, two))) << number;
                }
            }
        }
        possible
    }

    /// Return the shapes that tokens may have around a space.
    #[inline]
    fn of_space(&self, around: Around) -> u32 {
        let (before, after) = around.shape;
        let (last, first) = ((around.before >> 24) as usize, (around.after & 0xFF) as usize);
        self.fitting[before][after] & self.by_byte_before[last] & self.by_byte_after[first]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
        assert!(crosses("о ") && crosses("字 字"));
        assert!(!crosses(" a") && !crosses("    ") && !crosses("\n  "));
        assert!(!crosses(" \u{A0} \u{A0}") && !crosses("\u{3000} "));
    }

    /// Return whether a token, laid over a word, has this space of it after another byte.
    fn crosses(token: &[u8], word: &[u8], space: usize) -> bool {
        let spaces = memchr_iter(b' ', token).filter(|&at| (1..=space).contains(&at));
        spaces.map(|at| space - at).any(|start| word[start..].starts_with(token))
    }

    proptest! {
        #[test]
        fn no_token_crosses_a_space_before_which_words_are_split(
            tokens in prop::collection::vec("[ab ,]{1,9}", 1..12),
            word in "[ab ,]{2,24}",
        ) {
            let contexts = SpaceContexts::of(tokens.iter().map(String::as_bytes));
            for space in memchr_iter(b' ', word.as_bytes()).filter(|&space| space > 0) {
                let crossing = tokens.iter().find(|token| crosses(token.as_bytes(), word.as_bytes(), space));
                prop_assert!(crossing.is_none() || !contexts.can_split(word.as_bytes(), space));
            }
        }
    }
}
