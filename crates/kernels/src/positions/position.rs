//! The types of positions.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::__m512i;

/// The bits of a mask.
pub(super) const BLOCK: usize = 64;

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
