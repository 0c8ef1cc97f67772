//! Classes of bytes as bit masks: 64 bytes of text become one `u64` for each class.
//!
//! Callers find the boundaries of words by arithmetic on the masks, without `unsafe`. Each call chooses the
//! instructions, so a call should have some kilobytes of text.

use crate::level::Level;

/// Append the masks of every block of 64 bytes, the last one filled up with bytes of no class.
///
/// Bit `i` of mask `k` says that byte `i` of the block is in class `k`; the last of the `N` masks has the bytes
/// that are not ASCII. `N` is 2 to 8.
#[inline]
pub fn class_masks<const N: usize>(bytes: &[u8], classes: &ByteClasses, masks: &mut Vec<[u64; N]>) {
    class_masks_at(Level::active(), bytes, classes, masks);
}

/// [`class_masks`] with the instructions of one level.
#[inline]
pub fn class_masks_at<const N: usize>(
    level: Level,
    bytes: &[u8],
    classes: &ByteClasses,
    masks: &mut Vec<[u64; N]>,
) {
    const { assert!(N >= 2 && N <= 8) };
    match level.set() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a level exists only where the processor has its instructions.
        crate::level::Set::Avx512 => unsafe { avx512::class_masks(bytes, classes, masks) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        crate::level::Set::Avx2 => unsafe { avx2::class_masks(bytes, classes, masks) },
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above; NEON is part of every 64-bit ARM.
        crate::level::Set::Neon => unsafe { neon::class_masks(bytes, classes, masks) },
        _ => scalar::class_masks(bytes, classes, masks),
    }
}

/// The bytes of one set of masks.
pub const BLOCK: usize = 64;

/// The classes of each ASCII byte: up to seven, a bit each.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct ByteClasses {
    of_ascii: [u8; 128],
}

impl ByteClasses {
    /// Return the table of a function on ASCII bytes: bit `k` of its result says that the byte is in class `k`,
    /// `k` below 7.
    #[must_use]
    pub fn new(classes_of: impl Fn(u8) -> u8) -> Self {
        let mut of_ascii = [0; 128];
        (0..).zip(&mut of_ascii).for_each(|(byte, classes)| *classes = classes_of(byte) & 0x7F);
        Self { of_ascii }
    }

    /// Return the classes of a byte; only bit 7 is set for a byte that is not ASCII.
    #[inline]
    #[must_use]
    pub fn of(&self, byte: u8) -> u8 {
        self.of_ascii.get(usize::from(byte)).copied().unwrap_or(0x80)
    }
}

/// Return the last block of a text, filled up with zeros, and the mask of its bytes that belong to the text.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn filled_up(rest: &[u8]) -> ([u8; BLOCK], u64) {
    let mut block = [0; BLOCK];
    block[..rest.len()].copy_from_slice(rest);
    (block, (1 << rest.len()) - 1)
}

/// Copy bytes with ASCII letters lowercased; `to` has the length of `from`.
///
/// The compiler vectorizes the loop for the baseline of the target.
#[inline]
pub fn copy_lowercase(from: &[u8], to: &mut [u8]) {
    for (to, byte) in to.iter_mut().zip(from) {
        *to = byte.to_ascii_lowercase();
    }
}

/// The definition.
pub mod scalar {
    use super::{ByteClasses, BLOCK};

    /// Append the masks of every block of 64 bytes.
    pub fn class_masks<const N: usize>(bytes: &[u8], classes: &ByteClasses, masks: &mut Vec<[u64; N]>) {
        masks.extend(bytes.chunks(BLOCK).map(|block| {
            let mut of_block = [0; N];
            for (at, &byte) in block.iter().enumerate() {
                let of_byte = classes.of(byte);
                for (class, mask) in of_block[..N - 1].iter_mut().enumerate() {
                    *mask |= u64::from(of_byte >> class & 1) << at;
                }
                of_block[N - 1] |= u64::from(of_byte >> 7) << at;
            }
            of_block
        }));
    }
}

/// A block at once: one permutation of 128 table entries, one test a class.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    use super::{filled_up, ByteClasses, BLOCK};

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

    /// Return the masks of 64 bytes; only the bytes of `is_text` are of any class.
    ///
    /// # Safety
    /// Needs the features named.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    unsafe fn masks_of<const N: usize>(
        block: __m512i,
        table: (__m512i, __m512i),
        is_text: u64,
    ) -> [u64; N] {
        let is_wide = _mm512_movepi8_mask(block);
        let looked_up = _mm512_permutex2var_epi8(table.0, block, table.1);
        let mut masks = [0; N];
        for (class, mask) in masks[..N - 1].iter_mut().enumerate() {
            *mask = _mm512_mask_test_epi8_mask(is_text & !is_wide, looked_up, _mm512_set1_epi8(1 << class));
        }
        masks[N - 1] = is_wide;
        masks
    }
}

