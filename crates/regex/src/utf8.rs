//! Steps through valid UTF-8 given as bytes; out of range they do nothing.

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
