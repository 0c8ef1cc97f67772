//! Entries that stand for single bytes: `<0x00>` to `<0xFF>`.

/// The entry of a byte.
#[must_use]
pub fn byte_entry(byte: u8) -> String {
    format!("<0x{byte:02X}>")
}

/// The byte that an entry stands for, if any.
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
    fn an_entry_stands_for_its_byte_and_nothing_like_it_does() {
        for byte in 0..=u8::MAX {
            assert_eq!(byte_of_entry(&byte_entry(byte)), Some(byte));
        }
        for other in ["<0x+A>", "<0x0a>", "<0xA>", "<0x00A>", "<0x0A", "0x0A>", "<0X0A>", "<0xAG>", ""] {
            assert_eq!(byte_of_entry(other), None, "{other}");
        }
    }
}
