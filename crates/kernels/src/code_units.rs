//! Text as the code units in which Python stores strings that are not ASCII, and its conversion to UTF-8.

use crate::level::Level;
#[cfg(target_arch = "x86_64")]
use crate::level::Set;
#[cfg(not(target_arch = "x86_64"))]
use scalar::CodeUnit;

/// Code units of one size; each is a code point.
#[derive(Clone, Copy, Debug)]
pub enum CodeUnits<'t> {
    /// Code points below 256.
    One(&'t [u8]),
    /// Code points below 65,536.
    Two(&'t [u16]),
    /// All code points.
    Four(&'t [u32]),
}

impl CodeUnits<'_> {
    /// Return the number of code points.
    #[must_use]
    pub fn len(self) -> usize {
        match self {
            Self::One(units) => units.len(),
            Self::Two(units) => units.len(),
            Self::Four(units) => units.len(),
        }
    }

    /// Return whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Return whether every code point is a character, no surrogate.
    #[must_use]
    pub fn are_chars(self) -> bool {
        // Without an early exit, so that the loops are compiled to vector instructions.
        match self {
            Self::One(_) => true,
            Self::Two(units) => !units.iter().fold(false, |found, unit| found | (unit & 0xF800 == 0xD800)),
            Self::Four(units) => {
                let is_wrong = |unit: u32| (unit & 0xFFFF_F800 == 0xD800) | (unit > char::MAX.into());
                !units.iter().fold(false, |found, &unit| found | is_wrong(unit))
            }
        }
    }

    /// Replace `text` by the text. Return `false`, with an unspecified text, if a code point is a surrogate.
    #[must_use]
    pub fn write_utf8(self, text: &mut String) -> bool {
        self.write_utf8_at(Level::active(), text)
    }

    /// [`Self::write_utf8`] with the instructions of a level.
    #[must_use]
    pub fn write_utf8_at(self, level: Level, text: &mut String) -> bool {
        let mut bytes = std::mem::take(text).into_bytes();
        bytes.clear();
        let is_text = match self {
            Self::One(units) => append(level, units, &mut bytes),
            Self::Two(units) => append(level, units, &mut bytes),
            Self::Four(units) => append(level, units, &mut bytes),
        };
        if is_text {
            // SAFETY: `append` appends the UTF-8 of one code point after the other, and no surrogates.
            *text = unsafe { String::from_utf8_unchecked(bytes) };
        }
        is_text
    }
}

/// A code unit of some size.
#[cfg(target_arch = "x86_64")]
trait CodeUnit: scalar::CodeUnit + avx2::CodeUnit {}
#[cfg(target_arch = "x86_64")]
impl<U: scalar::CodeUnit + avx2::CodeUnit> CodeUnit for U {}

/// Append units as UTF-8, up to the first that is not a character; return whether all are.
fn append<U: CodeUnit>(level: Level, units: &[U], out: &mut Vec<u8>) -> bool {
    match level.set() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a level exists only where the processor has its instructions; those with AVX-512 have AVX2.
        Set::Avx2 | Set::Avx512 => unsafe { avx2::append(units, out) },
        _ => scalar::append(units, out),
    }
}

/// Without instructions of a level: blocks of ASCII at once, all others one code point after the other.
mod scalar {
    use std::ops::BitOr;

    /// The units of a block.
    const BLOCK: usize = 32;
    /// The most bytes of a character in UTF-8.
    const MAX_CHAR_BYTES: usize = 4;

    /// A code unit.
    pub(super) trait CodeUnit: Copy + Default + BitOr<Output = Self> + Into<u32> {
        /// Return the lowest byte.
        fn low_byte(self) -> u8;
    }

    impl CodeUnit for u8 {
        #[inline(always)]
        fn low_byte(self) -> u8 {
            self
        }
    }

    impl CodeUnit for u16 {
        #[inline(always)]
        fn low_byte(self) -> u8 {
            self as u8
        }
    }

    impl CodeUnit for u32 {
        #[inline(always)]
        fn low_byte(self) -> u8 {
            self as u8
        }
    }

    /// See [`super::append`].
    pub(super) fn append<U: CodeUnit>(units: &[U], out: &mut Vec<u8>) -> bool {
        out.reserve(units.len());
        let (blocks, rest) = units.as_chunks::<BLOCK>();
        for block in blocks {
            let bits: u32 = block.iter().fold(U::default(), |bits, &unit| bits | unit).into();
            if bits < 0x80 {
                out.extend_from_slice(&block.map(U::low_byte));
            } else if !append_chars(block, out) {
                return false;
            }
        }
        append_chars(rest, out)
    }

