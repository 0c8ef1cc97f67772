//! UTF-8 to UTF-16, which Python converts to strings faster if the text is not ASCII.
//!
//! A block of bytes becomes the code units of all characters that end in it before its last byte. Characters of
//! four bytes and invalid UTF-8 are left to the scalar definition.

use crate::level::Level;

/// Append a text as UTF-16 in the byte order of the machine; return whether the text is UTF-8.
///
/// If it is not, the appended bytes are unspecified.
#[must_use]
pub fn append(text: &[u8], units: &mut Vec<u8>) -> bool {
    append_at(Level::active(), text, units)
}

/// `append` with the instructions of a level.
#[must_use]
pub fn append_at(level: Level, text: &[u8], units: &mut Vec<u8>) -> bool {
    match level.set() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a level exists only where the processor has its instructions.
        crate::level::Set::Avx512 => unsafe { avx512::append(text, units) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        crate::level::Set::Avx2 => unsafe { avx2::append(text, units) },
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above; NEON is part of every 64-bit ARM.
        crate::level::Set::Neon => unsafe { neon::append(text, units) },
        _ => scalar::append(text, units),
    }
}

/// The scalar definition: character by character.
pub mod scalar {
    /// See [`super::append`].
    #[must_use]
    pub fn append(text: &[u8], units: &mut Vec<u8>) -> bool {
        let Ok(text) = std::str::from_utf8(text) else { return false };
        units.reserve(2 * text.len());
        text.encode_utf16().for_each(|unit| units.extend_from_slice(&unit.to_ne_bytes()));
        true
    }
}

/// Conversion block by block, and the classification of the bytes of a block.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod block {
    use super::scalar;

    /// The bytes of a block by their role in UTF-8, one bit each.
    #[derive(Clone, Copy)]
    pub(super) struct ByteMasks {
        /// Continuation bytes.
        pub(super) following: u64,
        /// First bytes of characters of two bytes or more.
        pub(super) leads: u64,
        /// First bytes of characters of three bytes or more.
        pub(super) leads_two: u64,
        /// First bytes of characters of four bytes, and bytes that are invalid alone or after the previous.
        pub(super) rejected: u64,
    }

    /// The complete characters of a block.
    #[derive(Clone, Copy)]
    pub(super) struct CompleteChars {
        /// The last byte of each character.
        pub(super) ends: u64,
        /// Their number of bytes.
        pub(super) len: usize,
    }

    impl ByteMasks {
        /// Return the characters that end before byte `last`, if all are valid and have at most three bytes.
        #[inline]
        pub(super) fn whole(self, last: usize) -> Option<CompleteChars> {
            let firsts = !self.following & u64::MAX >> (63 - last);
            let len = firsts.checked_ilog2()?;
            let within = (1 << len) - 1;
            let expected = self.leads << 1 | self.leads_two << 2;
            // That none of them lacks a byte is seen at the byte after them.
            let mismatch = (expected ^ self.following) & (within << 1 | 1) | self.rejected & within;
            (mismatch == 0 && len > 0).then_some(CompleteChars { ends: firsts >> 1, len: len as usize })
        }
    }

    /// The bytes read and the bytes written of a block; `None` if the scalar definition must convert it.
    pub(super) type BlockResult = Option<(usize, usize)>;

    /// Convert a text by `step`, which is called with a block and the byte before which its characters must end.
    #[inline(always)]
    pub(super) fn append_blocks<const N: usize>(
        text: &[u8],
        units: &mut Vec<u8>,
        step: impl Fn(&[u8; N], usize, &mut [[u8; N]; 2]) -> BlockResult,
    ) -> bool {
        let (mut read, mut end) = (0, units.len());
        units.resize(end + 2 * (text.len() + N), 0);
        while read < text.len() {
            let rest = &text[read..];
            let mut filled_up = [0; N];
            let (block, last) = rest.first_chunk().map_or_else(
                || {
                    filled_up[..rest.len()].copy_from_slice(rest);
                    (&filled_up, rest.len())
                },
                |block| (block, N - 1),
            );
            let Some(room) = units[end..].as_chunks_mut().0.first_chunk_mut() else { return false };
            let (taken, written) = match step(block, last, room) {
                Some(done) => done,
                None => plainly(&rest[..rest.len().min(N)], room.as_flattened_mut()),
            };
            if taken == 0 {
                return false;
            }
            (read, end) = (read + taken, end + written);
        }
        units.truncate(end);
        true
    }

    /// Return the characters that a block begins with, by the definition.
    #[cold]
    fn plainly(block: &[u8], room: &mut [u8]) -> (usize, usize) {
        let text = block.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        let mut units = Vec::new();
        let _ = scalar::append(text.as_bytes(), &mut units);
        room[..units.len()].copy_from_slice(&units);
        (text.len(), units.len())
    }

    /// By byte: the positions of its set bits, then zeros.
    pub(super) static PLACES: [[u8; 8]; 256] = {
        let mut places = [[0; 8]; 256];
        let mut byte = 0;
        while byte < 256 {
            let (mut bit, mut count) = (0, 0);
            while bit < 8 {
                if byte >> bit & 1 == 1 {
                    places[byte][count] = bit;
                    count += 1;
                }
                bit += 1;
            }
            byte += 1;
        }
        places
    };
}

