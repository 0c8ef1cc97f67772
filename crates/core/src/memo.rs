//! The memo: what a word was last segmented into, for words of up to 15 bytes and 4 pieces.
//!
//! Open addressing with two ways on one cache line, fixed size, never grown: a new word takes the second
//! way, a hit there moves it to the first, so frequent words stay. The key is the word itself with its
//! length, so a hit needs no further comparison.

use piecework_kernels::prefetch::prefetch_read;

/// A word of 1 to 15 bytes with its length in the top byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(u128);

/// The longest word, in bytes, that has a key.
pub const MAX_KEY_BYTES: usize = 15;
/// The most pieces that are remembered for a word.
pub const MAX_PIECES: usize = 4;

impl Key {
    /// The key of a word given as the low `len` bytes of `bytes` (1 <= `len` <= 15), the rest zero.
    #[inline]
    #[must_use]
    pub fn from_low_bytes(bytes: u128, len: usize) -> Self {
        Self(bytes | (len as u128) << 120)
    }

    /// The key of a word, if it is neither empty nor too long.
    #[inline]
    #[must_use]
    pub fn of(word: &[u8]) -> Option<Self> {
        if word.is_empty() || word.len() > MAX_KEY_BYTES {
            return None;
        }
        let mut bytes = [0; 16];
        bytes[..word.len()].copy_from_slice(word);
        Some(Self::from_low_bytes(u128::from_le_bytes(bytes), word.len()))
    }

    /// The key of the word at `start..end` of a text, if it is neither empty nor too long.
    #[inline]
    #[must_use]
    pub fn at(text: &[u8], start: usize, end: usize) -> Option<Self> {
        match text[start..].first_chunk::<16>() {
            Some(block) if start < end && end - start <= MAX_KEY_BYTES => {
                let mask = u128::MAX >> (128 - 8 * (end - start));
                Some(Self::from_low_bytes(u128::from_le_bytes(*block) & mask, end - start))
            }
            _ => Self::of(&text[start..end]),
        }
    }

    /// The word again: its bytes and their number.
    #[must_use]
    pub fn bytes(self) -> ([u8; 16], usize) {
        (self.0.to_le_bytes(), (self.0 >> 120) as usize)
    }

    /// Mix the halves; the top bits are the best.
    #[inline]
    pub(crate) fn hash(self) -> u64 {
        let (low, high) = (self.0 as u64, (self.0 >> 64) as u64);
        (low ^ high.rotate_left(29).wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
    }
}

/// Up to four ids; the two top bits of the first hold their number less one.
pub type PackedIds = [u32; MAX_PIECES];

const COUNT_SHIFT: u32 = 30;

/// Pack 1 to 4 ids, each below 2^28.
#[inline]
#[must_use]
pub fn pack(ids: &[u32]) -> Option<PackedIds> {
    if ids.is_empty() || ids.len() > MAX_PIECES {
        return None;
    }
    let mut packed = [0; MAX_PIECES];
    packed[..ids.len()].copy_from_slice(ids);
    packed[0] |= (ids.len() as u32 - 1) << COUNT_SHIFT;
    Some(packed)
}

const GRADE_SHIFT: u32 = 28;

/// Pack 1 to 4 ids with a grade from 0 to 3.
#[inline]
#[must_use]
pub fn pack_graded(ids: &[u32], grade: u32) -> Option<PackedIds> {
    let mut packed = pack(ids)?;
    packed[0] |= grade << GRADE_SHIFT;
    Some(packed)
}

/// Take the grade out of packed ids.
#[inline]
#[must_use]
pub fn take_grade(mut packed: PackedIds) -> (PackedIds, u32) {
    let grade = packed[0] >> GRADE_SHIFT & 3;
    packed[0] &= !(3 << GRADE_SHIFT);
    (packed, grade)
}

/// Append packed ids.
#[inline]
pub fn append(packed: PackedIds, out: &mut Vec<u32>) {
    let count = (packed[0] >> COUNT_SHIFT) as usize + 1;
    let first = packed[0] & ((1 << COUNT_SHIFT) - 1);
    if count == 1 {
        out.push(first);
    } else {
        out.extend_from_slice(&[first, packed[1], packed[2], packed[3]][..count]);
    }
}

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line {
    keys: [u128; 2],
    ids: [PackedIds; 2],
}

/// The table.
#[derive(Clone, Debug)]
pub struct Memo {
    lines: Vec<Line>,
    shift: u32,
}

impl Memo {
    /// A memo of `2^bits` words; 32 bytes each.
    #[must_use]
    pub fn with_bits(bits: u32) -> Self {
        let lines = 1usize << (bits - 1);
        let empty = Line { keys: [0; 2], ids: [[0; MAX_PIECES]; 2] };
        Self { lines: vec![empty; lines], shift: 64 - (bits - 1) }
    }

    /// Say that a word will be asked for soon.
    #[inline]
    pub fn prefetch(&self, key: Key) {
        prefetch_read(&self.lines[(key.hash() >> self.shift) as usize]);
    }

    /// What was remembered for a word.
    #[inline]
    pub fn get(&mut self, key: Key) -> Option<PackedIds> {
        let line = &mut self.lines[(key.hash() >> self.shift) as usize];
        if line.keys[0] == key.0 {
            return Some(line.ids[0]);
        }
        if line.keys[1] == key.0 {
            line.keys.swap(0, 1);
            line.ids.swap(0, 1);
            return Some(line.ids[0]);
        }
        None
    }

    /// Remember a word.
    #[inline]
    pub fn insert(&mut self, key: Key, ids: PackedIds) {
        let line = &mut self.lines[(key.hash() >> self.shift) as usize];
        let way = usize::from(line.keys[0] != 0);
        line.keys[way] = key.0;
        line.ids[way] = ids;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_what_it_was_told() {
        let mut memo = Memo::with_bits(4);
        for i in 0..1000u32 {
            let word = i.to_string();
            let key = Key::of(word.as_bytes()).unwrap();
            let ids: Vec<u32> = (0..=i % 4).map(|k| i + k).collect();
            assert_eq!(memo.get(key), None);
            memo.insert(key, pack(&ids).unwrap());
            let mut out = Vec::new();
            append(memo.get(key).unwrap(), &mut out);
            assert_eq!(out, ids);
        }
    }

    #[test]
    fn keeps_a_grade_beside_the_ids() {
        let ids = [(1 << 28) - 1, 7];
        let (packed, grade) = take_grade(pack_graded(&ids, 3).unwrap());
        assert_eq!((packed, grade), (pack(&ids).unwrap(), 3));
    }

    #[test]
    fn keys_tell_words_apart() {
        assert_ne!(Key::of(b"a"), Key::of(b"a\0"));
        assert_eq!(Key::of(b""), None);
        assert_eq!(Key::of(&[b'a'; 16]), None);
    }
}