    /// Append at most [`BLOCK`] units; return whether all are characters.
    fn append_chars<U: CodeUnit>(units: &[U], out: &mut Vec<u8>) -> bool {
        let mut bytes = [0; MAX_CHAR_BYTES * BLOCK];
        let (mut len, mut is_text) = (0, true);
        for &unit in units {
            let point: u32 = unit.into();
            let Some(room) = bytes[len..].first_chunk_mut::<MAX_CHAR_BYTES>() else { return false };
            let six_bits = |shift: u32| (point >> shift & 0x3F) as u8 | 0x80;
            let (encoded, count) = match point {
                0..0x80 => ([point as u8, 0, 0, 0], 1),
                0x80..0x800 => ([(point >> 6) as u8 | 0xC0, six_bits(0), 0, 0], 2),
                0x800..0x1_0000 => {
                    is_text &= !(0xD800..0xE000).contains(&point);
                    ([(point >> 12) as u8 | 0xE0, six_bits(6), six_bits(0), 0], 3)
                }
                _ => {
                    is_text &= point <= u32::from(char::MAX);
                    ([(point >> 18) as u8 | 0xF0, six_bits(12), six_bits(6), six_bits(0)], 4)
                }
            };
            *room = encoded;
            len += count;
        }
        out.extend_from_slice(&bytes[..len]);
        is_text
    }
}