/// 64 bytes at once: the positions of the last bytes of characters are compressed, then these bytes and the two
/// before each are gathered.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    use super::block::{BlockResult, ByteMasks};
    use crate::positions::NUMBERS;

    const BLOCK: usize = 64;
    /// `scalar::append`.
    ///
    /// # Safety
    /// Needs the features named.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) unsafe fn append(text: &[u8], units: &mut Vec<u8>) -> bool {
        // SAFETY: the features are the caller's promise.
        super::block::append_blocks(text, units, |block, last, room| unsafe { step(block, last, room) })
    }

    /// Convert a block to code units.
    ///
    /// # Safety
    /// Needs the features named.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn step(block: &[u8; BLOCK], last: usize, room: &mut [[u8; BLOCK]; 2]) -> BlockResult {
        // SAFETY: two loads of 64 bytes each.
        let (bytes, numbers) = unsafe {
            (_mm512_loadu_si512(block.as_ptr().cast()), _mm512_loadu_si512(NUMBERS.as_ptr().cast()))
        };
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

    /// Combine the first, second and third bytes of characters to units; bits of the first byte that are not the
    /// character's fall out at the top.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn units([first, second, third]: [__m256i; 3]) -> __m512i {
        let first = _mm512_slli_epi16::<12>(_mm512_cvtepu8_epi16(first));
        let second = _mm512_slli_epi16::<6>(_mm512_cvtepu8_epi16(second));
        _mm512_or_si512(_mm512_or_si512(first, second), _mm512_cvtepu8_epi16(third))
    }
}

/// 16 bytes at once: for each eight bytes, a table has the positions of the last bytes of characters, and these
/// bytes and the two before each are gathered.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::block::{BlockResult, ByteMasks, CompleteChars, PLACES};

    const BLOCK: usize = 16;

    /// `scalar::append`.
    ///
    /// # Safety
    /// Needs the features named.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) unsafe fn append(text: &[u8], units: &mut Vec<u8>) -> bool {
        // SAFETY: the features are the caller's promise.
        super::block::append_blocks(text, units, |block, last, room| unsafe { step(block, last, room) })
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
}

/// 16 bytes at once: for each eight bytes, a table has the positions of the last bytes of characters, and these
/// bytes and the two before each are gathered.
#[cfg(target_arch = "aarch64")]
mod neon {
    use std::arch::aarch64::*;

    use super::block::{BlockResult, ByteMasks, CompleteChars, PLACES};

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
        super::block::append_blocks(text, units, |block, last, room| unsafe { step(block, last, room) })
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;
    use crate::level::Level;

    /// Characters of all lengths, at the edges of what each may be.
    const CHARS: [char; 16] = [
        'a',
        '\0',
        '\u{7F}',
        '\u{80}',
        'é',
        '\u{7FF}',
        '\u{800}',
        'क',
        '漢',
        '\u{D7FF}',
        '\u{E000}',
        '\u{FEFF}',
        '\u{FFFF}',
        '\u{10000}',
        '😀',
        '\u{10FFFF}',
    ];

    fn check(text: &[u8]) {
        let mut expected = b"before".to_vec();
        let is_text = scalar::append(text, &mut expected);
        for level in Level::supported() {
            let mut units = b"before".to_vec();
            assert_eq!(append_at(level, text, &mut units), is_text, "{} of {text:x?}", level.name());
            assert!(!is_text || units == expected, "{} of {text:x?}", level.name());
        }
    }

    /// Return a text of `len` characters of some of `CHARS`, the same at every run.
    fn mixed(len: usize, mut state: u64, of: &[char]) -> String {
        let mut next = || {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            of[(state >> 33) as usize % of.len()]
        };
        (0..len).map(|_| next()).collect()
    }

    #[test]
    fn scalar_gives_units() {
        let mut units = Vec::new();
        assert!(scalar::append("a漢😀".as_bytes(), &mut units));
        let expected = [0x61, 0x6F22, 0xD83D, 0xDE00].map(u16::to_ne_bytes);
        assert_eq!(units, expected.as_flattened());
    }

    #[test]
    fn every_level_reads_every_character() {
        for char in ('\0'..=char::MAX).step_by(cases(1, 4099)) {
            check(format!("{char}b{char}").as_bytes());
        }
    }

    #[test]
    fn every_level_equals_scalar_at_every_length_and_place() {
        for (chars, state) in [&CHARS[..], &CHARS[..13], &CHARS[..6], &CHARS[6..13]].into_iter().zip(1..) {
            for len in (0..200).step_by(cases(1, 37)) {
                check(mixed(len, state + len as u64, chars).as_bytes());
                check(format!("{}{}", "a".repeat(len), mixed(40, state, chars)).as_bytes());
            }
        }
    }

    #[test]
    fn every_level_rejects_invalid_text() {
        let text = mixed(150, 5, &CHARS[..13]).into_bytes();
        for place in (0..text.len()).step_by(cases(1, 29)) {
            check(&text[..place]);
            check(&text[place..]);
            for byte in [0x00, 0x41, 0x80, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xE0, 0xED, 0xF0, 0xF4, 0xFF]
            {
                let mut mismatch = text.clone();
                mismatch[place] = byte;
                check(&mismatch);
            }
        }
    }

    #[test]
    fn every_level_rejects_wrong_pairs_and_truncated_characters() {
        let pairs = (0x80..=0xFF).flat_map(|first| (0..=0xFF).map(move |second| (first, second)));
        for (first, second) in pairs.step_by(cases(1, 997)) {
            for place in [0, 13, 14, 15, 61, 62, 63] {
                let before = "a".repeat(place);
                for after in
                    [&b""[..], b"b", b"\x80", b"\x80\x80", b"\x80\x80\x80 and more than a block of sixteen"]
                {
                    check(&[before.as_bytes(), &[first, second], after].concat());
                }
            }
        }
    }
}
