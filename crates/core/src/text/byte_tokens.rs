//! Bytes as text: the printable characters of byte-level vocabularies (GPT-2, Radford et al. 2019), and the
//! byte tokens `<0x00>` to `<0xFF>` of byte fallback.
//!
//! Printable bytes map to themselves in Latin-1; the 68 others map to the characters from U+0100 on, in
//! order.

const PRINTABLE: [char; 256] = printable();

const fn printable() -> [char; 256] {
    let mut chars = ['\0'; 256];
    let (mut byte, mut others) = (0, 0);
    while byte < 256 {
        let code = if matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF) {
            byte
        } else {
            others += 1;
            0xFF + others
        };
        if let Some(c) = char::from_u32(code) {
            chars[byte as usize] = c;
        }
        byte += 1;
    }
    chars
}

/// By character: its byte.
static BYTES: [Option<u8>; 0x144] = {
    let mut bytes = [None; 0x144];
    let mut byte = 0;
    while byte < 256 {
        bytes[PRINTABLE[byte] as usize] = Some(byte as u8);
        byte += 1;
    }
    bytes
};

/// Return the printable character of a byte.
#[inline]
#[must_use]
pub const fn printable_of(byte: u8) -> char {
    PRINTABLE[byte as usize]
}

/// Return the byte of a printable character, if it has one.
#[inline]
#[must_use]
pub fn byte_of_printable(c: char) -> Option<u8> {
    BYTES.get(c as usize).copied().flatten()
}

/// Append the bytes of a token of printable characters; a token with any other character is its own text.
pub fn push_bytes_of_printable(token: &str, bytes: &mut Vec<u8>) {
    let start = bytes.len();
    let mut rest = token;
    loop {
        // Most bytes are visible ASCII, which represents itself.
        let same = rest.bytes().take_while(u8::is_ascii_graphic).count();
        bytes.extend_from_slice(&rest.as_bytes()[..same]);
        let mut chars = rest[same..].chars();
        let Some(c) = chars.next() else { return };
        let Some(byte) = byte_of_printable(c) else {
            bytes.truncate(start);
            bytes.extend_from_slice(token.as_bytes());
            return;
        };
        bytes.push(byte);
        rest = chars.as_str();
    }
}

/// Return the byte token of a byte.
#[must_use]
pub fn byte_entry(byte: u8) -> String {
    format!("<0x{byte:02X}>")
}

/// Return the byte of a byte token.
#[must_use]
pub fn byte_of_entry(entry: &str) -> Option<u8> {
    let digits = entry.strip_prefix("<0x")?.strip_suffix('>')?;
    let is_digit = |digit: u8| digit.is_ascii_digit() || (b'A'..=b'F').contains(&digit);
    let is_byte = digits.len() == 2 && digits.bytes().all(is_digit);
    u8::from_str_radix(digits, 16).ok().filter(|_| is_byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_its_own_character() {
        for byte in 0..=255 {
            assert_eq!(byte_of_printable(printable_of(byte)), Some(byte));
        }
        let known: Vec<char> = [0, 9, b'\n', b' ', b'A', 0x7F, 0xA0, 0xAD].map(printable_of).into();
        assert_eq!(known, ['Ā', 'ĉ', 'Ċ', 'Ġ', 'A', 'ġ', 'ł', 'Ń']);
        assert_eq!((0..0x300).filter_map(char::from_u32).filter_map(byte_of_printable).count(), 256);
    }

    #[test]
    fn only_exact_byte_tokens_are_bytes() {
        for byte in 0..=u8::MAX {
            assert_eq!(byte_of_entry(&byte_entry(byte)), Some(byte));
        }
        for other in ["<0x+A>", "<0x0a>", "<0xA>", "<0x00A>", "<0x0A", "0x0A>", "<0X0A>", "<0xAG>", ""] {
            assert_eq!(byte_of_entry(other), None, "{other}");
        }
    }
}
