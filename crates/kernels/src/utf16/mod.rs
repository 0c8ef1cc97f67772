//! UTF-8 to UTF-16, which Python converts to strings faster if the text is not ASCII.
//!
//! A block of bytes becomes the code units of all characters that end in it before its last byte. Characters of
//! four bytes and invalid UTF-8 are left to the scalar definition.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod simd;

use crate::level::Level;
#[cfg(target_arch = "aarch64")]
use simd::neon;
#[cfg(target_arch = "x86_64")]
use simd::{avx2, avx512};

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
