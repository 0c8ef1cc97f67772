//! What a short word is known by: itself, with its length.

use piecework_kernels::buckets::Lookup;

/// A word of 1 to 15 bytes with its length in the top byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(pub(super) u128);

/// The longest word, in bytes, that has a key.
pub const MAX_KEY_BYTES: usize = 15;

/// Masks of the lowest bytes.
const LOW_BYTES: [u128; MAX_KEY_BYTES + 1] = {
    let mut masks = [0; MAX_KEY_BYTES + 1];
    let mut len = 1;
    while len <= MAX_KEY_BYTES {
        masks[len] = masks[len - 1] << 8 | 0xFF;
        len += 1;
    }
    masks
};

/// Beside the length in the top byte of a key of text that is still to be normalized.
const RAW: usize = 1 << 7;

impl Key {
    /// The key of no word: nothing is ever remembered for it.
    pub const ABSENT: Self = Self(0xFF << 120);

    /// The key of a word given as the low `len` bytes of `bytes` (1 <= `len` <= 15), the rest zero.
    #[inline]
    #[must_use]
    pub fn from_low_bytes(bytes: u128, len: usize) -> Self {
        Self(bytes | (len as u128) << 120)
    }

    /// The key of a word given as the low `len` bytes of a block, whatever the rest.
    #[inline]
    #[must_use]
    pub fn from_block(block: u128, len: usize) -> Self {
        Self::from_low_bytes(block & LOW_BYTES[len], len)
    }

    /// The key of a word, if it is neither empty nor too long.
    #[inline]
    #[must_use]
    pub fn of(word: &[u8]) -> Option<Self> {
        if word.is_empty() || word.len() > MAX_KEY_BYTES {
            return None;
        }
        Some(Self::from_low_bytes(low_bytes(word), word.len()))
    }

    /// The key of the word at `start..end` of a text, if it is neither empty nor too long.
    #[inline]
    #[must_use]
    pub fn at(text: &[u8], start: usize, end: usize) -> Option<Self> {
        let len = end.checked_sub(start).filter(|len| (1..=MAX_KEY_BYTES).contains(len))?;
        Some(Self::from_block(block_at(text, start), len))
    }

    /// The key of the same bytes as text that is still to be normalized.
    #[inline]
    #[must_use]
    pub fn as_raw(self) -> Self {
        Self(self.0 | (RAW as u128) << 120)
    }

    /// The word again: its bytes and their number.
    #[must_use]
    pub fn bytes(self) -> ([u8; 16], usize) {
        (self.0.to_le_bytes(), (self.0 >> 120) as usize)
    }

    /// Mix the halves; the top bits are the best.
    #[inline]
    #[must_use]
    pub fn hash(self) -> u64 {
        let (low, high) = (self.0 as u64, (self.0 >> 64) as u64);
        (low ^ high.rotate_left(29).wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
    }

    /// The word as it is asked for.
    #[inline]
    #[must_use]
    pub fn asked(self) -> Lookup {
        Lookup { key: self.0, hash: self.hash() }
    }

    /// As it is asked for what has no key: in vain, at a line that is at hand, with its hash where there is room.
    #[inline]
    #[must_use]
    pub fn asked_in_vain(hash: u64) -> Lookup {
        Lookup { key: Self::ABSENT.0 | u128::from(hash), hash: 0 }
    }

    /// The key that is asked for, or the hash of what has none.
    #[inline]
    pub fn of_asked(asked: Lookup) -> Result<Self, u64> {
        if asked.key >= Self::ABSENT.0 {
            return Err(asked.key as u64);
        }
        Ok(Self(asked.key))
    }
}

/// The 16 bytes of a text from `at` on as a number, zeros after the end.
///
/// Near the end they are the last of the text's last 16.
#[inline]
#[must_use]
pub fn block_at(text: &[u8], at: usize) -> u128 {
    if let Some(block) = text[at..].first_chunk() {
        return u128::from_le_bytes(*block);
    }
    let Some(last) = text.last_chunk::<16>() else { return short_block_at(text, at) };
    let before = at + last.len() - text.len();
    u128::from_le_bytes(*last).checked_shr(8 * before as u32).unwrap_or(0)
}

/// The same for a text of fewer bytes.
fn short_block_at(text: &[u8], at: usize) -> u128 {
    match &text[at..] {
        [] => 0,
        rest => low_bytes(rest),
    }
}

/// 1 to 15 bytes as a number, read in pieces that may overlap.
#[inline]
fn low_bytes(word: &[u8]) -> u128 {
    if let (Some(first), Some(last)) = (word.first_chunk(), word.last_chunk()) {
        let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
        u128::from(first) | u128::from(last) << (8 * (word.len() - 8))
    } else if let (Some(first), Some(last)) = (word.first_chunk(), word.last_chunk()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        u128::from(u64::from(first) | u64::from(last) << (8 * (word.len() - 4)))
    } else {
        word.iter().rev().fold(0, |number, &byte| number << 8 | u128::from(byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_tell_words_apart() {
        assert_ne!(Key::of(b"a"), Key::of(b"a\0"));
        assert_eq!(Key::of(b""), None);
        assert_eq!(Key::of(&[b'a'; 16]), None);
    }

    #[test]
    fn keys_are_the_bytes_of_words() {
        let text: Vec<u8> = (1..=32).collect();
        for (start, len) in (0..16).flat_map(|start| (1..=MAX_KEY_BYTES).map(move |len| (start, len))) {
            let word = &text[start..start + len];
            let (bytes, found) = Key::of(word).unwrap().bytes();
            assert_eq!((&bytes[..len], found), (word, len));
            assert_eq!(Key::at(&text, start, start + len), Key::of(word));
        }
    }

    #[test]
    fn keys_are_the_same_near_the_end_of_a_text() {
        let all: Vec<u8> = (1..=40).collect();
        for text in (0..=all.len()).map(|len| &all[..len]) {
            for (start, end) in (0..=text.len()).flat_map(|end| (0..=end).map(move |start| (start, end))) {
                assert_eq!(Key::at(text, start, end), Key::of(&text[start..end]));
            }
            for at in 0..=text.len() {
                let mut block = [0; 16];
                block.iter_mut().zip(&text[at..]).for_each(|(byte, &of_text)| *byte = of_text);
                assert_eq!(block_at(text, at), u128::from_le_bytes(block));
            }
        }
    }

    #[test]
    fn what_is_asked_for_is_told_from_what_has_no_key() {
        let key = Key::of(b"fifteen letters").unwrap();
        assert_eq!(Key::of_asked(key.asked()), Ok(key));
        assert_eq!(Key::of_asked(key.as_raw().asked()), Ok(key.as_raw()));
        assert_eq!(Key::of_asked(Key::asked_in_vain(u64::MAX)), Err(u64::MAX));
        assert_eq!(Key::of_asked(Key::asked_in_vain(0)), Err(0));
    }
}
