//! Decoders that edit the texts of tokens: `WordPiece`, `BPEDecoder`, `Metaspace` and `CTC` turn markers of words and
//! continuations into spaces; `Replace`, `Strip` and `Fuse` treat all tokens alike.

use super::token_texts::{DecodeStageError, TokenTexts};
use crate::text::Pattern;

/// Texts and their replacements, in the order of application.
const CLEAN_UP: [(&str, &str); 11] = [
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
];

/// `WordPiece`: put a space before every token except the first and continuations.
pub(super) fn word_piece<'t>(
    tokens: impl Iterator<Item = &'t str>,
    prefix: &str,
    clean_up: bool,
    out: &mut TokenTexts,
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
            clean_up_from(text, start);
        }
        out.end();
    }
}

/// `BPEDecoder`: replace every `suffix` by a space, and by nothing in the last token.
pub(super) fn bpe<'t>(tokens: impl Iterator<Item = &'t str>, suffix: &str, out: &mut TokenTexts) {
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

/// `Metaspace`: replace every `replacement` by a space, and by nothing in the first token if
/// `strips_first` is set.
pub(super) fn metaspace<'t>(
    tokens: impl Iterator<Item = &'t str>,
    replacement: char,
    strips_first: bool,
    out: &mut TokenTexts,
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

/// `CTC` (connectionist temporal classification): remove repeated tokens and blanks; with `clean_up` also
/// cleans up and replaces word delimiters by spaces.
pub(super) fn ctc<'t>(
    tokens: impl Iterator<Item = &'t str>,
    pad_token: &str,
    word_delimiter_token: &str,
    clean_up: bool,
    out: &mut TokenTexts,
) {
    let mut previous = None;
    for token in tokens {
        if previous.replace(token) == Some(token) {
            continue;
        }
        let mut text = token.replace(pad_token, "");
        if clean_up {
            clean_up_from(&mut text, 0);
            text = text.replace(word_delimiter_token, " ");
        }
        if !text.is_empty() {
            out.push(&text);
        }
    }
}

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

/// Return the replacements that transformers applies to a decoded text (`clean_up_tokenization_spaces`): all but the
/// one of "do not".
pub(super) fn text_clean_up() -> impl Iterator<Item = (&'static str, &'static str)> {
    CLEAN_UP.into_iter().filter(|(old, _)| *old != " do not")
}

/// Apply `text_clean_up` to the text from byte `start` on.
pub(super) fn clean_up_text(text: &mut String, start: usize) {
    if may_need_clean_up(&text.as_bytes()[start..]) {
        replace_all(text, start, text_clean_up());
    }
}

/// Clean up tokenization spaces: remove spaces before punctuation and English contractions, from byte `start`
/// on.
fn clean_up_from(text: &mut String, start: usize) {
    if !may_need_clean_up(&text.as_bytes()[start..]) {
        return;
    }
    replace_all(text, start, CLEAN_UP.into_iter());
}

/// Apply replacements one after the other to the text from byte `start` on.
fn replace_all(
    text: &mut String,
    start: usize,
    replacements: impl Iterator<Item = (&'static str, &'static str)>,
) {
    for (old, new) in replacements {
        if text[start..].contains(old) {
            let cleaned = text[start..].replace(old, new);
            text.truncate(start);
            text.push_str(&cleaned);
        }
    }
}

/// Return whether the text contains the first two bytes of a text to replace.
fn may_need_clean_up(bytes: &[u8]) -> bool {
    let begins =
        |two: &[u8]| two[0] == b' ' && matches!(two[1], b'.' | b'?' | b'!' | b',' | b'\'' | b'n' | b'd');
    bytes.windows(2).any(begins)
}