/// 32 bytes at once: the table is divided into eight parts of 16 entries, one of which serves each byte.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::{filled_up, ByteClasses, BLOCK};

    /// The table by the eight upper nibbles of ASCII bytes.
    type NibbleTables = [__m256i; 8];

    /// `scalar::class_masks`.
    ///
    /// # Safety
    /// Needs AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn class_masks<const N: usize>(
        bytes: &[u8],
        classes: &ByteClasses,
        masks: &mut Vec<[u64; N]>,
    ) {
        let mut parts: NibbleTables = [_mm256_setzero_si256(); 8];
        for (part, entries) in parts.iter_mut().zip(classes.of_ascii.chunks_exact(16)) {
            // SAFETY: an unaligned load of 16 of the table's 128 bytes.
            let entries: __m128i = unsafe { _mm_loadu_si128(entries.as_ptr().cast()) };
            *part = _mm256_broadcastsi128_si256(entries);
        }
        let mut blocks = bytes.chunks_exact(BLOCK);
        masks.extend((&mut blocks).map(|block| {
            // SAFETY: `block` has 64 bytes; AVX2 is the caller's promise.
            unsafe { masks_of(block.as_ptr(), &parts, u64::MAX) }
        }));
        let rest = blocks.remainder();
        if !rest.is_empty() {
            let (block, is_text) = filled_up(rest);
            // SAFETY: as above.
            masks.push(unsafe { masks_of(block.as_ptr(), &parts, is_text) });
        }
    }

    /// Return the masks of 64 bytes; bytes outside `is_text` have no class.
    ///
    /// # Safety
    /// Needs AVX2, and 64 readable bytes.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn masks_of<const N: usize>(block: *const u8, parts: &NibbleTables, is_text: u64) -> [u64; N] {
        // SAFETY: two unaligned loads within the 64 bytes.
        let halves =
            unsafe { [_mm256_loadu_si256(block.cast()), _mm256_loadu_si256(block.add(32).cast())] };
        let looked_up = [look_up(halves[0], parts), look_up(halves[1], parts)];
        let mut masks = [0; N];
        for (class, mask) in masks[..N - 1].iter_mut().enumerate() {
            *mask = is_text & top_bits(looked_up.map(|half| raise(half, class)));
        }
        masks[N - 1] = top_bits(halves);
        masks
    }

    /// Return the entries of 32 bytes; zero for those that are not ASCII.
    ///
    /// A byte with the upper half of a part becomes, by the exclusive or, an index below 16; adding 0x70 with
    /// saturation sets the top bit of all others, and the shuffle answers those with zero.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn look_up(bytes: __m256i, parts: &NibbleTables) -> __m256i {
        let mut entries = _mm256_setzero_si256();
        for (upper, &part) in (0..).zip(parts) {
            let index = _mm256_xor_si256(bytes, _mm256_set1_epi8(upper << 4));
            let index = _mm256_adds_epu8(index, _mm256_set1_epi8(0x70));
            entries = _mm256_or_si256(entries, _mm256_shuffle_epi8(part, index));
        }
        entries
    }

    /// Move bit `class` of every byte to its top; bits from the byte below stay under it.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn raise(entries: __m256i, class: usize) -> __m256i {
        match class {
            0 => _mm256_slli_epi16::<7>(entries),
            1 => _mm256_slli_epi16::<6>(entries),
            2 => _mm256_slli_epi16::<5>(entries),
            3 => _mm256_slli_epi16::<4>(entries),
            4 => _mm256_slli_epi16::<3>(entries),
            5 => _mm256_slli_epi16::<2>(entries),
            _ => _mm256_slli_epi16::<1>(entries),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn top_bits(halves: [__m256i; 2]) -> u64 {
        let [low, high] = halves.map(|half| u64::from(_mm256_movemask_epi8(half) as u32));
        low | high << 32
    }
}

/// 16 bytes at once: two tables of 64 entries, then sums of bit weights for each class, of all 64 together.
#[cfg(target_arch = "aarch64")]
mod neon {
    use std::arch::aarch64::*;

    use super::{filled_up, ByteClasses, BLOCK};

    /// The weight of each byte within its eight.
    const WEIGHTS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

