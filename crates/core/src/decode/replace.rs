//! `Replace`: every match of a pattern in every token becomes another text.

use super::pieces::TextPieces;
use super::Fault;
use crate::text::Pattern;

/// Replace every match; an empty token stays empty. Writing stops at `max` bytes, with an error.
pub(super) fn run<'t>(
    tokens: impl Iterator<Item = &'t str>,
    pattern: &Pattern,
    content: &str,
    max: usize,
    out: &mut TextPieces,
) -> Result<(), Fault> {
    for token in tokens {
        if token.is_empty() {
            out.push(token);
            continue;
        }
        let text = out.open();
        let mut done = 0;
        pattern.for_each_match(token, |start, end| {
            if text.len() <= max {
                text.push_str(&token[done..start]);
                text.push_str(content);
            }
            done = end;
        })?;
        if text.len() > max {
            return Err(Fault::TooLong { max });
        }
        text.push_str(&token[done..]);
        out.end();
    }
    Ok(())
}
