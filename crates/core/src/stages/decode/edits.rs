//! `Replace`, `Strip` and `Fuse`: edits that treat all tokens alike.

use super::token_texts::{DecodeStageError, TokenTexts};
use crate::text::Pattern;

/// `Replace`: replace every match by `content`; empty tokens stay empty. Fails as soon as the output
/// exceeds `max` bytes.
pub(super) fn replace<'t>(
    tokens: impl Iterator<Item = &'t str>,
    pattern: &Pattern,
    content: &str,
    max: usize,
    out: &mut TokenTexts,
) -> Result<(), DecodeStageError> {
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
            return Err(DecodeStageError::TooLong { max });
        }
        text.push_str(&token[done..]);
        out.end();
    }
    Ok(())
}

/// `Strip`: remove up to `start` characters `content` at the beginning of each token, then up to `stop` at
/// its end.
pub(super) fn strip<'t>(
    tokens: impl Iterator<Item = &'t str>,
    content: char,
    start: usize,
    stop: usize,
    out: &mut TokenTexts,
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

/// `Fuse`: join all tokens.
pub(super) fn fuse<'t>(tokens: impl Iterator<Item = &'t str>, out: &mut TokenTexts) {
    out.open().extend(tokens);
    out.end();
}
