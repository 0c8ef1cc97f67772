//! `WordPiece`: a space before every token but the first, none before continuations.

use super::pieces::TextPieces;
use super::tidy::tidy;

/// Glue continuations to what they continue; tidy each token with the space before it.
pub(super) fn run<'t>(
    tokens: impl Iterator<Item = &'t str>,
    prefix: &str,
    clean_up: bool,
    out: &mut TextPieces,
) {
    for (at, token) in tokens.enumerate() {
        let continued = token.strip_prefix(prefix).filter(|_| at > 0);
        let text = out.open();
        let start = text.len();
        if at > 0 && continued.is_none() {
            text.push(' ');
        }
        text.push_str(continued.unwrap_or(token));
        if clean_up {
            tidy(text, start);
        }
        out.end();
    }
}
