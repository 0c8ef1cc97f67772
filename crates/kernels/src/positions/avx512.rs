//! A mask at once: the numbers 0 to 63 compressed by it, then made wide.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi16, _mm512_castsi512_si256, _mm512_cvtepu8_epi16, _mm512_extracti64x4_epi64,
    _mm512_loadu_si512, _mm512_maskz_compress_epi8, _mm512_set1_epi16, _mm512_storeu_si512,
};

use super::BLOCK;

const NUMBERS: [u8; BLOCK] = {
    let mut numbers = [0; BLOCK];
    let mut i = 0;
    while i < BLOCK {
        numbers[i] = i as u8;
        i += 1;
    }
    numbers
};

/// `scalar::list`.
///
/// # Safety
/// Needs the features named.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
pub(super) unsafe fn list(masks: &[u64], positions: &mut Vec<u16>) {
    let count: usize = masks.iter().map(|mask| mask.count_ones() as usize).sum();
    positions.clear();
    positions.reserve(count + BLOCK);
    // SAFETY: a load of the 64 bytes of the table.
    let numbers = unsafe { _mm512_loadu_si512(NUMBERS.as_ptr().cast()) };
    let mut listed = 0;
    for (&mask, base) in masks.iter().zip((0..=u16::MAX).step_by(BLOCK)) {
        // SAFETY: all masks before have `listed` bits, at most `count`, and there is room for 64 more.
        unsafe { store(mask, base, numbers, positions.as_mut_ptr().add(listed)) };
        listed += mask.count_ones() as usize;
    }
    // SAFETY: the first `listed` have been written, each mask's bits right after those of the one before.
    unsafe { positions.set_len(listed) };
}

/// Write `base` plus the number of each bit, and anything after them: 64 in all.
///
/// # Safety
/// Needs the features named, and room for 64.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
unsafe fn store(mask: u64, base: u16, numbers: __m512i, out: *mut u16) {
    let found = _mm512_maskz_compress_epi8(mask, numbers);
    let base = _mm512_set1_epi16(base as i16);
    let low = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(found));
    let high = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64::<1>(found));
    // SAFETY: two unaligned stores of 32 numbers each, which is the room there is.
    unsafe {
        _mm512_storeu_si512(out.cast(), _mm512_add_epi16(low, base));
        _mm512_storeu_si512(out.add(BLOCK / 2).cast(), _mm512_add_epi16(high, base));
    }
}
