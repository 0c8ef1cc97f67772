//! 16 bytes at once: for each eight bytes, a table has the positions of the last bytes of characters, and these
//! bytes and the two before each are gathered.

use std::arch::x86_64::{
    __m128i, _mm_add_epi8, _mm_and_si128, _mm_andnot_si128, _mm_cmpeq_epi8, _mm_cmpgt_epi8,
    _mm_cvtepu8_epi16, _mm_loadl_epi64, _mm_loadu_si128, _mm_max_epu8, _mm_movemask_epi8, _mm_or_si128,
    _mm_set1_epi8, _mm_setzero_si128, _mm_shuffle_epi8, _mm_slli_epi16, _mm_slli_si128, _mm_storeu_si128,
};

use super::block::{self, BlockResult, ByteMasks, CompleteChars};
use super::ends::PLACES;

const BLOCK: usize = 16;

/// `scalar::append`.
///
/// # Safety
/// Needs the features named.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn append(text: &[u8], units: &mut Vec<u8>) -> bool {
    // SAFETY: the features are the caller's promise.
    block::append(text, units, |block, last, room| unsafe { step(block, last, room) })
}

/// Convert a block to code units.
///
/// # Safety
/// Needs the features named.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn step(block: &[u8; BLOCK], last: usize, room: &mut [[u8; BLOCK]; 2]) -> BlockResult {
    // SAFETY: a load of 16 bytes.
    let bytes = unsafe { _mm_loadu_si128(block.as_ptr().cast()) };
    let CompleteChars { ends, len } = kinds(bytes).whole(last)?;
    let (low, high) = (ends as u8, (ends >> 8) as u8);
    let written = 2 * low.count_ones() as usize;
    let room = room.as_flattened_mut().as_mut_ptr();
    // SAFETY: two stores of 16 bytes within 32, as eight bits are at most eight units.
    unsafe {
        _mm_storeu_si128(room.cast(), units(bytes, low, 0));
        _mm_storeu_si128(room.add(written).cast(), units(bytes, high, 8));
    }
    Some((len, written + 2 * high.count_ones() as usize))
}

#[inline]
#[target_feature(enable = "avx2")]
fn kinds(bytes: __m128i) -> ByteMasks {
    let bits = |of| u64::from(_mm_movemask_epi8(of) as u16);
    let is = |bytes, byte: u8| _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8));
    let from = |byte: u8| _mm_cmpeq_epi8(_mm_max_epu8(bytes, _mm_set1_epi8(byte as i8)), bytes);
    let (before, is_upper) = (_mm_slli_si128::<1>(bytes), from(0xA0));
    let too_small = _mm_or_si128(
        is(_mm_and_si128(bytes, _mm_set1_epi8(-2)), 0xC0),
        _mm_andnot_si128(is_upper, is(before, 0xE0)),
    );
    let too_large = _mm_or_si128(from(0xF0), _mm_and_si128(is_upper, is(before, 0xED)));
    let following = bits(_mm_cmpgt_epi8(_mm_set1_epi8(-64), bytes));
    ByteMasks {
        following,
        leads: bits(bytes) & !following,
        leads_two: bits(from(0xE0)),
        rejected: bits(_mm_or_si128(too_small, too_large)),
    }
}

/// Return the units of the characters whose last bytes are `ends`, bit 0 of them at byte `base`.
#[inline]
#[target_feature(enable = "avx2")]
fn units(bytes: __m128i, ends: u8, base: i8) -> __m128i {
    // SAFETY: a load of the eight bytes of an entry.
    let places = unsafe { _mm_loadl_epi64(PLACES[usize::from(ends)].as_ptr().cast()) };
    let before = |count: i8| _mm_shuffle_epi8(bytes, _mm_add_epi8(places, _mm_set1_epi8(base - count)));
    let (third, second, first) = (before(0), before(1), before(2));
    let has_two = _mm_cmpgt_epi8(_mm_setzero_si128(), third);
    let has_three = _mm_and_si128(has_two, _mm_cmpgt_epi8(_mm_set1_epi8(-64), second));
    let third = _mm_andnot_si128(_mm_and_si128(has_two, _mm_set1_epi8(-64)), third);
    let second = _mm_and_si128(_mm_and_si128(has_two, _mm_set1_epi8(0x3F)), second);
    // What the first has above its bits falls out at the top.
    let first = _mm_slli_epi16::<12>(_mm_cvtepu8_epi16(_mm_and_si128(has_three, first)));
    let second = _mm_slli_epi16::<6>(_mm_cvtepu8_epi16(second));
    _mm_or_si128(_mm_or_si128(first, second), _mm_cvtepu8_epi16(third))
}
