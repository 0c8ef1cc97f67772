//! Offsets in bytes of the text, from those of the core, which count characters.

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
    match unit {
        OffsetUnit::Bytes => byte_offsets(tokens, texts),
        OffsetUnit::Chars => {
            tokens.iter().map(|token| (token.start as usize, token.end as usize)).collect()
        }
        OffsetUnit::Utf16 => offsets_in(tokens, texts, char::len_utf16),
    }
}

/// Return the byte span of each token in its text; (0, 0) for tokens that the post-processor inserts.
pub(crate) fn byte_offsets(tokens: &[Token], texts: &[Input<'_>]) -> Vec<(usize, usize)> {
    if texts.iter().all(|input| input.texts().all(str::is_ascii)) {
        return tokens.iter().map(|token| (token.start as usize, token.end as usize)).collect();
    }
    offsets_in(tokens, texts, char::len_utf8)
}
