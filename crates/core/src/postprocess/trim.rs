//! Trims offsets of byte-level tokens: excludes their leading and trailing spaces.

use crate::encoding::{Encoding, Token};

/// Settings of one trimming.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trim {
    /// A single space before the first token was added and has no offsets to exclude.
    pub(super) add_prefix_space: bool,
    /// The sequence begins its encoding, so its first token can have the added space.
    pub(super) leads: bool,
}

/// Trims the tokens of an encoding and of its overflowing windows.
pub(super) fn trim_encoding(
    trims: &[Trim],
    encoding: &mut Encoding,
    spaces_of: &impl Fn(&Token) -> EdgeSpaces,
) {
    trim_tokens(trims, &mut encoding.tokens, spaces_of);
    encoding.overflowing.iter_mut().for_each(|window| trim_tokens(trims, &mut window.tokens, spaces_of));
}

/// Trims tokens by each of `trims` in order.
///
/// `spaces_of` identifies an added token by its offsets, so it runs before they change.
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
    /// Excludes the spaces of a token from its offsets.
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
    /// Counts those of a token that is whitespace, `chars` characters of it.
    #[must_use]
    pub fn of_whitespace(chars: u32) -> Self {
        Self { leading: chars, trailing: chars }
    }

    /// Counts those of the text of a token.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self {
            leading: text.chars().take_while(|&c| is_space_mark(c)).count() as u32,
            trailing: text.chars().rev().take_while(|&c| is_space_mark(c)).count() as u32,
        }
    }
}

/// Whether a character is whitespace, or the byte-level character of a space.
fn is_space_mark(c: char) -> bool {
    c == 'Ġ' || c.is_whitespace()
}
