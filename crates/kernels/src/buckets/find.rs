//! Finds the slot of a key in a bucket.

use super::bucket::SLOTS;

/// Return the slot of a key. The key is not zero, and no two slots have the same key.
#[inline(always)]
pub(super) fn find(keys: &[u128; SLOTS], key: u128) -> Option<usize> {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    return find_sse2(keys, key);
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    find_scalar(keys, key)
}

/// Find by the scalar definition.
#[cfg(any(test, miri, not(target_arch = "x86_64")))]
#[inline(always)]
pub(super) fn find_scalar(keys: &[u128; SLOTS], key: u128) -> Option<usize> {
    keys.iter().position(|&found| found == key)
}

/// `find_scalar` with SSE2: compares the quarters of the keys.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
pub(super) fn find_sse2(keys: &[u128; SLOTS], key: u128) -> Option<usize> {
    use std::arch::x86_64::*;
    // SAFETY: SSE2 is part of x86-64, and each load reads the sixteen bytes of a reference.
    let [is_first, is_second] = unsafe {
        let wanted = _mm_loadu_si128(std::ptr::from_ref(&key).cast());
        keys.each_ref().map(|key| {
            let found = _mm_loadu_si128(std::ptr::from_ref(key).cast());
            _mm_movemask_epi8(_mm_cmpeq_epi32(found, wanted)) == 0xFFFF
        })
    };
    (is_first || is_second).then_some(usize::from(is_second))
}

/// `find_scalar` with AVX2: compares the halves of the keys.
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
        let both = _mm256_loadu_si256(keys.as_ptr().cast());
        _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(both, wanted))) as u32
    };
    // Two bits for each key.
    let found = halves & halves >> 1 & 0b101;
    (found != 0).then_some((found >> 2) as usize)
}
