//! Bit masks to lists of the positions of set bits.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::__m512i;

use crate::level::Level;

/// Replace `positions` by the positions of all set bits of at most `MAX_MASKS` masks; further masks are ignored.
///
/// Bit `i` of mask `k` has position `64 k + i`.
#[inline]
pub fn list<P: Position>(masks: &[u64], positions: &mut Vec<P>) {
    list_at(Level::active(), masks, positions);
}

/// `list` with the instructions of a level.
#[inline]
pub fn list_at<P: Position>(level: Level, masks: &[u64], positions: &mut Vec<P>) {
    let masks = &masks[..masks.len().min(P::MAX_MASKS)];
    match level.set() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a level exists only where the processor has its instructions.
        crate::level::Set::Avx512 => unsafe { avx512::list(masks, positions) },
        _ => scalar::list(masks, positions),
    }
}

/// The bits of a mask.
const BLOCK: usize = 64;

/// The position of a bit.
pub trait Position: Copy + Default + SimdPosition {
    /// The most masks whose positions are listed.
    const MAX_MASKS: usize;

    /// Return the position of a bit of the mask that begins at position `base`.
    fn at(base: usize, bit: u32) -> Self;
}

impl Position for u16 {
    const MAX_MASKS: usize = Self::MAX as usize / BLOCK + 1;

    #[inline(always)]
    fn at(base: usize, bit: u32) -> Self {
        (base as Self).wrapping_add(bit as Self)
    }
}

impl Position for u32 {
    const MAX_MASKS: usize = Self::MAX as usize / BLOCK + 1;

    #[inline(always)]
    fn at(base: usize, bit: u32) -> Self {
        (base as Self).wrapping_add(bit)
    }
}

/// Positions that one instruction can widen from bytes.
#[cfg(target_arch = "x86_64")]
pub trait SimdPosition: Sized {
    /// Write `base` plus each of the first `count` bytes, then unspecified values: 64 in all.
    ///
    /// # Safety
    /// Needs the features named where it is implemented, and room for 64.
    unsafe fn store(bytes: __m512i, count: u32, base: usize, out: *mut Self);
}

/// Nothing, on architectures without such instructions.
#[cfg(not(target_arch = "x86_64"))]
pub trait SimdPosition {}
#[cfg(not(target_arch = "x86_64"))]
impl SimdPosition for u16 {}
#[cfg(not(target_arch = "x86_64"))]
impl SimdPosition for u32 {}

/// The scalar definition: bit by bit, from the lowest.
pub mod scalar {
    use super::{Position, BLOCK};

    /// Positions that are written at once, needed or not, with one branch.
    const GROUP: usize = 8;

    /// See [`super::list`].
    pub fn list<P: Position>(masks: &[u64], positions: &mut Vec<P>) {
        let count: usize = masks.iter().map(|mask| mask.count_ones() as usize).sum();
        if positions.len() < count + BLOCK {
            positions.resize(count + BLOCK, P::default());
        }
        let mut listed = 0;
        for (&mask, base) in masks.iter().zip((0..).step_by(BLOCK)) {
            let (mut left, count) = (mask, mask.count_ones() as usize);
            let (groups, _) = positions[listed..listed + BLOCK].as_chunks_mut::<GROUP>();
            for group in &mut groups[..count.div_ceil(GROUP)] {
                for position in group {
                    *position = P::at(base, left.trailing_zeros());
                    left &= left.wrapping_sub(1);
                }
            }
            listed += count;
        }
        positions.truncate(listed);
    }
}

/// 0 to 63.
#[cfg(target_arch = "x86_64")]
pub(crate) const NUMBERS: [u8; BLOCK] = {
    let mut numbers = [0; BLOCK];
    let mut i = 0;
    while i < BLOCK {
        numbers[i] = i as u8;
        i += 1;
    }
    numbers
};

/// One mask at once: the numbers 0 to 63 are compressed by the mask, then widened.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    use super::{Position, SimdPosition, BLOCK, NUMBERS};

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
            // SAFETY: all masks before have `listed` bits, at most `count` of all, and there is room for 64 more; this
            // function has the features.
            unsafe { P::store(found, count, base, positions.as_mut_ptr().add(listed)) };
            listed += count as usize;
        }
        // SAFETY: the first `listed` have been written, each mask's bits right after the bits of the mask before.
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    fn random(i: u64) -> u64 {
        (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(i as u32)
    }

    fn sparse(i: u64) -> u64 {
        random(i) & random(i + 99) & random(i + 7)
    }

    #[test]
    fn every_level_lists_every_bit() {
        let kinds: [fn(u64) -> u64; 6] =
            [random, sparse, |_| 0, |_| u64::MAX, |i| 1 << (i % 64), |i| !sparse(i)];
        for (len, of) in
            [0, 1, 2, 63, cases(1024, 65)].into_iter().flat_map(|len| kinds.map(|of| (len, of)))
        {
            let masks: Vec<u64> = (0..len as u64).map(of).collect();
            check(&masks, |number| number as u16);
            check(&masks, |number| number as u32);
        }
    }

    fn check<P: Position + PartialEq + std::fmt::Debug>(masks: &[u64], number: fn(usize) -> P) {
        let numbers = (0..masks.len() * BLOCK).filter(|i| masks[i / BLOCK] >> (i % BLOCK) & 1 == 1);
        let expected: Vec<P> = numbers.map(number).collect();
        for level in Level::supported() {
            let mut positions = vec![number(9); 3];
            list_at(level, masks, &mut positions);
            assert_eq!(positions, expected, "{}", level.name());
        }
    }

    #[test]
    fn ignores_masks_beyond_the_last_number() {
        let masks = vec![1; u16::MAX_MASKS + 2];
        for level in Level::supported() {
            let mut positions: Vec<u16> = Vec::new();
            list_at(level, &masks, &mut positions);
            assert_eq!(positions.len(), u16::MAX_MASKS, "{}", level.name());
        }
    }
}
