//! Classes of bytes as bit masks: 64 bytes of text become one `u64` for each class.
//!
//! What is built on them (where words begin and end) is arithmetic on whole numbers and needs no `unsafe`.
//! The instructions are chosen once a call, so ask for some kilobytes at a time.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
pub mod scalar;
#[cfg(test)]
mod tests;

use crate::level::{Level, Set};

/// How many bytes one set of masks tells of.
pub const BLOCK: usize = 64;

/// The classes of each ASCII byte: up to seven, a bit each.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct ByteClasses {
    of_ascii: [u8; 128],
}

impl ByteClasses {
    /// Ask for the classes of every ASCII byte: bit `k` says that the byte is of class `k`, `k` below 7.
    #[must_use]
    pub fn new(classes_of: impl Fn(u8) -> u8) -> Self {
        let mut of_ascii = [0; 128];
        (0..).zip(&mut of_ascii).for_each(|(byte, classes)| *classes = classes_of(byte) & 0x7F);
        Self { of_ascii }
    }

    /// The classes of a byte; one that is not ASCII has bit 7 alone.
    #[inline]
    #[must_use]
    pub fn of(&self, byte: u8) -> u8 {
        self.of_ascii.get(usize::from(byte)).copied().unwrap_or(0x80)
    }
}

/// Append the masks of every block of 64 bytes, the last one filled up with bytes of no class.
///
/// Bit `i` of mask `k` says that byte `i` of the block is of class `k`; the last of the `N` masks tells
/// which bytes are not ASCII. `N` is 2 to 8.
#[inline]
pub fn class_masks<const N: usize>(bytes: &[u8], classes: &ByteClasses, masks: &mut Vec<[u64; N]>) {
    class_masks_at(Level::active(), bytes, classes, masks);
}

/// `class_masks` by the instructions of one level.
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
        Set::Avx512 => unsafe { avx512::class_masks(bytes, classes, masks) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Set::Avx2 => unsafe { avx2::class_masks(bytes, classes, masks) },
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above; NEON is part of every 64-bit ARM.
        Set::Neon => unsafe { neon::class_masks(bytes, classes, masks) },
        _ => scalar::class_masks(bytes, classes, masks),
    }
}

/// The last block of a text, filled up with zeros, and which of its bytes are the text's.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn filled_up(rest: &[u8]) -> ([u8; BLOCK], u64) {
    let mut block = [0; BLOCK];
    block[..rest.len()].copy_from_slice(rest);
    (block, (1 << rest.len()) - 1)
}