    /// `scalar::class_masks`.
    ///
    /// # Safety
    /// Needs NEON.
    #[target_feature(enable = "neon")]
    pub(super) unsafe fn class_masks<const N: usize>(
        bytes: &[u8],
        classes: &ByteClasses,
        masks: &mut Vec<[u64; N]>,
    ) {
        // SAFETY: two loads of 64 bytes within the table of 128.
        let table = unsafe {
            let table = classes.of_ascii.as_ptr();
            (vld1q_u8_x4(table), vld1q_u8_x4(table.add(BLOCK)))
        };
        let mut blocks = bytes.chunks_exact(BLOCK);
        masks.extend((&mut blocks).map(|block| {
            // SAFETY: `block` has 64 bytes; NEON is the caller's promise.
            unsafe { masks_of(block.as_ptr(), table, u64::MAX) }
        }));
        let rest = blocks.remainder();
        if !rest.is_empty() {
            let (block, is_text) = filled_up(rest);
            // SAFETY: as above.
            masks.push(unsafe { masks_of(block.as_ptr(), table, is_text) });
        }
    }

    /// Return the masks of 64 bytes; only the bytes of `is_text` are of any class.
    ///
    /// # Safety
    /// Needs NEON, and 64 readable bytes.
    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn masks_of<const N: usize>(
        block: *const u8,
        table: (uint8x16x4_t, uint8x16x4_t),
        is_text: u64,
    ) -> [u64; N] {
        // SAFETY: a load of the 64 bytes.
        let uint8x16x4_t(a, b, c, d) = unsafe { vld1q_u8_x4(block) };
        let entries = [look_up(a, table), look_up(b, table), look_up(c, table), look_up(d, table)];
        let mut masks = [0; N];
        for (class, mask) in masks[..N - 1].iter_mut().enumerate() {
            *mask = is_text & bits(entries, 1 << class);
        }
        masks[N - 1] = bits([a, b, c, d], 0x80);
        masks
    }

    /// Return the entries of 16 bytes; zero for those that are not ASCII.
    #[inline]
    #[target_feature(enable = "neon")]
    fn look_up(bytes: uint8x16_t, table: (uint8x16x4_t, uint8x16x4_t)) -> uint8x16_t {
        vqtbx4q_u8(vqtbl4q_u8(table.0, bytes), table.1, vsubq_u8(bytes, vdupq_n_u8(BLOCK as u8)))
    }

    /// Return which of 64 bytes have a bit of `wanted`: their weights, added by twos until eight bytes are one.
    #[inline]
    #[target_feature(enable = "neon")]
    fn bits([a, b, c, d]: [uint8x16_t; 4], wanted: u8) -> u64 {
        // SAFETY: a load of 16 bytes from an array of as many.
        let weights = unsafe { vld1q_u8(WEIGHTS.as_ptr()) };
        let wanted = vdupq_n_u8(wanted);
        let (a, b) = (vandq_u8(vtstq_u8(a, wanted), weights), vandq_u8(vtstq_u8(b, wanted), weights));
        let (c, d) = (vandq_u8(vtstq_u8(c, wanted), weights), vandq_u8(vtstq_u8(d, wanted), weights));
        let fours = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
        vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(fours, fours)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;
    use crate::level::Level;

    /// Bytes that look random, the same at every run.
    fn noise(count: usize, mut state: u64) -> Vec<u8> {
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        };
        (0..count).map(|_| next()).collect()
    }

    fn check<const N: usize>(bytes: &[u8], classes: &ByteClasses) {
        let mut expected: Vec<[u64; N]> = Vec::new();
        scalar::class_masks(bytes, classes, &mut expected);
        for level in Level::supported() {
            let mut masks: Vec<[u64; N]> = Vec::new();
            class_masks_at(level, bytes, classes, &mut masks);
            assert_eq!(masks, expected, "{} of {} bytes", level.name(), bytes.len());
        }
    }

    fn random_classes() -> ByteClasses {
        let of_byte = noise(128, 99);
        ByteClasses::new(|byte| of_byte[usize::from(byte)])
    }

    #[test]
    fn scalar_masks_say_what_each_byte_is() {
        let classes =
            ByteClasses::new(|byte| u8::from(byte.is_ascii_digit()) | u8::from(byte == b' ') << 1);
        let mut masks: Vec<[u64; 3]> = Vec::new();
        scalar::class_masks("7 é".as_bytes(), &classes, &mut masks);
        assert_eq!(masks, [[0b0001, 0b0010, 0b1100]]);
    }

    #[test]
    fn every_level_equals_scalar_on_every_byte_at_every_place() {
        let classes = random_classes();
        for byte in (0..=255).step_by(cases(1, 51)) {
            for place in (0..BLOCK).step_by(cases(1, 21)) {
                let mut block = [b'a'; BLOCK];
                block[place] = byte;
                check::<8>(&block, &classes);
            }
        }
    }

    #[test]
    fn every_level_equals_scalar_at_every_length_and_alignment() {
        let (classes, bytes) = (random_classes(), noise(400, 7));
        for start in (0..BLOCK).step_by(cases(1, 31)) {
            for len in (0..200).step_by(cases(1, 33)) {
                check::<8>(&bytes[start..start + len], &classes);
                check::<3>(&bytes[start..start + len], &classes);
            }
        }
    }
}
