//! `WordKey`: a short word as one number, its bytes and its length; and what receives the words of a text.

use piecework_kernels::buckets::Lookup;

/// A word of 1 to 15 bytes: the bytes, and the length in the top byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordKey(pub(crate) u128);

/// The longest word, in bytes, that has a key.
pub const MAX_KEY_BYTES: usize = 15;

/// Masks of the lowest bytes, by their number.
const LOW_BYTES: [u128; MAX_KEY_BYTES + 1] = {
    let mut masks = [0; MAX_KEY_BYTES + 1];
    let mut len = 1;
    while len <= MAX_KEY_BYTES {
        masks[len] = masks[len - 1] << 8 | 0xFF;
        len += 1;
    }
    masks
};

/// Set in the length byte of the key of text that is not normalized yet.
const RAW: usize = 1 << 7;

impl WordKey {
    /// In place of the key of a word that has none.
    pub(crate) const NONE: Self = Self(0);

    /// A key that no word has: every lookup of it misses.
    pub(crate) const ABSENT: Self = Self(0xFF << 120);

    /// Return the key as a number.
    #[inline]
    #[must_use]
    pub fn bits(self) -> u128 {
        self.0
    }

    /// Return the key of the word in the low `len` bytes of `bytes` (1 to 15); the other bytes must be zero.
    #[inline]
    pub(crate) fn from_low_bytes(bytes: u128, len: usize) -> Self {
        Self(bytes | (len as u128) << 120)
    }

    /// Return the key of the word in the low `len` bytes of a block; the other bytes are ignored.
    #[inline]
    pub(crate) fn from_block(block: u128, len: usize) -> Self {
        Self::from_low_bytes(block & LOW_BYTES[len], len)
    }

    /// Return the key of a word, or `None` if it is empty or too long.
    #[inline]
    #[must_use]
    pub fn of(word: &[u8]) -> Option<Self> {
        if word.is_empty() || word.len() > MAX_KEY_BYTES {
            return None;
        }
        Some(Self::from_low_bytes(low_bytes(word), word.len()))
    }

    /// Return the key of the word at `start..end` of a text, or `None` if it is empty or too long.
    #[inline]
    #[must_use]
    pub fn at(text: &[u8], start: usize, end: usize) -> Option<Self> {
        Some(Self::at_or_none(text, start, end)).filter(|&key| key != Self::NONE)
    }

    /// Return the key of the word at `start..end` of a text, or [`Self::NONE`] if it is empty or too long.
    ///
    /// An `Option` of 16 bytes would pass through memory.
    #[inline(always)]
    pub(crate) fn at_or_none(text: &[u8], start: usize, end: usize) -> Self {
        let len = end.wrapping_sub(start);
        if len.wrapping_sub(1) >= MAX_KEY_BYTES {
            return Self::NONE;
        }
        Self::from_block(block_at(text, start), len)
    }

    /// Return the key of the same bytes as text that is not normalized yet.
    #[inline]
    pub(crate) fn as_raw(self) -> Self {
        Self(self.0 | (RAW as u128) << 120)
    }

    /// Return the bytes of the word and their number.
    #[must_use]
    pub fn bytes(self) -> ([u8; 16], usize) {
        (self.0.to_le_bytes(), (self.0 >> 120) as usize & !RAW)
    }

    /// Return a hash whose top bits are the best.
    #[inline]
    #[must_use]
    pub fn hash(self) -> u64 {
        let (low, high) = (self.0 as u64, (self.0 >> 64) as u64);
        (low ^ high.rotate_left(29).wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
    }

    /// Return the lookup of the word.
    #[inline]
    #[must_use]
    pub fn lookup(self) -> Lookup {
        Lookup { key: self.0, hash: self.hash() }
    }

    /// Return a lookup that always misses, in a bucket that is in the processor's cache. It carries the hash of a word
    /// without a key.
    #[inline]
    pub(crate) fn absent_lookup(hash: u64) -> Lookup {
        Lookup { key: Self::ABSENT.0 | u128::from(hash), hash: 0 }
    }

    /// Return the key of a lookup, or the hash of a word without a key as the error.
    #[inline]
    pub(crate) fn of_lookup(lookup: Lookup) -> Result<Self, u64> {
        if lookup.key >= Self::ABSENT.0 {
            return Err(lookup.key as u64);
        }
        Ok(Self(lookup.key))
    }
}

/// Receives the words of a text.
///
/// `at` is the byte of the text where the word begins; for a word that normalization rewrites, where the span around it
/// begins.
pub trait WordSink {
    /// Receive a word.
    fn word(&mut self, word: &str, at: usize);

