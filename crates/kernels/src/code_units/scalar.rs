//! Without instructions of a level: blocks of ASCII at once, all others one code point after the other.

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
