//! Adjacent characters of tokens, for byte-level models.
//!
//! A token may begin and end within characters. So the filter also has pairs of the last byte of a character and the
//! first of the next, and of a character and the first one or two bytes of the next.

use foldhash::HashSet;

use super::spaces::SpaceContexts;
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
    pub fn split_at_spaces(
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
