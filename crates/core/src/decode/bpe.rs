//! `BPEDecoder`: the marks of word ends become spaces, those of the last token vanish.

use super::pieces::TextPieces;

/// Replace every `suffix`.
pub(super) fn run<'t>(tokens: impl Iterator<Item = &'t str>, suffix: &str, out: &mut TextPieces) {
    let mut tokens = tokens.peekable();
    while let Some(token) = tokens.next() {
        let replacement = if tokens.peek().is_some() { " " } else { "" };
        if token.contains(suffix) {
            out.push(&token.replace(suffix, replacement));
        } else {
            out.push(token);
        }
    }
}
