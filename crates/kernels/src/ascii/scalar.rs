//! The definitions.

/// How many bytes at the front of the block are ASCII letters or digits.
#[inline]
#[must_use]
pub fn alphanumeric_prefix_len(block: &[u8; 16]) -> usize {
    block.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count()
}

/// Lowercase 16 ASCII bytes at once; bytes above 127 must not occur.
///
/// Adding `0x80 - 'A'` sets the top bit of bytes from 'A' on, adding `0x7F - 'Z'` that of bytes after
/// 'Z'; where only the first is set stands a capital, whose bit 5 is then set. Nothing carries over.
#[inline]
#[must_use]
pub fn lowercase_16(block: u128) -> u128 {
    const ONES: u128 = u128::from_le_bytes([1; 16]);
    let from_a = block + ONES * u128::from(0x80 - b'A');
    let after_z = block + ONES * u128::from(0x7F - b'Z');
    let capitals = (from_a ^ after_z) & (ONES * 0x80);
    block | capitals >> 2
}
