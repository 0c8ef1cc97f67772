//! Offsets in bytes, characters or UTF-16 units of a text; the core counts characters.

use piecework_core::encoding::Token;
use piecework_core::engine::{Input, offsets_in};

/// What offsets count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OffsetUnit {
    /// Bytes of UTF-8, as in `&text[start..end]`.
    #[default]
    Bytes,
    /// Characters (Unicode code points), as the Python package counts.
    Chars,
    /// UTF-16 units, as JavaScript, Java and C# count.
    Utf16,
}

/// Return the span of each token in a unit of its text; (0, 0) for tokens that the post-processor inserts.
pub(crate) fn offsets_in_unit(
    tokens: &[Token],
    texts: &[Input<'_>],
    unit: OffsetUnit,
) -> Vec<(usize, usize)> {
    let is_ascii = || texts.iter().all(|input| input.texts().all(str::is_ascii));
    match unit {
        OffsetUnit::Bytes if !is_ascii() => offsets_in(tokens, texts, char::len_utf8),
        OffsetUnit::Utf16 if !is_ascii() => offsets_in(tokens, texts, char::len_utf16),
        _ => tokens.iter().map(|token| (token.start as usize, token.end as usize)).collect(),
    }
}
