//! Adjacent characters of tokens, for models whose tokens are text.
//!
//! One of the two characters at a split must be a token itself: unknown characters on both sides may be one token.

use foldhash::HashSet;

use super::{PairFilter, BITS_PER_PAIR};

/// The pairs of adjacent characters in tokens, and the characters that are tokens.
#[derive(Clone, Debug)]
pub struct CharAdjacency {
    pairs: PairFilter,
    /// A bit for each code point that is a token.
    single: Vec<u64>,
}

impl CharAdjacency {
    /// Collect the pairs of these tokens.
    pub fn of<'t>(tokens: impl Iterator<Item = &'t str>) -> Self {
        let (mut pairs, mut single) = (HashSet::default(), Vec::new());
        for token in tokens {
            let mut chars = token.chars();
            match (chars.next(), chars.next()) {
                (Some(only), None) => set(&mut single, only as usize),
                _ => pairs.extend(token.chars().map(u32::from).zip(token.chars().skip(1).map(u32::from))),
            }
        }
        Self { pairs: PairFilter::of(pairs, BITS_PER_PAIR), single }
    }

    /// Split a word of `len` bytes, given as its characters with their first bytes. Call `visit` with the start and end
    /// of each part.
    pub fn split(
        &self,
        chars: impl Iterator<Item = (usize, char)>,
        len: usize,
        mut visit: impl FnMut(usize, usize),
    ) {
        let mut start = 0;
        let mut previous = None;
        for (at, c) in chars {
            if previous.is_some_and(|previous| self.can_split(previous, c)) {
                visit(start, at);
                start = at;
            }
            previous = Some(c);
        }
        if start < len {
            visit(start, len);
        }
    }

    /// Return the end of the part of a word that begins at byte `start`. `first` is its first character if that is known;
    /// afterwards it is the first one of the next part.
    #[inline]
    pub(crate) fn part_end(&self, word: &str, start: usize, first: &mut Option<char>) -> usize {
        let mut rest = word[start..].chars();
        let mut previous = match first.take() {
            Some(c) => {
                rest = word[start + c.len_utf8()..].chars();
                c
            }
            None => rest.next().unwrap_or_default(),
        };
        loop {
            let at = word.len() - rest.as_str().len();
            let Some(c) = rest.next() else { return at };
            if self.can_split(previous, c) {
                *first = Some(c);
                return at;
            }
            previous = c;
        }
    }

    /// Return whether a word can be split between these two characters.
    #[inline]
    pub(crate) fn can_split(&self, one: char, next: char) -> bool {
        !self.pairs.may_contain(one.into(), next.into())
            && (has(&self.single, one as usize) || has(&self.single, next as usize))
    }
}

fn set(bits: &mut Vec<u64>, at: usize) {
    if bits.len() <= at / 64 {
        bits.resize(at / 64 + 1, 0);
    }
    bits[at / 64] |= 1 << (at % 64);
}

#[inline]
fn has(bits: &[u64], at: usize) -> bool {
    bits.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split<'w>(pieces: &[&'static str], word: &'w str) -> Vec<&'w str> {
        let mut parts = Vec::new();
        CharAdjacency::of(pieces.iter().copied())
            .split(word.char_indices(), word.len(), |start, end| parts.push(&word[start..end]));
        parts
    }

    #[test]
    fn words_are_split_where_no_token_crosses() {
        let pieces = ["\u{2581}", "\u{2581}a", "ab", "b", "c", "\u{e9}", "\u{e9}c"];
        assert_eq!(split(&pieces, "\u{2581}abcab"), ["\u{2581}ab", "c", "ab"]);
        assert_eq!(split(&pieces, "b\u{e9}c\u{e9}"), ["b", "\u{e9}c", "\u{e9}"]);
        assert_eq!(split(&pieces, ""), [""; 0]);
    }

    #[test]
    fn two_unknown_characters_are_not_split() {
        assert_eq!(split(&["a"], "xyaza"), ["xy", "a", "z", "a"]);
        assert_eq!(split(&["a"], "aa"), ["a", "a"]);
    }
}
