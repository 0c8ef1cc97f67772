//! A block at once: one permutation of 128 table entries, one test a class.

use std::arch::x86_64::{
    __m512i, _mm512_loadu_si512, _mm512_mask_test_epi8_mask, _mm512_movepi8_mask, _mm512_permutex2var_epi8,
    _mm512_set1_epi8,
};

use super::byte_classes::{filled_up, ByteClasses, BLOCK};

/// `scalar::class_masks`.
///
/// # Safety
/// Needs the features named.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) unsafe fn class_masks<const N: usize>(
    bytes: &[u8],
    classes: &ByteClasses,
    masks: &mut Vec<[u64; N]>,
) {
    // SAFETY: two unaligned loads of 64 bytes within the table of 128.
    let table = unsafe {
        let table = classes.of_ascii.as_ptr();
        (_mm512_loadu_si512(table.cast()), _mm512_loadu_si512(table.add(BLOCK).cast()))
    };
    let mut blocks = bytes.chunks_exact(BLOCK);
    masks.extend((&mut blocks).map(|block| {
        // SAFETY: an unaligned load of the 64 bytes of `block`; the features are the caller's promise.
        unsafe { masks_of(_mm512_loadu_si512(block.as_ptr().cast()), table, u64::MAX) }
    }));
    let rest = blocks.remainder();
    if !rest.is_empty() {
        let (block, is_text) = filled_up(rest);
        // SAFETY: as above.
        masks.push(unsafe { masks_of(_mm512_loadu_si512(block.as_ptr().cast()), table, is_text) });
    }
}

/// Return the masks of 64 bytes; only those of `is_text` are of any class.
///
/// # Safety
/// Needs the features named.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
unsafe fn masks_of<const N: usize>(block: __m512i, table: (__m512i, __m512i), is_text: u64) -> [u64; N] {
    let is_wide = _mm512_movepi8_mask(block);
    let looked_up = _mm512_permutex2var_epi8(table.0, block, table.1);
    let mut masks = [0; N];
    for (class, mask) in masks[..N - 1].iter_mut().enumerate() {
        *mask = _mm512_mask_test_epi8_mask(is_text & !is_wide, looked_up, _mm512_set1_epi8(1 << class));
    }
    masks[N - 1] = is_wide;
    masks
}