/// Eight code points at once: each becomes four bytes, and a shuffle keeps as many as the character has.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::scalar;

    /// The code points of a step.
    const STEP: usize = 8;
    /// The most bytes of a character in UTF-8.
    const MAX_CHAR_BYTES: usize = 4;

    /// By the lengths of four characters: the bytes to keep of four each, and their number.
    ///
    /// Bit `i` of the index and bit `i + 4` are the low and the high bit of the length of character `i`, minus one.
    static KEPT: [([u8; 16], u8); 256] = {
        let mut kept = [([0x80; 16], 0); 256];
        let mut index = 0;
        while index < kept.len() {
            let (mut character, mut count) = (0, 0);
            while character < 4 {
                let length = 1 + (index >> character & 1) + (index >> (character + 4) & 1) * 2;
                let mut byte = 0;
                while byte < length {
                    kept[index].0[count] = (4 * character + byte) as u8;
                    (count, byte) = (count + 1, byte + 1);
                }
                character += 1;
            }
            kept[index].1 = count as u8;
            index += 1;
        }
        kept
    };

    /// A code unit that can be loaded.
    pub(super) trait CodeUnit: scalar::CodeUnit {
        /// The units that [`Self::copy_ascii`] copies.
        const ASCII_UNITS: usize;

        /// Load [`STEP`] units as code points.
        ///
        /// # Safety
        /// Needs AVX2, and `STEP` readable units.
        unsafe fn load(units: *const Self) -> __m256i;

        /// Write `ASCII_UNITS` units as bytes; return whether all are ASCII. If not, the bytes are unspecified.
        ///
        /// # Safety
        /// Needs AVX2, `ASCII_UNITS` readable units and as many writable bytes.
        unsafe fn copy_ascii(units: *const Self, out: *mut u8) -> bool;
    }

    impl CodeUnit for u8 {
        const ASCII_UNITS: usize = 32;

        #[inline]
        #[target_feature(enable = "avx2")]
        unsafe fn load(units: *const Self) -> __m256i {
            // SAFETY: by the contract of the trait.
            _mm256_cvtepu8_epi32(unsafe { _mm_loadl_epi64(units.cast()) })
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        unsafe fn copy_ascii(units: *const Self, out: *mut u8) -> bool {
            // SAFETY: by the contract of the trait.
            unsafe {
                let bytes = _mm256_loadu_si256(units.cast());
                _mm256_storeu_si256(out.cast(), bytes);
                _mm256_movemask_epi8(bytes) == 0
            }
        }
    }

    impl CodeUnit for u16 {
        const ASCII_UNITS: usize = 16;

        #[inline]
        #[target_feature(enable = "avx2")]
        unsafe fn load(units: *const Self) -> __m256i {
            // SAFETY: by the contract of the trait.
            _mm256_cvtepu16_epi32(unsafe { _mm_loadu_si128(units.cast()) })
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        unsafe fn copy_ascii(units: *const Self, out: *mut u8) -> bool {
            // SAFETY: by the contract of the trait.
            unsafe {
                let both = _mm256_loadu_si256(units.cast());
                let (low, high) = (_mm256_castsi256_si128(both), _mm256_extracti128_si256::<1>(both));
                _mm_storeu_si128(out.cast(), _mm_packus_epi16(low, high));
                _mm256_testz_si256(both, _mm256_set1_epi16(!0x7F)) != 0
            }
        }
    }

    impl CodeUnit for u32 {
        const ASCII_UNITS: usize = 8;

        #[inline]
        #[target_feature(enable = "avx2")]
        unsafe fn load(units: *const Self) -> __m256i {
            // SAFETY: by the contract of the trait.
            unsafe { _mm256_loadu_si256(units.cast()) }
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        unsafe fn copy_ascii(units: *const Self, out: *mut u8) -> bool {
            // SAFETY: by the contract of the trait.
            unsafe {
                let points = _mm256_loadu_si256(units.cast());
                let (low, high) = (_mm256_castsi256_si128(points), _mm256_extracti128_si256::<1>(points));
                let words = _mm_packus_epi32(low, high);
                _mm_storel_epi64(out.cast(), _mm_packus_epi16(words, words));
                _mm256_testz_si256(points, _mm256_set1_epi32(!0x7F)) != 0
            }
        }
    }

    /// [`scalar::append`] with AVX2.
    ///
    /// # Safety
    /// The processor has the features that the attribute names.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) unsafe fn append<U: CodeUnit>(units: &[U], out: &mut Vec<u8>) -> bool {
        // Every store writes at most 32 bytes, of which those after the text are written again.
        out.reserve(MAX_CHAR_BYTES * units.len() + 32);
        let (mut read, mut end) = (0, out.len());
        let bytes = out.as_mut_ptr();
        while units.len() - read >= U::ASCII_UNITS {
            // SAFETY: there are `ASCII_UNITS` units, and each unit before took at most `MAX_CHAR_BYTES` of the reserved bytes.
            if unsafe { U::copy_ascii(units.as_ptr().add(read), bytes.add(end)) } {
                (read, end) = (read + U::ASCII_UNITS, end + U::ASCII_UNITS);
                continue;
            }
            // SAFETY: as above; a step has at most `ASCII_UNITS` units.
            match unsafe { step(U::load(units.as_ptr().add(read)), bytes.add(end)) } {
                Some(written) => (read, end) = (read + STEP, end + written),
                None => return false,
            }
        }
        // SAFETY: `end` bytes have been written.
        unsafe { out.set_len(end) };
        scalar::append(&units[read..], out)
    }

    /// Write eight code points as UTF-8. Return the number of bytes; `None` for a surrogate or a number that is too large.
    ///
    /// # Safety
    /// Needs AVX2, and 32 writable bytes.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn step(points: __m256i, out: *mut u8) -> Option<usize> {
        let all = |number: u32| _mm256_set1_epi32(number as i32);
        let is_above = |number| _mm256_cmpgt_epi32(points, all(number));
        let is_surrogate = _mm256_cmpeq_epi32(_mm256_and_si256(points, all(!0x7FF)), all(0xD800));
        // As signed numbers, those with the top bit are below zero.
        let is_large = _mm256_or_si256(is_above(0x10_FFFF), points);
        if _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_or_si256(is_surrogate, is_large))) != 0 {
            return None;
        }
        let or = |a, b| _mm256_or_si256(a, b);
        let low_bits = |bits| _mm256_and_si256(bits, all(0x3F));
        // The last six bits of the code point, those before them, and those before these.
        let (third, second, first) = (
            low_bits(points),
            low_bits(_mm256_srli_epi32::<6>(points)),
            low_bits(_mm256_srli_epi32::<12>(points)),
        );
        let two = or(or(_mm256_srli_epi32::<6>(points), _mm256_slli_epi32::<8>(third)), all(0x80C0));
        let of_three = or(_mm256_srli_epi32::<12>(points), _mm256_slli_epi32::<8>(second));
        let three = or(or(of_three, _mm256_slli_epi32::<16>(third)), all(0x80_80E0));
        let of_four = or(_mm256_srli_epi32::<18>(points), _mm256_slli_epi32::<8>(first));
        let last = or(_mm256_slli_epi32::<16>(second), _mm256_slli_epi32::<24>(third));
        let four = or(or(of_four, last), all(0x8080_80F0));
        let has = [is_above(0x7F), is_above(0x7FF), is_above(0xFFFF)];
        let bytes = _mm256_blendv_epi8(points, two, has[0]);
        let bytes = _mm256_blendv_epi8(bytes, three, has[1]);
        let bytes = _mm256_blendv_epi8(bytes, four, has[2]);
        let [has_two, has_three, has_four] =
            has.map(|lanes| _mm256_movemask_ps(_mm256_castsi256_ps(lanes)) as usize);
        let (low, high) = (has_two ^ has_three ^ has_four, has_three);
        let (shuffle, count) = &KEPT[low & 15 | (high & 15) << 4];
        let (next_shuffle, next_count) = &KEPT[low >> 4 | high & 0xF0];
        // SAFETY: two loads of the 16 bytes of an entry, and two stores of 16 bytes, the second after at most 16.
        unsafe {
            let kept =
                _mm_shuffle_epi8(_mm256_castsi256_si128(bytes), _mm_loadu_si128(shuffle.as_ptr().cast()));
            _mm_storeu_si128(out.cast(), kept);
            let next = _mm256_extracti128_si256::<1>(bytes);
            let kept = _mm_shuffle_epi8(next, _mm_loadu_si128(next_shuffle.as_ptr().cast()));
            _mm_storeu_si128(out.add(usize::from(*count)).cast(), kept);
        }
        Some(usize::from(count + next_count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    const BLOCK: usize = 32;

    /// Return the text of units, the same at all levels.
    fn written(units: CodeUnits<'_>) -> Option<String> {
        let mut found = Level::supported().into_iter().map(|level| {
            let mut text = "earlier".to_owned();
            units.write_utf8_at(level, &mut text).then_some(text)
        });
        let first = found.next().unwrap();
        assert!(found.all(|text| text == first), "{units:?}");
        assert_eq!(units.are_chars(), first.is_some());
        first
    }

    /// Texts in which one character is at each position of a block and around it.
    fn texts(c: char) -> impl Iterator<Item = String> {
        (0..2 * BLOCK + 2).step_by(cases(1, 13)).flat_map(move |at| {
            [0, 1, BLOCK].map(|after| "a".repeat(at) + &c.to_string() + &"b".repeat(after))
        })
    }

    #[test]
    fn code_units_become_the_text() {
        let edges =
            ['\0', '\x7F', '\u{80}', 'é', '\u{FF}', '\u{100}', '\u{7FF}', '\u{800}', '’', '\u{D7FF}'];
        let above = ['\u{E000}', '\u{FFFF}', '\u{10000}', '😀', char::MAX];
        for text in edges.into_iter().chain(above).flat_map(texts).chain([String::new()]) {
            let points: Vec<u32> = text.chars().map(u32::from).collect();
            assert_eq!(written(CodeUnits::Four(&points)).as_ref(), Some(&text));
            if let Ok(units) =
                points.iter().map(|&point| u16::try_from(point)).collect::<Result<Vec<_>, _>>()
            {
                assert_eq!(written(CodeUnits::Two(&units)).as_ref(), Some(&text));
            }
            if let Ok(units) =
                points.iter().map(|&point| u8::try_from(point)).collect::<Result<Vec<_>, _>>()
            {
                assert_eq!(written(CodeUnits::One(&units)).as_ref(), Some(&text));
            }
        }
    }

    #[test]
    fn converts_neighbouring_characters_of_all_lengths() {
        let chars = ['a', 'é', '’', '😀'];
        for number in (0..4_usize.pow(8)).step_by(cases(1, 997)) {
            let text: String = (0..8).map(|place| chars[number >> (2 * place) & 3]).collect();
            let points: Vec<u32> = text.chars().map(u32::from).collect();
            assert_eq!(written(CodeUnits::Four(&points)), Some(text));
        }
    }

    #[test]
    fn rejects_surrogates_and_large_numbers() {
        for at in [0, 5, BLOCK - 1, BLOCK, 2 * BLOCK + 3] {
            for point in [0xD800, 0xDBFF, 0xDC00, 0xDFFF] {
                let mut units = vec![u16::from(b'a'); 3 * BLOCK];
                units[at] = point;
                units[at + 1] = 0xDC00;
                assert_eq!(written(CodeUnits::Two(&units)), None);
                let points: Vec<u32> = units.iter().map(|&unit| unit.into()).collect();
                assert_eq!(written(CodeUnits::Four(&points)), None);
            }
            let mut points = vec![u32::from(b'a'); 3 * BLOCK];
            points[at] = u32::from(char::MAX) + 1;
            assert_eq!(written(CodeUnits::Four(&points)), None);
        }
    }
}
