//! Adjacent characters of tokens, for byte-level models.
//!
//! A token may begin and end within characters. So there are also pairs of the last byte of a character and the first of
//! the next, and of a character and the first byte of the next.
//!
//! A token that matches whole words although merges do not make it must not match a part: a word with such a part is not
//! split.
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
    /// A bit for each last byte of a character of which a token has not all bytes, with the first byte of the next.
    ends: Box<[u64; 1 << 10]>,
    spaces: SpaceContexts,
    /// The tokens that only match whole words, and a bit for each of their first bytes.
    whole_words: HashMap<Box<[u8]>, u32>,
    begins_whole_word: [u64; 4],
}

impl ByteAdjacency {
    /// Collect the pairs of tokens with these bytes. The last ones, with ids, only match whole words.
    pub(in crate::model) fn of<'t>(
        tokens: impl Iterator<Item = &'t [u8]> + Clone,
        whole_words: impl Iterator<Item = (&'t [u8], u32)>,
    ) -> Self {
        let spaces = SpaceContexts::of(tokens.clone());
        let (mut pairs, mut ends) = (HashSet::default(), Box::new([0; 1 << 10]));
        for token in tokens.filter(|token| !token.is_ascii()) {
            for at in (1..token.len()).filter(|&at| !is_continuation(token[at])) {
                match pair_in_token(token, at) {
                    Some(pair) => pairs.extend([halves(little_endian(pair))]),
                    None => set_bit(&mut *ends, u16::from_le_bytes([token[at - 1], token[at]])),
                }
            }
        }
        let (mut of_bytes, mut begins_whole_word) = (HashMap::default(), [0; 4]);
        for (bytes, id) in whole_words {
            set_bit(&mut begins_whole_word, bytes[0].into());
            of_bytes.insert(bytes.into(), id);
        }
        let pairs = PairFilter::of(pairs, BITS_PER_PAIR);
        Self { pairs, ends, spaces, whole_words: of_bytes, begins_whole_word }
    }

    /// Return the id of a token that only matches whole words.
    #[inline]
    pub(crate) fn whole_word(&self, word: &[u8]) -> Option<u32> {
        let is_first = word.first().is_some_and(|&first| has_bit(&self.begins_whole_word, first.into()));
        if is_first {
            self.whole_words.get(word).copied()
        } else {
            None
        }
    }

    /// Return whether one of these parts of a text is a token that only matches whole words.
    pub(crate) fn has_whole_word(&self, text: &str, starts: &[u32], ends: &[u32]) -> bool {
        let part = |(&start, &end): (&u32, &u32)| &text.as_bytes()[start as usize..end as usize];
        let mut parts = starts.iter().zip(ends).map(part);
        !self.whole_words.is_empty() && parts.any(|part| self.whole_word(part).is_some())
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
    /// The positions are bits first: a branch for each character would be unpredictable.
    pub fn split(&self, text: &str, (start, end): (u32, u32), starts: &mut Vec<u32>, ends: &mut Vec<u32>) {
        let text = text.as_bytes();
        let (mut at, mut len) = (start, len_of_char(text[start as usize]));
        starts.push(start);
        while at + len < end {
            let (first, mut parts) = (at, 0_u64);
            while at + len < end.min(first + u64::BITS) {
                let bytes = bytes_at(text, at as usize);
                let next_len = len_of_char((bytes >> (8 * len)) as u8);
                at += len;
                parts |= u64::from(self.can_split(bytes, len, next_len)) << (at - first);
                len = next_len;
            }
            while parts != 0 {
                ends.push(first + parts.trailing_zeros());
                starts.push(first + parts.trailing_zeros());
                parts &= parts - 1;
            }
        }
        ends.push(end);
    }

    /// Return whether no token has two characters of these lengths, or the end of one and the beginning of the other, side
    /// by side. Two ASCII characters are never split.
    #[inline]
    fn can_split(&self, bytes: u64, len: u32, next_len: u32) -> bool {
        let may_contain = |count: u32| {
            let (one, next) = halves(bytes & (u64::MAX >> (u64::BITS - 8 * count)));
            self.pairs.may_contain(one, next)
        };
        let is_in_token = may_contain(len + next_len)
            | may_contain(len + 1)
            | has_bit(&self.ends, (bytes >> (8 * (len - 1))) as u16);
        ((len | next_len) > 1) & !is_in_token
    }

    /// Return the bytes of memory.
    pub(in crate::model) fn bytes(&self) -> usize {
        let whole_words = self.whole_words.keys().map(|word| word.len() + size_of::<(Box<[u8]>, u32)>());
        self.pairs.bytes() + size_of_val(&*self.ends) + self.spaces.bytes() + whole_words.sum::<usize>()
    }
}

/// Return the eight bytes at `at`, or as many as there are.
#[inline]
fn bytes_at(text: &[u8], at: usize) -> u64 {
    let rest = &text[at..];
    rest.first_chunk().map_or_else(|| little_endian(rest), |block| u64::from_le_bytes(*block))
}

/// Return the character of a token before byte `at` and the next one, or its first byte if the token has not all; `None` if
/// the token has not the whole character before.
fn pair_in_token(token: &[u8], at: usize) -> Option<&[u8]> {
    let from =
        token[..at].iter().rposition(|&byte| !is_continuation(byte)).filter(|&from| at - from <= 4)?;
    let end = at + len_of_char(token[at]) as usize;
    Some(&token[from..if end <= token.len() { end } else { at + 1 }])
}

fn halves(bytes: u64) -> (u32, u32) {
    ((bytes >> 32) as u32, bytes as u32)
}

fn set_bit(bits: &mut [u64], bit: u16) {
    bits[usize::from(bit / 64)] |= 1 << (bit % 64);
}

#[inline]
fn has_bit<const N: usize>(bits: &[u64; N], bit: u16) -> bool {
    bits[usize::from(bit / 64)] >> (bit % 64) & 1 != 0
}

/// Return the length in bytes of a character that begins with this byte.
#[inline]
fn len_of_char(first: u8) -> u32 {
    const LENGTHS: [u8; 16] = [1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 4];
    LENGTHS[usize::from(first >> 4)].into()
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
        let before = (little_endian(&bytes[space - shape.0..space]) as u32) << (8 * (MOST - shape.0));
        Self { before, after: little_endian(&bytes[space + 1..space + 1 + shape.1]) as u32, shape }
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
        ByteAdjacency::of(tokens.iter().copied(), std::iter::empty())
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
        assert_eq!(
            split(&adjacency(&[b"\xC3\xA9\xE4\xB8"]), "é中é万é字éa"),
            ["é中", "é万", "é", "字", "é", "a"]
        );
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
