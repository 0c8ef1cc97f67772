//! `Replace`: every match of a pattern in every token becomes another text.

use super::pieces::TextPieces;
use crate::error::Error;
use crate::text::Pattern;

/// Replace every match; an empty token stays empty.
pub(super) fn run<'t>(
    tokens: impl Iterator<Item = &'t str>,
    pattern: &Pattern,
    content: &str,
    out: &mut TextPieces,
) -> Result<(), Error> {
    for token in tokens {
        if token.is_empty() {
            out.push(token);
            continue;
        }
        let text = out.open();
        let mut done = 0;
        pattern.for_each_match(token, |start, end| {
            text.push_str(&token[done..start]);
            text.push_str(content);
            done = end;
        })?;
        text.push_str(&token[done..]);
        out.end();
    }
    Ok(())
}
