//! `ByteLevel`: printable characters back to bytes, all tokens as one text.

use super::pieces::TextPieces;
use crate::text::push_bytes_of_printable;

/// Undo GPT-2's mapping; a token with a character outside it stands for itself. Bytes that are not UTF-8
/// become replacement characters.
pub(super) fn run<'t>(tokens: impl Iterator<Item = &'t str>, out: &mut TextPieces) {
    let mut bytes = Vec::new();
    tokens.for_each(|token| push_bytes_of_printable(token, &mut bytes));
    out.push(&String::from_utf8_lossy(&bytes));
}
