//! 32 bytes at once: the table is divided into eight parts of 16 entries, one of which serves each byte.

use std::arch::x86_64::{
    __m128i, __m256i, _mm256_adds_epu8, _mm256_broadcastsi128_si256, _mm256_loadu_si256,
    _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8,
    _mm256_slli_epi16, _mm256_xor_si256, _mm_loadu_si128,
};

use super::byte_classes::{filled_up, ByteClasses, BLOCK};

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
    let halves = unsafe { [_mm256_loadu_si256(block.cast()), _mm256_loadu_si256(block.add(32).cast())] };
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

/// Bit `class` of every byte moved to its top; what comes over from the byte below stays under it.
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
