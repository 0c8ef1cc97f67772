//! Tokens as text.

use foldhash::{HashSet, HashSetExt};
use piecework_core::engine::Tokenizer;
use piecework_core::spec::DecoderSpec;
use piecework_core::text::{byte_of_printable, push_bytes_of_printable};
use serde::Serialize;

/// A token as in the vocabulary, as text, and the bytes of one that is no text, in hexadecimal.
#[derive(Serialize)]
pub(crate) struct ReadableToken(String, String, String);

/// How tokens of a tokenizer become text.
pub(crate) struct ReadableTokens {
    is_byte_level: bool,
    added: HashSet<String>,
}

impl ReadableTokens {
    pub(crate) fn of(tokenizer: &Tokenizer) -> Self {
        let mut added = HashSet::new();
        added.extend(tokenizer.added_tokens().iter().map(|token| token.content.clone()));
        Self { is_byte_level: is_byte_level(tokenizer.stages_spec().decoder.as_ref()), added }
    }

    /// Return whether tokens are written in the byte-level alphabet of GPT-2.
    pub(crate) fn is_byte_level(&self) -> bool {
        self.is_byte_level
    }

    /// Return a token as text.
    pub(crate) fn of_token(&self, token: &str) -> ReadableToken {
        let made = |text: String, hex: String| ReadableToken(token.to_owned(), text, hex);
        if let Some(digits) = byte_digits(token) {
            return made(token.to_owned(), digits.to_lowercase());
        }
        if !self.is_spelled(token) {
            return made(token.to_owned(), String::new());
        }
        match String::from_utf8(bytes_of(token)) {
            Ok(text) => made(text, String::new()),
            Err(error) => made(text_of_bytes(token), in_hex(error.as_bytes())),
        }
    }

    /// Return a token as text alone.
    pub(crate) fn text_of(&self, token: &str) -> String {
        self.of_token(token).1
    }

    fn is_spelled(&self, token: &str) -> bool {
        let is_printable = || token.chars().all(|c| byte_of_printable(c).is_some());
        self.is_byte_level && !self.added.contains(token) && is_printable()
    }
}

/// Return the text of a byte-level token, with invalid UTF-8 written as `\xe6`.
pub(crate) fn text_of_bytes(token: &str) -> String {
    if token.chars().any(|c| byte_of_printable(c).is_none()) {
        return token.to_owned();
    }
    let mut text = String::new();
    for chunk in bytes_of(token).utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    text
}

fn bytes_of(token: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    push_bytes_of_printable(token, &mut bytes);
    bytes
}

fn in_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

fn byte_digits(token: &str) -> Option<&str> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    (digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())).then_some(digits)
}

fn is_byte_level(decoder: Option<&DecoderSpec>) -> bool {
    match decoder {
        Some(DecoderSpec::Sequence(parts)) => {
            parts.iter().any(|part| matches!(part, DecoderSpec::ByteLevel(_)))
        }
        decoder => matches!(decoder, Some(DecoderSpec::ByteLevel(_))),
    }
}
