//! `Fuse`: all tokens as one.

use super::pieces::TextPieces;

/// Join all tokens.
pub(super) fn run<'t>(tokens: impl Iterator<Item = &'t str>, out: &mut TextPieces) {
    out.open().extend(tokens);
    out.end();
}
