//! `ByteFallback`: entries such as `<0x0A>` become bytes, and those text.

use super::pieces::TextPieces;

/// Join neighbouring bytes; bytes that are not UTF-8 become one replacement character each.
pub(super) fn run<'t>(tokens: impl Iterator<Item = &'t str>, out: &mut TextPieces) {
    let mut bytes = Vec::new();
    for token in tokens {
        if let Some(byte) = byte_of(token) {
            bytes.push(byte);
        } else {
            flush(&mut bytes, out);
            out.push(token);
        }
    }
    flush(&mut bytes, out);
}

/// The byte that a token stands for; `<0x+A>` is one too, as in `tokenizers`.
pub(super) fn byte_of(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    u8::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 2)
}

fn flush(bytes: &mut Vec<u8>, out: &mut TextPieces) {
    match std::str::from_utf8(bytes) {
        Ok("") => {}
        Ok(text) => out.push(text),
        Err(_) => bytes.iter().for_each(|_| out.push("\u{FFFD}")),
    }
    bytes.clear();
}

/// The same for one run of bytes, as text.
pub(super) fn push_text(bytes: &[u8], text: &mut Vec<u8>) {
    match std::str::from_utf8(bytes) {
        Ok(_) => text.extend_from_slice(bytes),
        Err(_) => bytes.iter().for_each(|_| text.extend_from_slice("\u{FFFD}".as_bytes())),
    }
}
