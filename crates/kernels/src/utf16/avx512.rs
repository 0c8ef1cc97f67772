//! 64 bytes at once: the positions of the last bytes of characters are compressed, then these bytes and the two
//! before each are gathered.

use std::arch::x86_64::{
    __m256i, __m512i, _mm512_add_epi8, _mm512_and_si512, _mm512_castsi512_si256, _mm512_cmpeq_epi8_mask,
    _mm512_cmpge_epu8_mask, _mm512_cmplt_epi8_mask, _mm512_cmplt_epu8_mask, _mm512_cvtepu8_epi16,
    _mm512_extracti64x4_epi64, _mm512_loadu_si512, _mm512_mask_blend_epi8, _mm512_maskz_compress_epi8,
    _mm512_maskz_mov_epi8, _mm512_movepi8_mask, _mm512_or_si512, _mm512_permutexvar_epi8, _mm512_set1_epi8,
    _mm512_slli_epi16, _mm512_storeu_si512,
};

use super::block::{self, BlockResult, ByteMasks};
use crate::positions::avx512::NUMBERS;

const BLOCK: usize = 64;
/// `scalar::append`.
///
/// # Safety
/// Needs the features named.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn append(text: &[u8], units: &mut Vec<u8>) -> bool {
    // SAFETY: the features are the caller's promise.
    block::append(text, units, |block, last, room| unsafe { step(block, last, room) })
}

/// Convert a block to code units.
///
/// # Safety
/// Needs the features named.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn step(block: &[u8; BLOCK], last: usize, room: &mut [[u8; BLOCK]; 2]) -> BlockResult {
    // SAFETY: two loads of 64 bytes each.
    let (bytes, numbers) =
        unsafe { (_mm512_loadu_si512(block.as_ptr().cast()), _mm512_loadu_si512(NUMBERS.as_ptr().cast())) };
    let whole = kinds(bytes).whole(last)?;
    let ends = _mm512_maskz_compress_epi8(whole.ends, numbers);
    let before =
        |count: i8| _mm512_permutexvar_epi8(_mm512_add_epi8(ends, _mm512_set1_epi8(-count)), bytes);
    let (third, second, first) = (before(0), before(1), before(2));
    let has_two = _mm512_movepi8_mask(third);
    let has_three = has_two & _mm512_cmplt_epi8_mask(second, _mm512_set1_epi8(-64));
    let six = _mm512_set1_epi8(0x3F);
    let third = _mm512_mask_blend_epi8(has_two, third, _mm512_and_si512(third, six));
    let second = _mm512_maskz_mov_epi8(has_two, _mm512_and_si512(second, six));
    let first = _mm512_maskz_mov_epi8(has_three, first);
    let bytes = [first, second, third];
    let [low, high] = room;
    // SAFETY: two stores of 64 bytes each.
    unsafe {
        let half = bytes.map(|bytes| _mm512_castsi512_si256(bytes));
        _mm512_storeu_si512(low.as_mut_ptr().cast(), units(half));
        let half = bytes.map(|bytes| _mm512_extracti64x4_epi64::<1>(bytes));
        _mm512_storeu_si512(high.as_mut_ptr().cast(), units(half));
    }
    Some((whole.len, 2 * whole.ends.count_ones() as usize))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn kinds(bytes: __m512i) -> ByteMasks {
    let is = |byte: u8| _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte as i8));
    let is_below = |byte: u8| _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8(byte as i8));
    let from = |byte: u8| _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8(byte as i8));
    let following = _mm512_cmplt_epi8_mask(bytes, _mm512_set1_epi8(-64));
    let leads = _mm512_movepi8_mask(bytes) & !following;
    let (too_small, surrogates) = (is(0xE0) << 1 & is_below(0xA0), is(0xED) << 1 & from(0xA0));
    let rejected = from(0xF0) | leads & is_below(0xC2) | too_small | surrogates;
    ByteMasks { following, leads, leads_two: from(0xE0), rejected }
}

/// Units of the first, second and third bytes of characters; of the first, what is not the character's falls out at
/// the top.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn units([first, second, third]: [__m256i; 3]) -> __m512i {
    let first = _mm512_slli_epi16::<12>(_mm512_cvtepu8_epi16(first));
    let second = _mm512_slli_epi16::<6>(_mm512_cvtepu8_epi16(second));
    _mm512_or_si512(_mm512_or_si512(first, second), _mm512_cvtepu8_epi16(third))
}
