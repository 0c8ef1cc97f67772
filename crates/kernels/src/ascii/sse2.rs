//! `scalar::alphanumeric_prefix_len` in a handful of instructions.

use std::arch::x86_64::{
    __m128i, _mm_cmplt_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8, _mm_sub_epi8,
};

/// How many bytes at the front of the block are ASCII letters or digits.
#[inline]
#[must_use]
pub fn alphanumeric_prefix_len(block: &[u8; 16]) -> usize {
    // SAFETY: SSE2 is part of x86-64, and the load reads exactly the 16 bytes of `block`, unaligned.
    let mask = unsafe {
        let bytes = _mm_loadu_si128(block.as_ptr().cast());
        let folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
        let letters = below(folded, b'a', 26);
        let digits = below(bytes, b'0', 10);
        _mm_movemask_epi8(_mm_or_si128(letters, digits))
    };
    (!mask).trailing_zeros() as usize
}

/// Bytes in `first..first + count`, by one signed comparison after moving `first` to -128.
///
/// # Safety
/// Needs SSE2, which every x86-64 has.
#[inline]
unsafe fn below(bytes: __m128i, first: u8, count: u8) -> __m128i {
    // SAFETY: register arithmetic only.
    unsafe {
        let moved = _mm_sub_epi8(bytes, _mm_set1_epi8(first.wrapping_add(128) as i8));
        _mm_cmplt_epi8(moved, _mm_set1_epi8((count as i8).wrapping_add(-128)))
    }
}
