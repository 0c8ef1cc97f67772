//! 16 bytes at once: two tables of 64 entries, then a sum of bit weights for each class.

use std::arch::aarch64::{
    uint8x16_t, uint8x16x4_t, vaddv_u8, vandq_u8, vdupq_n_u8, vget_high_u8, vget_low_u8, vld1q_u8,
    vld1q_u8_x4, vqtbl4q_u8, vqtbx4q_u8, vsubq_u8, vtstq_u8,
};

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

/// The masks of 64 bytes; only those of `is_text` are of any class.
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
    let mut masks = [0; N];
    for quarter in 0..4 {
        // SAFETY: 16 of the 64 bytes.
        let bytes = unsafe { vld1q_u8(block.add(16 * quarter)) };
        let entries = look_up(bytes, table);
        for (class, mask) in masks[..N - 1].iter_mut().enumerate() {
            *mask |= bits(entries, 1 << class) << (16 * quarter);
        }
        masks[N - 1] |= bits(bytes, 0x80) << (16 * quarter);
    }
    masks[..N - 1].iter_mut().for_each(|mask| *mask &= is_text);
    masks
}

/// The entries of 16 bytes; zero for those that are not ASCII.
#[inline]
#[target_feature(enable = "neon")]
fn look_up(bytes: uint8x16_t, table: (uint8x16x4_t, uint8x16x4_t)) -> uint8x16_t {
    vqtbx4q_u8(vqtbl4q_u8(table.0, bytes), table.1, vsubq_u8(bytes, vdupq_n_u8(BLOCK as u8)))
}

/// Which of 16 bytes have a bit of `wanted`.
#[inline]
#[target_feature(enable = "neon")]
fn bits(bytes: uint8x16_t, wanted: u8) -> u64 {
    // SAFETY: a load of 16 bytes from an array of as many.
    let weights = unsafe { vld1q_u8(WEIGHTS.as_ptr()) };
    let weighed = vandq_u8(vtstq_u8(bytes, vdupq_n_u8(wanted)), weights);
    u64::from(vaddv_u8(vget_low_u8(weighed))) | u64::from(vaddv_u8(vget_high_u8(weighed))) << 8
}
