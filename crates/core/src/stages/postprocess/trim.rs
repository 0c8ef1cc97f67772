//! Trim offsets of byte-level tokens: excludes their leading and trailing spaces.

use piecework_unicode::char_count;

use crate::encoding::{Encoding, Token};

/// Settings of one trimming.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trim {
    /// A single space before the first token was added and has no offsets to exclude.
    pub(super) add_prefix_space: bool,
    /// The sequence begins its encoding, so its first token can have the added space.
    pub(super) leads: bool,
}

/// Trim the tokens of an encoding and of its overflowing windows.
pub(super) fn trim_encoding(
    trims: &[Trim],
    encoding: &mut Encoding,
    spaces_of: &impl Fn(&Token) -> EdgeSpaces,
) {
    trim_tokens(trims, &mut encoding.tokens, spaces_of);
    encoding.overflowing.iter_mut().for_each(|window| trim_tokens(trims, &mut window.tokens, spaces_of));
}

/// Trim tokens by each of `trims` in order.
pub(super) fn trim_tokens(trims: &[Trim], tokens: &mut [Token], spaces_of: &impl Fn(&Token) -> EdgeSpaces) {
    if trims.is_empty() {
        return;
    }
    for (at, token) in tokens.iter_mut().enumerate() {
        let spaces = spaces_of(token);
        trims.iter().for_each(|trim| trim.apply(at, token, spaces));
    }
}

impl Trim {
    /// Exclude the spaces of a token from its offsets.
    fn apply(self, at: usize, token: &mut Token, EdgeSpaces { mut leading, trailing }: EdgeSpaces) {
        let is_first = (at == 0 && self.leads) || token.start == 0;
        if is_first && self.add_prefix_space && leading == 1 {
            leading = 0;
        }
        token.start = (token.start + leading).min(token.end);
        if token.end >= trailing {
            token.end = (token.end - trailing).max(token.start);
        }
    }
}

/// The number of whitespace characters at both ends of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeSpaces {
    leading: u32,
    trailing: u32,
}

impl EdgeSpaces {
    /// Count those of the text of a token.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self {
            leading: text.chars().take_while(|&c| is_space_mark(c)).count() as u32,
            trailing: text.chars().rev().take_while(|&c| is_space_mark(c)).count() as u32,
        }
    }
}

/// Counts the spaces of the added tokens of one text, from left to right.
///
/// Tokens can end in the same whitespace, which an earlier one includes: it is read once.
#[derive(Clone, Debug, Default)]
pub struct EdgeSpaceReader {
    /// The token that ends last, in bytes of the text and in characters.
    start: usize,
    end: usize,
    chars: u32,
}

impl EdgeSpaceReader {
    /// Count those of the token at bytes `start..end` of the text.
    pub fn read(&mut self, text: &str, start: usize, end: usize) -> EdgeSpaces {
        if end == self.end {
            // A token that begins within the one before and ends with it is whitespace.
            self.chars -= char_count(&text.as_bytes()[self.start..start]);
            self.start = start;
            return EdgeSpaces { leading: self.chars, trailing: self.chars };
        }
        let token = &text[start..end];
        if end > self.end {
            *self = Self { start, end, chars: char_count(token.as_bytes()) };
        }
        EdgeSpaces::of(token)
    }
}

/// Return whether a character is whitespace, or the byte-level character of a space.
fn is_space_mark(c: char) -> bool {
    c == 'Ġ' || c.is_whitespace()
}