    /// Receive a word of up to 15 bytes by its key.
    #[inline]
    fn short_word(&mut self, key: WordKey, at: usize) {
        let (bytes, len) = key.bytes();
        if let Ok(word) = std::str::from_utf8(&bytes[..len]) {
            self.word(word, at);
        }
    }
}

/// Return the 16 bytes of a text from `at` on as a number, with zeros after the end of the text.
///
/// Near the end it reads the last 16 bytes and shifts them.
#[inline]
pub(crate) fn block_at(text: &[u8], at: usize) -> u128 {
    match text[at..].first_chunk() {
        Some(block) => u128::from_le_bytes(*block),
        None => last_block_at(text, at),
    }
}

/// `block_at` near the end of a text.
#[cold]
#[inline(never)]
fn last_block_at(text: &[u8], at: usize) -> u128 {
    let Some(last) = text.last_chunk::<16>() else { return short_block_at(text, at) };
    let before = at + last.len() - text.len();
    u128::from_le_bytes(*last).checked_shr(8 * before as u32).unwrap_or(0)
}

/// `block_at` for a text of fewer than 16 bytes.
fn short_block_at(text: &[u8], at: usize) -> u128 {
    match &text[at..] {
        [] => 0,
        rest => low_bytes(rest),
    }
}

/// Return 1 to 15 bytes as a number, from two reads that may overlap.
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
        assert_ne!(WordKey::of(b"a"), WordKey::of(b"a\0"));
        assert_eq!(WordKey::of(b""), None);
        assert_eq!(WordKey::of(&[b'a'; 16]), None);
    }

    #[test]
    fn keys_are_the_bytes_of_words() {
        let text: Vec<u8> = (1..=32).collect();
        for (start, len) in (0..16).flat_map(|start| (1..=MAX_KEY_BYTES).map(move |len| (start, len))) {
            let word = &text[start..start + len];
            let (bytes, found) = WordKey::of(word).unwrap().bytes();
            assert_eq!((&bytes[..len], found), (word, len));
            assert_eq!(WordKey::at(&text, start, start + len), WordKey::of(word));
        }
    }

    #[test]
    fn keys_are_the_same_near_the_end_of_a_text() {
        let all: Vec<u8> = (1..=40).collect();
        for text in (0..=all.len()).map(|len| &all[..len]) {
            for (start, end) in (0..=text.len()).flat_map(|end| (0..=end).map(move |start| (start, end))) {
                assert_eq!(WordKey::at(text, start, end), WordKey::of(&text[start..end]));
            }
            for at in 0..=text.len() {
                let mut block = [0; 16];
                block.iter_mut().zip(&text[at..]).for_each(|(byte, &of_text)| *byte = of_text);
                assert_eq!(block_at(text, at), u128::from_le_bytes(block));
            }
        }
    }

    #[test]
    fn lookups_of_words_without_a_key_carry_their_hash() {
        let key = WordKey::of(b"fifteen letters").unwrap();
        assert_eq!(WordKey::of_lookup(key.lookup()), Ok(key));
        assert_eq!(WordKey::of_lookup(key.as_raw().lookup()), Ok(key.as_raw()));
        assert_eq!(WordKey::of_lookup(WordKey::absent_lookup(u64::MAX)), Err(u64::MAX));
        assert_eq!(WordKey::of_lookup(WordKey::absent_lookup(0)), Err(0));
    }
}
