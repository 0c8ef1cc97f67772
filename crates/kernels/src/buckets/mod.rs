//! Lines of a table of words: four keys on one cache line, what is known of each on the next.
//!
//! A word is in the line that its hash names or, where that is full, in another of its group.

mod copy_hits;
mod find;
#[cfg(test)]
mod tests;

use crate::prefetch::prefetch_read;
use find::find;

pub use copy_hits::{copy_hits, copy_hits_at, Copied, Lookup};

/// How many words a line has room for.
pub const WORDS: usize = 4;
/// How many lines a word may be in, those of one group.
pub const GROUP: usize = 8;
/// The most ids of a word.
pub const MAX_IDS: usize = 4;

/// Up to four ids; the two top bits of the first hold their number less one. None where the first is `NO_ID`.
pub type PackedIds = [u32; MAX_IDS];

/// In place of the first id of a word whose ids are not in its line.
pub const NO_ID: u32 = u32::MAX;

/// Above the first of packed ids stands their number.
const COUNT_SHIFT: u32 = 30;

/// Up to four words, from the first on; the key of what is free is zero.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(128))]
pub struct Bucket {
    /// What each word is known by.
    pub keys: [u128; WORDS],
    /// The ids of each.
    pub ids: [PackedIds; WORDS],
}

impl Bucket {
    /// A line without words.
    pub const EMPTY: Self = Self { keys: [0; WORDS], ids: [[0; MAX_IDS]; WORDS] };

    /// Whether it has no room left.
    #[inline(always)]
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.keys[WORDS - 1] != 0
    }
}

/// The line, of so many, that a hash names; twice as many lines have it there or as far behind as they were.
#[inline(always)]
#[must_use]
pub fn own(hash: u64, lines: usize) -> usize {
    // The top bits of a hash are the best.
    hash.swap_bytes() as usize & (lines - 1)
}

/// Where a word with this hash may be, in the order in which its places fill up.
#[inline]
pub fn group(hash: u64, lines: usize) -> impl Iterator<Item = usize> {
    let own = own(hash, lines);
    (0..GROUP.min(lines)).map(move |at| own ^ at)
}

/// Say that a word with this hash will be asked for soon.
#[inline(always)]
pub fn prefetch(lines: &[Bucket], hash: u64) {
    let line = &lines[own(hash, lines.len())];
    prefetch_read(&line.keys);
    prefetch_read(&line.ids);
}

/// What is known of a word with this key and hash.
#[inline]
#[must_use]
pub fn get(lines: &[Bucket], key: u128, hash: u64) -> Option<&PackedIds> {
    let line = &lines[own(hash, lines.len())];
    match find(&line.keys, key) {
        Some(way) => Some(&line.ids[way]),
        None if line.is_full() => beyond(lines, key, hash),
        None => None,
    }
}

/// Look where words go whose own line is full.
#[cold]
fn beyond(lines: &[Bucket], key: u128, hash: u64) -> Option<&PackedIds> {
    for at in group(hash, lines.len()).skip(1) {
        let line = &lines[at];
        if let Some(way) = find(&line.keys, key) {
            return Some(&line.ids[way]);
        }
        if !line.is_full() {
            break;
        }
    }
    None
}

/// How many packed ids are, by the first.
#[inline(always)]
#[must_use]
pub fn count(first: u32) -> usize {
    (first >> COUNT_SHIFT) as usize + 1
}

/// The first of packed ids.
#[inline(always)]
#[must_use]
pub fn unpacked_first(first: u32) -> u32 {
    first & ((1 << COUNT_SHIFT) - 1)
}

/// Pack 1 to 4 ids, each below 2^28.
#[inline]
#[must_use]
pub fn pack(ids: &[u32]) -> Option<PackedIds> {
    if ids.is_empty() || ids.len() > MAX_IDS {
        return None;
    }
    let mut packed = [0; MAX_IDS];
    packed[..ids.len()].copy_from_slice(ids);
    packed[0] |= (ids.len() as u32 - 1) << COUNT_SHIFT;
    Some(packed)
}

/// Put packed ids where there is room for the most; returns how many they are.
///
/// Their number is read where they were packed: the next word's place would wait for what is written here.
#[inline(always)]
pub fn put(packed: &PackedIds, room: &mut [u32]) -> usize {
    let first = packed[0];
    room.copy_from_slice(packed);
    room[0] = unpacked_first(first);
    count(first)
}
