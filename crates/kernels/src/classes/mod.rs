//! Classes of bytes as bit masks: 64 bytes of text become one `u64` for each class.
//!
//! Callers find the boundaries of words by arithmetic on the masks, without `unsafe`. Each call chooses the
//! instructions, so a call should have some kilobytes of text.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod byte_classes;
#[cfg(target_arch = "aarch64")]
mod neon;
pub mod scalar;
#[cfg(test)]
mod tests;

use crate::level::Level;

pub use byte_classes::{ByteClasses, BLOCK};

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
