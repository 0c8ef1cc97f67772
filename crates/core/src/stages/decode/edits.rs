//! Decoders that edit the texts of tokens: `WordPiece`, `BPEDecoder`, `Metaspace` and `CTC` turn markers of words and
//! continuations into spaces; `Replace`, `Strip` and `Fuse` treat all tokens alike.

use crate::error::Error;
use crate::text::{push_bytes_of_printable, Pattern};

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
/// clean up and replace word delimiters by spaces.
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

/// `ByteLevel`: map printable characters back to bytes and join all tokens. A token with any other
/// character is its own text; bytes that are not UTF-8 become replacement characters.
pub(super) fn byte_level<'t>(tokens: impl Iterator<Item = &'t str>, out: &mut TokenTexts) {
    let mut bytes = Vec::new();
    tokens.for_each(|token| push_bytes_of_printable(token, &mut bytes));
    out.push(&String::from_utf8_lossy(&bytes));
}

/// `ByteFallback`: join adjacent byte tokens such as `<0x0A>`. A run that is not UTF-8 becomes one
/// replacement character for each byte.
pub(super) fn byte_fallback<'t>(tokens: impl Iterator<Item = &'t str>, out: &mut TokenTexts) {
    let mut bytes = Vec::new();
    for token in tokens {
        if let Some(byte) = byte_of_token(token) {
            bytes.push(byte);
        } else {
            flush(&mut bytes, out);
            out.push(token);
        }
    }
    flush(&mut bytes, out);
}

/// Return the byte of a byte token; `<0x+A>` is one too, as in tokenizers.
pub(super) fn byte_of_token(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    u8::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 2)
}

fn flush(bytes: &mut Vec<u8>, out: &mut TokenTexts) {
    match std::str::from_utf8(bytes) {
        Ok("") => {}
        Ok(text) => out.push(text),
        Err(_) => bytes.iter().for_each(|_| out.push("\u{FFFD}")),
    }
    bytes.clear();
}

/// Append the text of one run of bytes.
pub(super) fn push_fallback_text(bytes: &[u8], text: &mut Vec<u8>) {
    match std::str::from_utf8(bytes) {
        Ok(_) => text.extend_from_slice(bytes),
        Err(_) => bytes.iter().for_each(|_| text.extend_from_slice("\u{FFFD}".as_bytes())),
    }
}

// Clean-up of decoded texts, as transformers does it: whole texts, and texts that arrive in parts. It is part of the
// decoder, so that every method, stream and saved file applies it.

/// Return a text without the spaces before punctuation and English contractions.
pub(crate) fn cleaned_up(mut text: String) -> String {
    clean_up_text(&mut text, 0);
    text
}

/// A text that arrives in parts; each part is returned once later parts cannot change how it is cleaned up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CleanUpStream {
    pending: String,
}

/// What a text ends with if later characters can complete a replacement. Two replacements can meet: of
/// `" n ' t"`, the first makes `" n't"`, and the second `"n't"`.
const UNDECIDED: [&str; 8] = [" ", " '", " n", " n'", " 'v", " 'r", "' v", "' r"];

impl CleanUpStream {
    /// Continue a stream that still holds this text.
    pub(crate) fn of_pending(pending: String) -> Self {
        Self { pending }
    }

    /// Return the text that the stream still holds.
    pub(crate) fn pending(&self) -> &str {
        &self.pending
    }

    /// Append text and return the text that is certain, cleaned up.
    pub(crate) fn push(&mut self, text: &str) -> String {
        self.pending.push_str(text);
        let rest = self.pending.split_off(certain_end(&self.pending));
        cleaned_up(std::mem::replace(&mut self.pending, rest))
    }

    /// Return the rest, cleaned up.
    pub(crate) fn finish(&mut self) -> String {
        cleaned_up(std::mem::take(&mut self.pending))
    }
}

/// Return the last position that no replacement of the text, continued in any way, can cross.
fn certain_end(text: &str) -> usize {
    let is_certain = |&end: &usize| {
        let (before, after) = text.split_at(end);
        // No replacement has three spaces in a row.
        let is_among_spaces = before.ends_with(' ') && after.starts_with("  ");
        is_among_spaces || !UNDECIDED.iter().any(|part| before.ends_with(part))
    };
    let mut ends = text.char_indices().map(|(start, _)| start).chain([text.len()]).rev();
    ends.find(is_certain).unwrap_or(0)
}

/// Strings in one buffer.
#[derive(Clone, Debug, Default)]
pub(super) struct TokenTexts {
    text: String,
    ends: Vec<usize>,
}

impl TokenTexts {
    /// Iterate over the strings.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }

    /// Return the length of all strings in bytes.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Remove all strings and keep their memory.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// Append a string.
    pub(super) fn push(&mut self, piece: &str) {
        self.text.push_str(piece);
        self.end();
    }

    /// Return the buffer, to append to the next string; [`Self::end`] ends it.
    pub(super) fn open(&mut self) -> &mut String {
        &mut self.text
    }

    /// End the string that was written last.
    pub(super) fn end(&mut self) {
        self.ends.push(self.text.len());
    }

    /// Join all strings.
    pub(super) fn into_text(self) -> String {
        self.text
    }
}

/// The error of one stage of a decoder.
pub(super) enum DecodeStageError {
    /// The output exceeds `max` bytes.
    TooLong { max: usize },
    /// A regular expression exceeds its step bound.
    Pattern(Box<Error>),
}

impl From<Error> for DecodeStageError {
    fn from(error: Error) -> Self {
        Self::Pattern(Box::new(error))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_is_cleaned_up_once_by_each_replacement_in_turn() {
        let cleaned = |text: &str| cleaned_up(text.to_owned());
        assert_eq!(cleaned("hello . ' ll don ' t , he 's ! ?"), "hello.'ll don't, he's!?");
        assert_eq!(cleaned("a  . do not n ' t x n ' t"), "a . do notn't xn't");
    }

    #[test]
    fn characters_one_by_one_are_cleaned_up_as_the_whole() {
        const LENGTH: u32 = 7;
        for alphabet in [" 've", " 're", " 'nt", " 'm.", " 's,"] {
            let characters: Vec<char> = alphabet.chars().collect();
            for number in 0..4_usize.pow(LENGTH) {
                let text: String = (0..LENGTH).map(|at| characters[number / 4_usize.pow(at) % 4]).collect();
                let mut stream = CleanUpStream::default();
                let mut found: String = text.chars().map(|c| stream.push(&c.to_string())).collect();
                found.push_str(&stream.finish());
                assert_eq!(found, cleaned_up(text.clone()), "{text:?}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn parts_of_a_text_are_cleaned_up_as_the_whole(
            parts in prop::collection::vec("[ '.,?!ntmsverxé]{0,4}", 0..12)
        ) {
            let mut stream = CleanUpStream::default();
            let mut found: String = parts.iter().map(|part| stream.push(part)).collect();
            prop_assert!(stream.pending().len() < 8, "{:?}", stream);
            found.push_str(&stream.finish());
            prop_assert_eq!(found, cleaned_up(parts.concat()));
        }
    }
}
