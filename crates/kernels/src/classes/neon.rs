//! 16 bytes at once: two tables of 64 entries, then sums of bit weights for each class, of all 64 together.

use std::arch::aarch64::{
    uint8x16_t, uint8x16x4_t, vandq_u8, vdupq_n_u8, vgetq_lane_u64, vld1q_u8, vld1q_u8_x4, vpaddq_u8,
    vqtbl4q_u8, vqtbx4q_u8, vreinterpretq_u64_u8, vsubq_u8, vtstq_u8,
};

use super::byte_classes::{filled_up, ByteClasses, BLOCK};

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

/// Return the masks of 64 bytes; only those of `is_text` are of any class.
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

/// Which of 64 bytes have a bit of `wanted`: their weights, added by twos until eight bytes are one.
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
