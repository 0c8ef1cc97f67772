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
pub(super) fn trim_encoding<'t>(
    trims: &[Trim],
    encoding: &mut Encoding,
    text_of: &impl Fn(&Token) -> &'t str,
) {
    trim_tokens(trims, &mut encoding.tokens, text_of);
    encoding.overflowing.iter_mut().for_each(|window| trim_tokens(trims, &mut window.tokens, text_of));
}

/// Trims tokens by each of `trims` in order.
///
/// `text_of` finds the text of an added token by its offsets, so it runs before they change.
pub(super) fn trim_tokens<'t>(trims: &[Trim], tokens: &mut [Token], text_of: &impl Fn(&Token) -> &'t str) {
    if trims.is_empty() {
        return;
    }
    for (at, token) in tokens.iter_mut().enumerate() {
        let spaces = EdgeSpaces::of(text_of(token));
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

/// The number of spaces at both ends of a token.
#[derive(Clone, Copy, Debug)]
struct EdgeSpaces {
    leading: u32,
    trailing: u32,
}

impl EdgeSpaces {
    fn of(text: &str) -> Self {
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
