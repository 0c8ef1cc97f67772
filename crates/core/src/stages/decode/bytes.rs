//! `ByteLevel` and `ByteFallback`: byte tokens to text.

use super::token_texts::TokenTexts;
use crate::text::push_bytes_of_printable;

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
