//! Eight code points at once: each becomes four bytes, of which a shuffle keeps those of its length.

use std::arch::x86_64::*;

use super::scalar;

/// The code points of a step.
const STEP: usize = 8;
/// The most bytes of a character in UTF-8.
const MAX_CHAR_BYTES: usize = 4;

/// By the lengths of four characters: the bytes to keep of four each, and their number.
///
/// Bit `i` of the index and bit `i + 4` are the low and the high bit of the length of character `i`, minus one.
static KEPT: [([u8; 16], u8); 256] = {
    let mut kept = [([0x80; 16], 0); 256];
    let mut index = 0;
    while index < kept.len() {
        let (mut character, mut count) = (0, 0);
        while character < 4 {
            let length = 1 + (index >> character & 1) + (index >> (character + 4) & 1) * 2;
            let mut byte = 0;
            while byte < length {
                kept[index].0[count] = (4 * character + byte) as u8;
                (count, byte) = (count + 1, byte + 1);
            }
            character += 1;
        }
        kept[index].1 = count as u8;
        index += 1;
    }
    kept
};

/// A code unit that can be loaded.
pub(super) trait CodeUnit: scalar::CodeUnit {
    /// The units that [`Self::copy_ascii`] copies.
    const ASCII_UNITS: usize;

    /// Load [`STEP`] units as code points.
    ///
    /// # Safety
    /// Needs AVX2, and `STEP` readable units.
    unsafe fn load(units: *const Self) -> __m256i;

    /// Write `ASCII_UNITS` units as bytes; return whether all are ASCII. If not, the bytes are unspecified.
    ///
    /// # Safety
    /// Needs AVX2, `ASCII_UNITS` readable units and as many writable bytes.
    unsafe fn copy_ascii(units: *const Self, out: *mut u8) -> bool;
}

