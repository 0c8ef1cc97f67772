//! Adjacent characters of tokens, for byte-level models.
//!
//! A token may begin and end within characters. So the filter also has pairs of the last byte of a character and the
//! first of the next, and of a character and the first one or two bytes of the next.
//!
//! Tokens of several words have spaces inside. [`SpaceContexts`] has what surrounds these: up to four bytes before a space,
//! and up to four after it. A token that has fewer of them begins or ends there. A word of several clauses seldom repeats; split before
//! the spaces that no token crosses, its parts repeat and are found in the word cache.

use std::cmp::Reverse;

use foldhash::{HashMap, HashSet};
use memchr::memchr_iter;

use super::{little_endian, PairFilter, BITS_PER_PAIR};

/// The pairs of adjacent characters in tokens that are not ASCII, and what surrounds the spaces in tokens.
#[derive(Clone, Debug)]
pub struct ByteAdjacency {
    pairs: PairFilter,
    spaces: SpaceContexts,
}

/// Marks the last byte of a character of which a token has not all bytes.
const END_OF_CHAR: u32 = 0xFF << 24;

impl ByteAdjacency {
    /// Collect the pairs of tokens with these bytes.
    pub(in crate::model) fn of<'t>(tokens: impl Iterator<Item = &'t [u8]> + Clone) -> Self {
        let spaces = SpaceContexts::of(tokens.clone());
        let mut pairs = HashSet::default();
        for token in tokens.filter(|token| !token.is_ascii()) {
            let starts = (1..token.len()).filter(|&at| !is_continuation(token[at]));
            pairs.extend(starts.map(|at| pair_in_token(token, at)));
        }
        Self { pairs: PairFilter::of(pairs, BITS_PER_PAIR), spaces }
    }

    /// Return whether tokens cross the spaces between words.
    #[must_use]
    pub fn crosses_spaces(&self) -> bool {
        self.spaces.are_between_words()
    }

    /// Split a word of a text before the spaces that no token has; append the starts and ends of its parts.
    pub(crate) fn split_at_spaces(
        &self,
        text: &str,
        word: (u32, u32),
        starts: &mut Vec<u32>,
        ends: &mut Vec<u32>,
    ) {
        self.spaces.split(text, word, starts, ends);
    }

    /// Split a word of a text; append the starts and ends of its parts.
    ///
    /// Each character is written as the start of a part and overwritten unless it is one: a branch would be
    /// unpredictable.
    pub fn split(&self, text: &str, (start, end): (u32, u32), starts: &mut Vec<u32>, ends: &mut Vec<u32>) {
        let text = text.as_bytes();
        let (mut count, max_count) = (starts.len(), starts.len() + (end - start) as usize + 1);
        starts.resize(max_count, start);
        ends.resize(max_count, end);
        let mut one = Char::at(text, start as usize);
        let mut at = start + one.len;
        while at < end {
            let next = Char::at(text, at as usize);
            starts[count + 1] = at;
            ends[count] = at;
            count += usize::from(self.can_split(one, next));
            at += next.len;
            one = next;
        }
        ends[count] = end;
        starts.truncate(count + 1);
        ends.truncate(count + 1);
    }

    /// Return whether no token has these two characters, or the end of one and the beginning of the other, side by
    /// side. Two ASCII characters are never split.
    #[inline]
    fn can_split(&self, one: Char, next: Char) -> bool {
        let pairs = [
            (one.bytes, next.bytes),
            (one.bytes, next.first_two()),
            (one.bytes, next.first()),
            (END_OF_CHAR | one.last(), next.first()),
        ];
        let is_in_token =
            pairs.iter().fold(false, |any, &(one, next)| any | self.pairs.may_contain(one, next));
        (one.len | next.len) > 1 && !is_in_token
    }

    /// Return the bytes of memory.
    pub(in crate::model) fn bytes(&self) -> usize {
        self.pairs.bytes() + self.spaces.bytes()
    }
}

/// A character as its UTF-8 bytes, little-endian.
#[derive(Clone, Copy)]
struct Char {
    bytes: u32,
    len: u32,
}

impl Char {
    /// Return the character that begins at byte `at`.
    #[inline]
    fn at(text: &[u8], at: usize) -> Self {
        let len = len_of_char(text[at]);
        match text[at..].first_chunk() {
            Some(block) => Self { bytes: u32::from_le_bytes(*block) & (u32::MAX >> (32 - 8 * len)), len },
            None => Self { bytes: little_endian(&text[at..at + len as usize]), len },
        }
    }

    fn first(self) -> u32 {
        self.bytes & 0xFF
    }

    fn first_two(self) -> u32 {
        self.bytes & 0xFFFF
    }

    fn last(self) -> u32 {
        self.bytes >> (8 * (self.len - 1))
    }
}

/// Return the characters, or their parts, that a token has before and after byte `at`, where a character begins.
fn pair_in_token(token: &[u8], at: usize) -> (u32, u32) {
    let before =
        token[..at].iter().rposition(|&byte| !is_continuation(byte)).filter(|&from| at - from <= 4);
    let len = len_of_char(token[at]) as usize;
    let after = &token[at..token.len().min(at + len)];
    match (before, after.len() == len) {
        (None, _) => (END_OF_CHAR | u32::from(token[at - 1]), little_endian(&after[..1])),
        (Some(from), true) => (little_endian(&token[from..at]), little_endian(after)),
        (Some(from), false) => {
            (little_endian(&token[from..at]), little_endian(&after[..after.len().min(2)]))
        }
    }
}

/// Return the length in bytes of a character that begins with this byte.
#[inline]
fn len_of_char(first: u8) -> u32 {
    match first {
        0..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

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
    use super::*;

    fn split<'w>(adjacency: &ByteAdjacency, word: &'w str) -> Vec<&'w str> {
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        adjacency.split(word, (0, word.len() as u32), &mut starts, &mut ends);
        let spans = starts.iter().zip(&ends);
        spans.map(|(&start, &end)| &word[start as usize..end as usize]).collect()
    }

    fn adjacency(tokens: &[&[u8]]) -> ByteAdjacency {
        ByteAdjacency::of(tokens.iter().copied())
    }

    #[test]
    fn words_are_split_where_no_token_crosses() {
        let none = adjacency(&[b"ab", "中".as_bytes(), "é".as_bytes()]);
        assert_eq!(split(&none, "中é中𝄞"), ["中", "é", "中", "𝄞"]);
        assert_eq!(split(&none, "xyé"), ["xy", "é"]);
        assert_eq!(split(&adjacency(&["a中é".as_bytes()]), "a中中é中"), ["a中", "中é", "中"]);
    }

    #[test]
    fn tokens_may_begin_and_end_within_characters() {
        assert_eq!(split(&adjacency(&[b"\xC3\xA9\xE4"]), "é中é丮éè𝄞"), ["é中", "é丮", "é", "è", "𝄞"]);
        assert_eq!(split(&adjacency(&[b"\xC3\xA9\xE4\xB8"]), "é中é万éa"), ["é中", "é万", "é", "a"]);
        assert_eq!(split(&adjacency(&[b"\xAD\xC3"]), "中é丮é"), ["中é", "丮", "é"]);
        assert_eq!(split(&adjacency(&[b"a\xF0\x9D\x84"]), "a𝄞a"), ["a𝄞", "a"]);
    }
}

#[cfg(test)]
mod spaces_tests {
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
