//! Ranks of bytes.

use foldhash::{HashMap, HashMapExt};

use super::NO_RANK;

/// The bytes after the last token, so that 16 can be read from any token.
pub(super) const PADDING: usize = 16;

/// Looks up ranks: pairs of bytes, the most frequent case, by index; up to 15 bytes by value; others by hash.
///
/// A token is given by its length, and by bytes that begin with it and have at least `PADDING` more. Most lookups are
/// of three and four bytes; tables of their own stay in the cache.
pub(super) struct ByteRanks {
    of_two: Vec<u32>,
    of_three: HashMap<u32, u32>,
    of_four: HashMap<u32, u32>,
    /// Other tokens of up to 7 bytes.
    of_short: HashMap<u64, u32>,
    /// Up to 15 bytes.
    of_medium: HashMap<u128, u32>,
    of_long: HashMap<Box<[u8]>, u32>,
}

impl ByteRanks {
    /// Build the table of tokens, each with its first byte, its length and its rank.
    pub(super) fn of(bytes: &[u8], tokens: &[(usize, usize, u32)]) -> Self {
        let mut table = Self {
            of_two: vec![NO_RANK; 1 << 16],
            of_three: HashMap::with_capacity(tokens.len() / 8),
            of_four: HashMap::with_capacity(tokens.len() / 8),
            of_short: HashMap::with_capacity(tokens.len() / 2),
            of_medium: HashMap::with_capacity(tokens.len() / 4),
            of_long: HashMap::default(),
        };
        for &(start, len, rank) in tokens {
            table.insert(&bytes[start..], len, rank);
        }
        table
    }

    fn insert(&mut self, text: &[u8], len: usize, rank: u32) {
        match len {
            2 => self.of_two[two(text)] = rank,
            3 => drop(self.of_three.insert(short_key(text, 3) as u32, rank)),
            4 => drop(self.of_four.insert(short_key(text, 4) as u32, rank)),
            0..8 => drop(self.of_short.insert(short_key(text, len), rank)),
            8..16 => drop(self.of_medium.insert(medium_key(text, len), rank)),
            _ => drop(self.of_long.insert(text[..len].into(), rank)),
        }
    }

    /// Return the rank of the first `len` bytes, or `NO_RANK`.
    #[inline]
    pub(super) fn rank(&self, text: &[u8], len: usize) -> u32 {
        let found = match len {
            2 => return self.of_two[two(text)],
            3 => self.of_three.get(&(short_key(text, 3) as u32)),
            4 => self.of_four.get(&(short_key(text, 4) as u32)),
            0..8 => self.of_short.get(&short_key(text, len)),
            8..16 => self.of_medium.get(&medium_key(text, len)),
            _ => self.of_long.get(&text[..len]),
        };
        found.copied().unwrap_or(NO_RANK)
    }
}

/// Return the first `len` bytes, up to 7, and their number as one integer.
#[inline]
fn short_key(text: &[u8], len: usize) -> u64 {
    let bytes = u64::from_le_bytes(text.first_chunk().copied().unwrap_or_default());
    bytes & ((1 << (8 * len)) - 1) | (len as u64) << 56
}

/// Return the first `len` bytes, up to 15, and their number as one integer.
#[inline]
fn medium_key(text: &[u8], len: usize) -> u128 {
    let bytes = u128::from_le_bytes(text.first_chunk().copied().unwrap_or_default());
    bytes & ((1 << (8 * len)) - 1) | (len as u128) << 120
}

#[inline]
fn two(text: &[u8]) -> usize {
    usize::from(text[0]) << 8 | usize::from(text[1])
}
