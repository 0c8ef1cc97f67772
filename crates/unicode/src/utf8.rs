//! Steps through valid UTF-8 as bytes.

/// Return the length of a character in bytes, given its first byte.
#[inline]
#[must_use]
pub fn char_len(first: u8) -> usize {
    match first {
        0..0xC0 => 1,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
    }
}

/// Return whether a byte is the first of a character.
#[inline]
#[must_use]
pub fn begins_char(byte: u8) -> bool {
    (byte as i8) >= -0x40
}

/// Return the number of characters that start in `bytes`.
#[inline]
#[must_use]
pub fn char_count(bytes: &[u8]) -> u32 {
    bytes.iter().map(|&byte| u32::from(begins_char(byte))).sum()
}

/// Decode the non-ASCII character that starts at byte `at`. Return its code point and its length in
/// bytes; `None` for an ASCII character and at the end. The result is unspecified if no character starts
/// at `at`.
#[inline]
#[must_use]
pub fn wide_char_at(text: &[u8], at: usize) -> Option<(u32, usize)> {
    let first = u32::from(*text.get(at).filter(|byte| !byte.is_ascii())?);
    let tail = |nth: usize| text.get(at + nth).map_or(0, |&byte| u32::from(byte & 0x3F));
    Some(match first {
        0..0xE0 => ((first & 0x1F) << 6 | tail(1), 2),
        0xE0..0xF0 => ((first & 0xF) << 12 | tail(1) << 6 | tail(2), 3),
        _ => ((first & 7) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3), 4),
    })
}

/// Return the start of the character before byte `at`, or `None` at the start of the text.
#[inline]
#[must_use]
pub fn previous_char_start(text: &[u8], at: usize) -> Option<usize> {
    let mut start = at.checked_sub(1)?;
    while start > 0 && text.get(start).is_some_and(|&byte| !begins_char(byte)) {
        start -= 1;
    }
    Some(start)
}

/// Return the end of the character at byte `at`; `at + 1` at the end of the text.
#[inline]
#[must_use]
pub fn next_char_start(text: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while text.get(end).is_some_and(|&byte| !begins_char(byte)) {
        end += 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_agree_with_every_character() {
        for c in (0..=u32::from(char::MAX)).filter_map(char::from_u32) {
            let text = c.to_string();
            assert_eq!(char_len(text.as_bytes()[0]), text.len());
            assert_eq!(char_count(text.as_bytes()), 1);
            assert_eq!(next_char_start(text.as_bytes(), 0), text.len());
            assert_eq!(previous_char_start(text.as_bytes(), text.len()), Some(0));
            assert_eq!(previous_char_start(text.as_bytes(), 0), None);
            let wide = (!c.is_ascii()).then_some((u32::from(c), text.len()));
            assert_eq!(wide_char_at(text.as_bytes(), 0), wide);
            assert_eq!(wide_char_at(text.as_bytes(), text.len()), None);
        }
    }
}
