//! `Strip`: a character removed at the ends of every token.

use super::pieces::TextPieces;

/// Remove up to `start` characters `content` at the beginning of each token, then up to `stop` at its end.
pub(super) fn run<'t>(
    tokens: impl Iterator<Item = &'t str>,
    content: char,
    start: usize,
    stop: usize,
    out: &mut TextPieces,
) {
    for mut token in tokens {
        for _ in 0..start {
            let Some(rest) = token.strip_prefix(content) else { break };
            token = rest;
        }
        for _ in 0..stop {
            let Some(rest) = token.strip_suffix(content) else { break };
            token = rest;
        }
        out.push(token);
    }
}
