//! One mask at once: the numbers 0 to 63 are compressed by the mask, then widened.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi16, _mm512_add_epi32, _mm512_castsi512_si128, _mm512_castsi512_si256,
    _mm512_cvtepu8_epi16, _mm512_cvtepu8_epi32, _mm512_extracti32x4_epi32, _mm512_extracti64x4_epi64,
    _mm512_loadu_si512, _mm512_maskz_compress_epi8, _mm512_set1_epi16, _mm512_set1_epi32,
    _mm512_storeu_si512,
};

use super::position::{Position, SimdPosition, BLOCK};

/// 0 to 63.
pub(crate) const NUMBERS: [u8; BLOCK] = {
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
pub(super) unsafe fn list<P: Position>(masks: &[u64], positions: &mut Vec<P>) {
    let count: usize = masks.iter().map(|mask| mask.count_ones() as usize).sum();
    positions.clear();
    positions.reserve(count + BLOCK);
    // SAFETY: a load of the 64 bytes of the table.
    let numbers = unsafe { _mm512_loadu_si512(NUMBERS.as_ptr().cast()) };
    let mut listed = 0;
    for (&mask, base) in masks.iter().zip((0..).step_by(BLOCK)) {
        let (found, count) = (_mm512_maskz_compress_epi8(mask, numbers), mask.count_ones());
        // SAFETY: all masks before have `listed` bits, at most `count` of all, and there is room for 64 more; the
        // features are those of this function.
        unsafe { P::store(found, count, base, positions.as_mut_ptr().add(listed)) };
        listed += count as usize;
    }
    // SAFETY: the first `listed` have been written, each mask's bits right after those of the one before.
    unsafe { positions.set_len(listed) };
}

impl SimdPosition for u16 {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn store(bytes: __m512i, _: u32, base: usize, out: *mut Self) {
        let base = _mm512_set1_epi16(base as i16);
        let low = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(bytes));
        let high = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64::<1>(bytes));
        // SAFETY: two unaligned stores of 32 numbers each, which is the room there is.
        unsafe {
            _mm512_storeu_si512(out.cast(), _mm512_add_epi16(low, base));
            _mm512_storeu_si512(out.add(BLOCK / 2).cast(), _mm512_add_epi16(high, base));
        }
    }
}

impl SimdPosition for u32 {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn store(bytes: __m512i, count: u32, base: usize, out: *mut Self) {
        let base = _mm512_set1_epi32(base as i32);
        // SAFETY: up to four unaligned stores of 16 numbers each, which is the room there is.
        unsafe {
            let put = |at: usize, bytes| {
                let numbers = _mm512_add_epi32(_mm512_cvtepu8_epi32(bytes), base);
                _mm512_storeu_si512(out.add(at).cast(), numbers);
            };
            put(0, _mm512_castsi512_si128(bytes));
            put(16, _mm512_extracti32x4_epi32::<1>(bytes));
            if count > 32 {
                put(32, _mm512_extracti32x4_epi32::<2>(bytes));
                put(48, _mm512_extracti32x4_epi32::<3>(bytes));
            }
        }
    }
}
