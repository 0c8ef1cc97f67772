//! Steps through valid UTF-8 given as bytes; out of range they do nothing.

/// The character at a place, not ASCII, and its length.
#[inline]
pub(super) fn decode(bytes: &[u8], at: usize) -> (u32, usize) {
    let byte = |n: usize| u32::from(bytes.get(at + n).copied().unwrap_or(0));
    let tail = |n: usize| byte(n) & 0x3F;
    match byte(0) {
        first @ 0..0x80 => (first, 1),
        first @ 0x80..0xE0 => ((first & 0x1F) << 6 | tail(1), 2),
        first @ 0xE0..0xF0 => ((first & 0x0F) << 12 | tail(1) << 6 | tail(2), 3),
        first => ((first & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3), 4),
    }
}

/// The start of the character before a place; `None` at the start.
#[inline]
pub(super) fn before(bytes: &[u8], at: usize) -> Option<usize> {
    let mut start = at.checked_sub(1)?;
    while start > 0 && bytes.get(start).is_some_and(|byte| byte & 0xC0 == 0x80) {
        start -= 1;
    }
    Some(start)
}

/// The place after the character at a place; one further at the end.
#[inline]
pub(super) fn after(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while bytes.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
        end += 1;
    }
    end
}
