//! 16 bytes at once: for each eight bytes, a table has the positions of the last bytes of characters, and these
//! bytes and the two before each are gathered.

use std::arch::aarch64::{
    uint16x8_t, uint8x16_t, vaddq_u8, vandq_u8, vbicq_u8, vceqq_u8, vcgeq_u8, vcltq_u8, vcombine_u8,
    vdup_n_u8, vdupq_n_u8, vextq_u8, vget_low_u8, vgetq_lane_u64, vld1_u8, vld1q_u8, vmovl_u8, vorrq_u16,
    vorrq_u8, vpaddq_u8, vqtbl1q_u8, vreinterpretq_u64_u8, vreinterpretq_u8_u16, vshlq_n_u16, vst1q_u8,
};

use super::block::{self, BlockResult, ByteMasks, CompleteChars};
use super::ends::PLACES;

const BLOCK: usize = 16;

/// The weight of each byte within its eight.
const WEIGHTS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

/// `scalar::append`.
///
/// # Safety
/// Needs NEON.
#[target_feature(enable = "neon")]
pub(super) unsafe fn append(text: &[u8], units: &mut Vec<u8>) -> bool {
    // SAFETY: NEON is the caller's promise.
    block::append(text, units, |block, last, room| unsafe { step(block, last, room) })
}

/// Convert a block to code units.
///
/// # Safety
/// Needs NEON.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn step(block: &[u8; BLOCK], last: usize, room: &mut [[u8; BLOCK]; 2]) -> BlockResult {
    // SAFETY: a load of 16 bytes.
    let bytes = unsafe { vld1q_u8(block.as_ptr()) };
    let CompleteChars { ends, len } = kinds(bytes).whole(last)?;
    let (low, high) = (ends as u8, (ends >> 8) as u8);
    let written = 2 * low.count_ones() as usize;
    let room = room.as_flattened_mut().as_mut_ptr();
    // SAFETY: two stores of 16 bytes within 32, as eight bits are at most eight units.
    unsafe {
        vst1q_u8(room, vreinterpretq_u8_u16(units(bytes, low, 0)));
        vst1q_u8(room.add(written), vreinterpretq_u8_u16(units(bytes, high, 8)));
    }
    Some((len, written + 2 * high.count_ones() as usize))
}

#[inline]
#[target_feature(enable = "neon")]
fn kinds(bytes: uint8x16_t) -> ByteMasks {
    let is = |bytes, byte| vceqq_u8(bytes, vdupq_n_u8(byte));
    let from = |byte| vcgeq_u8(bytes, vdupq_n_u8(byte));
    let (before, is_upper) = (vextq_u8::<15>(vdupq_n_u8(0), bytes), from(0xA0));
    let too_small =
        vorrq_u8(is(vandq_u8(bytes, vdupq_n_u8(0xFE)), 0xC0), vbicq_u8(is(before, 0xE0), is_upper));
    let too_large = vorrq_u8(from(0xF0), vandq_u8(is_upper, is(before, 0xED)));
    let following = vandq_u8(from(0x80), vcltq_u8(bytes, vdupq_n_u8(0xC0)));
    let kinds = bits([following, from(0xC0), from(0xE0), vorrq_u8(too_small, too_large)]);
    let [following, leads, leads_two, rejected] = [0, 16, 32, 48].map(|kind| kinds >> kind & 0xFFFF);
    ByteMasks { following, leads, leads_two, rejected }
}

/// Return the mask of the bytes that are all ones among 64 bytes of ones or zeros: pairwise sums of bit weights.
#[inline]
#[target_feature(enable = "neon")]
fn bits(bytes: [uint8x16_t; 4]) -> u64 {
    // SAFETY: a load of 16 bytes from an array of as many.
    let weights = unsafe { vld1q_u8(WEIGHTS.as_ptr()) };
    let [a, b, c, d] = bytes.map(|bytes| vandq_u8(bytes, weights));
    let fours = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(fours, fours)))
}

/// Return the units of the characters whose last bytes are `ends`, bit 0 of them at byte `base`.
#[inline]
#[target_feature(enable = "neon")]
fn units(bytes: uint8x16_t, ends: u8, base: u8) -> uint16x8_t {
    // SAFETY: a load of the eight bytes of an entry.
    let places = vcombine_u8(unsafe { vld1_u8(PLACES[usize::from(ends)].as_ptr()) }, vdup_n_u8(0));
    let before = |count| vqtbl1q_u8(bytes, vaddq_u8(places, vdupq_n_u8(u8::wrapping_sub(base, count))));
    let (third, second, first) = (before(0), before(1), before(2));
    let has_two = vcgeq_u8(third, vdupq_n_u8(0x80));
    let has_three = vandq_u8(has_two, vcltq_u8(second, vdupq_n_u8(0xC0)));
    let third = vbicq_u8(third, vandq_u8(has_two, vdupq_n_u8(0xC0)));
    let second = vandq_u8(vandq_u8(has_two, vdupq_n_u8(0x3F)), second);
    // What the first has above its bits falls out at the top.
    let first = vshlq_n_u16::<12>(vmovl_u8(vget_low_u8(vandq_u8(has_three, first))));
    let second = vshlq_n_u16::<6>(vmovl_u8(vget_low_u8(second)));
    vorrq_u16(vorrq_u16(first, second), vmovl_u8(vget_low_u8(third)))
}