impl CodeUnit for u8 {
    const ASCII_UNITS: usize = 32;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load(units: *const Self) -> __m256i {
        // SAFETY: by the contract of the trait.
        _mm256_cvtepu8_epi32(unsafe { _mm_loadl_epi64(units.cast()) })
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn copy_ascii(units: *const Self, out: *mut u8) -> bool {
        // SAFETY: by the contract of the trait.
        unsafe {
            let bytes = _mm256_loadu_si256(units.cast());
            _mm256_storeu_si256(out.cast(), bytes);
            _mm256_movemask_epi8(bytes) == 0
        }
    }
}

impl CodeUnit for u16 {
    const ASCII_UNITS: usize = 16;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load(units: *const Self) -> __m256i {
        // SAFETY: by the contract of the trait.
        _mm256_cvtepu16_epi32(unsafe { _mm_loadu_si128(units.cast()) })
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn copy_ascii(units: *const Self, out: *mut u8) -> bool {
        // SAFETY: by the contract of the trait.
        unsafe {
            let both = _mm256_loadu_si256(units.cast());
            let (low, high) = (_mm256_castsi256_si128(both), _mm256_extracti128_si256::<1>(both));
            _mm_storeu_si128(out.cast(), _mm_packus_epi16(low, high));
            _mm256_testz_si256(both, _mm256_set1_epi16(!0x7F)) != 0
        }
    }
}

impl CodeUnit for u32 {
    const ASCII_UNITS: usize = 8;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load(units: *const Self) -> __m256i {
        // SAFETY: by the contract of the trait.
        unsafe { _mm256_loadu_si256(units.cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn copy_ascii(units: *const Self, out: *mut u8) -> bool {
        // SAFETY: by the contract of the trait.
        unsafe {
            let points = _mm256_loadu_si256(units.cast());
            let (low, high) = (_mm256_castsi256_si128(points), _mm256_extracti128_si256::<1>(points));
            let words = _mm_packus_epi32(low, high);
            _mm_storel_epi64(out.cast(), _mm_packus_epi16(words, words));
            _mm256_testz_si256(points, _mm256_set1_epi32(!0x7F)) != 0
        }
    }
}

/// [`scalar::append`] with AVX2.
///
/// # Safety
/// The processor has the features that the attribute names.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn append<U: CodeUnit>(units: &[U], out: &mut Vec<u8>) -> bool {
    // Every store writes at most 32 bytes, of which those after the text are written again.
    out.reserve(MAX_CHAR_BYTES * units.len() + 32);
    let (mut read, mut end) = (0, out.len());
    let bytes = out.as_mut_ptr();
    while units.len() - read >= U::ASCII_UNITS {
        // SAFETY: there are `ASCII_UNITS` units, and each unit before took at most `MAX_CHAR_BYTES` of the reserved bytes.
        if unsafe { U::copy_ascii(units.as_ptr().add(read), bytes.add(end)) } {
            (read, end) = (read + U::ASCII_UNITS, end + U::ASCII_UNITS);
            continue;
        }
        // SAFETY: as above; a step has at most `ASCII_UNITS` units.
        match unsafe { step(U::load(units.as_ptr().add(read)), bytes.add(end)) } {
            Some(written) => (read, end) = (read + STEP, end + written),
            None => return false,
        }
    }
    // SAFETY: `end` bytes have been written.
    unsafe { out.set_len(end) };
    scalar::append(&units[read..], out)
}

/// Write eight code points as UTF-8. Return the number of bytes; `None` for a surrogate or a number that is too large.
///
/// # Safety
/// Needs AVX2, and 32 writable bytes.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn step(points: __m256i, out: *mut u8) -> Option<usize> {
    let all = |number: u32| _mm256_set1_epi32(number as i32);
    let is_above = |number| _mm256_cmpgt_epi32(points, all(number));
    let is_surrogate = _mm256_cmpeq_epi32(_mm256_and_si256(points, all(!0x7FF)), all(0xD800));
    // As signed numbers, those with the top bit are below zero.
    let is_large = _mm256_or_si256(is_above(0x10_FFFF), points);
    if _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_or_si256(is_surrogate, is_large))) != 0 {
        return None;
    }
    let or = |a, b| _mm256_or_si256(a, b);
    let low_bits = |bits| _mm256_and_si256(bits, all(0x3F));
    // The last six bits of the code point, those before them, and those before these.
    let (third, second, first) = (
        low_bits(points),
        low_bits(_mm256_srli_epi32::<6>(points)),
        low_bits(_mm256_srli_epi32::<12>(points)),
    );
    let two = or(or(_mm256_srli_epi32::<6>(points), _mm256_slli_epi32::<8>(third)), all(0x80C0));
    let of_three = or(_mm256_srli_epi32::<12>(points), _mm256_slli_epi32::<8>(second));
    let three = or(or(of_three, _mm256_slli_epi32::<16>(third)), all(0x80_80E0));
    let of_four = or(_mm256_srli_epi32::<18>(points), _mm256_slli_epi32::<8>(first));
    let last = or(_mm256_slli_epi32::<16>(second), _mm256_slli_epi32::<24>(third));
    let four = or(or(of_four, last), all(0x8080_80F0));
    let has = [is_above(0x7F), is_above(0x7FF), is_above(0xFFFF)];
    let bytes = _mm256_blendv_epi8(points, two, has[0]);
    let bytes = _mm256_blendv_epi8(bytes, three, has[1]);
    let bytes = _mm256_blendv_epi8(bytes, four, has[2]);
    let [has_two, has_three, has_four] =
        has.map(|lanes| _mm256_movemask_ps(_mm256_castsi256_ps(lanes)) as usize);
    let (low, high) = (has_two ^ has_three ^ has_four, has_three);
    let (shuffle, count) = &KEPT[low & 15 | (high & 15) << 4];
    let (next_shuffle, next_count) = &KEPT[low >> 4 | high & 0xF0];
    // SAFETY: two loads of the 16 bytes of an entry, and two stores of 16 bytes, the second after at most 16.
    unsafe {
        let kept =
            _mm_shuffle_epi8(_mm256_castsi256_si128(bytes), _mm_loadu_si128(shuffle.as_ptr().cast()));
        _mm_storeu_si128(out.cast(), kept);
        let next = _mm256_extracti128_si256::<1>(bytes);
        let kept = _mm_shuffle_epi8(next, _mm_loadu_si128(next_shuffle.as_ptr().cast()));
        _mm_storeu_si128(out.add(usize::from(*count)).cast(), kept);
    }
    Some(usize::from(count + next_count))
}
