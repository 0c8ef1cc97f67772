//! `ByteLevel`: printable characters back to bytes, all tokens as one text.

use super::pieces::TextPieces;

/// Undo GPT-2's mapping; a token with a character outside it stands for itself. Bytes that are not UTF-8
/// become replacement characters.
pub(super) fn run<'t>(tokens: impl Iterator<Item = &'t str>, out: &mut TextPieces) {
    let mut bytes = Vec::new();
    for token in tokens {
        let start = bytes.len();
        for c in token.chars() {
            match byte_of(c) {
                Some(byte) => bytes.push(byte),
                None => {
                    bytes.truncate(start);
                    bytes.extend_from_slice(token.as_bytes());
                    break;
                }
            }
        }
    }
    out.push(&String::from_utf8_lossy(&bytes));
}

/// The byte that a character stands for: printable Latin-1 for itself, the 68 others from U+0100 on.
fn byte_of(c: char) -> Option<u8> {
    match u32::from(c) {
        code @ (0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF) => Some(code as u8),
        code @ 0x100..=0x120 => Some((code - 0x100) as u8),
        code @ 0x121..=0x142 => Some((code - 0x121 + 0x7F) as u8),
        0x143 => Some(0xAD),
        _ => None,
    }
}
