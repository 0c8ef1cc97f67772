//! Finds the slot of a key in a bucket.

use super::SLOTS;

/// Returns the slot of a key. The key is not zero, and no two slots have the same key.
#[inline(always)]
pub(super) fn find(keys: &[u128; SLOTS], key: u128) -> Option<usize> {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    return find_sse2(keys, key);
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    find_scalar(keys, key)
}

/// The scalar definition of [`find`].
#[cfg(any(test, miri, not(target_arch = "x86_64")))]
#[inline(always)]
pub(super) fn find_scalar(keys: &[u128; SLOTS], key: u128) -> Option<usize> {
    keys.iter().position(|&found| found == key)
}

/// [`find_scalar`] with SSE2: compares the quarters of the keys.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
pub(super) fn find_sse2(keys: &[u128; SLOTS], key: u128) -> Option<usize> {
    use std::arch::x86_64::*;
    // SAFETY: SSE2 is part of x86-64, and each load reads the sixteen bytes of a reference.
    let bytes = unsafe {
        let wanted = _mm_loadu_si128(std::ptr::from_ref(&key).cast());
        let [a, b, c, d] = keys
            .each_ref()
            .map(|key| _mm_cmpeq_epi32(_mm_loadu_si128(std::ptr::from_ref(key).cast()), wanted));
        // Four bits for each key.
        _mm_movemask_epi8(_mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d))) as u32
    };
    let two = bytes & bytes >> 1;
    slot_of(two & two >> 2 & 0x1111, 4)
}

/// [`find_scalar`] with AVX2: compares the halves of the keys.
///
/// # Safety
/// The processor has the features that the attribute names.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
#[inline]
pub(super) unsafe fn find_avx2(keys: &[u128; SLOTS], key: u128) -> Option<usize> {
    use std::arch::x86_64::*;
    // SAFETY: each load reads sixteen bytes or more, all of them within a reference.
    let halves = unsafe {
        let wanted = _mm256_broadcastsi128_si256(_mm_loadu_si128(std::ptr::from_ref(&key).cast()));
        let [low, high] = [0, 2].map(|at| {
            let two = _mm256_loadu_si256(std::ptr::from_ref(&keys[at]).cast());
            _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(two, wanted))) as u32
        });
        low | high << 4
    };
    slot_of(halves & halves >> 1 & 0x55, 2)
}

/// [`find_scalar`] with AVX-512: compares the halves of the keys.
///
/// # Safety
/// The processor has the features that the attribute names.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt")]
#[inline]
pub(super) unsafe fn find_avx512(keys: &[u128; SLOTS], key: u128) -> Option<usize> {
    use std::arch::x86_64::*;
    // SAFETY: each load reads sixteen bytes or more, all of them within a reference.
    let halves = unsafe {
        let wanted = _mm512_broadcast_i32x4(_mm_loadu_si128(std::ptr::from_ref(&key).cast()));
        u32::from(_mm512_cmpeq_epi64_mask(_mm512_loadu_si512(keys.as_ptr().cast()), wanted))
    };
    slot_of(halves & halves >> 1 & 0x55, 2)
}

/// Returns the slot of the lowest set bit, with `bits_per_key` bits for each slot.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn slot_of(bits: u32, bits_per_key: u32) -> Option<usize> {
    (bits != 0).then(|| (bits.trailing_zeros() / bits_per_key) as usize % SLOTS)
}
