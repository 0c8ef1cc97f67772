//! Which of four keys is the one sought.

use super::WORDS;

/// The place of a key that is none of the others and not zero.
#[inline(always)]
pub(super) fn find(keys: &[u128; WORDS], key: u128) -> Option<usize> {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    return find_sse2(keys, key);
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    find_scalar(keys, key)
}

/// The definition.
#[cfg(any(test, miri, not(target_arch = "x86_64")))]
#[inline(always)]
pub(super) fn find_scalar(keys: &[u128; WORDS], key: u128) -> Option<usize> {
    keys.iter().position(|&found| found == key)
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
pub(super) fn find_sse2(keys: &[u128; WORDS], key: u128) -> Option<usize> {
    use std::arch::x86_64::*;
    // SAFETY: SSE2 is part of x86-64, and the loads are of sixteen bytes that the references are to.
    let bytes = unsafe {
        let sought = _mm_loadu_si128(std::ptr::from_ref(&key).cast());
        let [a, b, c, d] = keys
            .each_ref()
            .map(|key| _mm_cmpeq_epi32(_mm_loadu_si128(std::ptr::from_ref(key).cast()), sought));
        // Four bits a key.
        _mm_movemask_epi8(_mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d))) as u32
    };
    let two = bytes & bytes >> 1;
    place_of(two & two >> 2 & 0x1111, 4)
}

/// The same by halves of keys.
///
/// # Safety
/// Needs AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
#[inline]
pub(super) unsafe fn find_avx2(keys: &[u128; WORDS], key: u128) -> Option<usize> {
    use std::arch::x86_64::*;
    // SAFETY: the loads are of sixteen and of four times sixteen bytes that the references are to.
    let halves = unsafe {
        let sought = _mm256_broadcastsi128_si256(_mm_loadu_si128(std::ptr::from_ref(&key).cast()));
        let [low, high] = [0, 2].map(|at| {
            let two = _mm256_loadu_si256(std::ptr::from_ref(&keys[at]).cast());
            _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(two, sought))) as u32
        });
        low | high << 4
    };
    place_of(halves & halves >> 1 & 0x55, 2)
}

/// The same by halves of keys.
///
/// # Safety
/// Needs AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt")]
#[inline]
pub(super) unsafe fn find_avx512(keys: &[u128; WORDS], key: u128) -> Option<usize> {
    use std::arch::x86_64::*;
    // SAFETY: the loads are of sixteen and of four times sixteen bytes that the references are to.
    let halves = unsafe {
        let sought = _mm512_broadcast_i32x4(_mm_loadu_si128(std::ptr::from_ref(&key).cast()));
        u32::from(_mm512_cmpeq_epi64_mask(_mm512_loadu_si512(keys.as_ptr().cast()), sought))
    };
    place_of(halves & halves >> 1 & 0x55, 2)
}

/// The place of a key by the lowest bit that is set, of so many a key.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn place_of(bits: u32, a_key: u32) -> Option<usize> {
    (bits != 0).then(|| (bits.trailing_zeros() / a_key) as usize % WORDS)
}
