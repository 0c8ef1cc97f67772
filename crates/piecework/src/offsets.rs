//! Offsets in bytes of the text, from those of the core, which count characters.

use piecework_core::encoding::Token;
use piecework_core::engine::{Input, offsets_in};

/// Return the byte span of each token in its text; (0, 0) for tokens that the post-processor inserts.
pub(crate) fn byte_offsets(tokens: &[Token], texts: &[Input<'_>]) -> Vec<(usize, usize)> {
    if texts.iter().all(|input| input.texts().all(str::is_ascii)) {
        return tokens.iter().map(|token| (token.start as usize, token.end as usize)).collect();
    }
    offsets_in(tokens, texts, char::len_utf8)
}
