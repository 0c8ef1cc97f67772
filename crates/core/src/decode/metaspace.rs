//! `Metaspace`: marks become spaces; in the first token they vanish where the encoder may have added one.

use super::pieces::TextPieces;

/// Replace every `replacement` character by a space.
pub(super) fn run<'t>(
    tokens: impl Iterator<Item = &'t str>,
    replacement: char,
    strips_first: bool,
    out: &mut TextPieces,
) {
    for (at, token) in tokens.enumerate() {
        let text = out.open();
        for (nth, part) in token.split(replacement).enumerate() {
            if nth > 0 && !(at == 0 && strips_first) {
                text.push(' ');
            }
            text.push_str(part);
        }
        out.end();
    }
}
