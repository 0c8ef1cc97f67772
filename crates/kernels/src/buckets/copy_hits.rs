//! The ids of many words in a row, as long as the table has them.

use super::{beyond, own, put, Bucket, PackedIds, MAX_IDS, NO_ID, WORDS};
use crate::level::Level;

/// A word by what it is known by, and its hash.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lookup {
    /// Its key, not zero.
    pub key: u128,
    /// Names its line.
    pub hash: u64,
}

/// How many words were known, and how many ids were put for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// From the first word on.
    pub words: usize,
    /// In all.
    pub ids: usize,
}

/// Put the ids of words one after the other, up to the first that is not in the table, or not its ids.
///
/// # Panics
/// Panics where there is not room for the most ids of all words.
#[inline]
pub fn copy_hits(lines: &[Bucket], asked: &[Lookup], room: &mut [u32]) -> Copied {
    copy_hits_at(Level::active(), lines, asked, room)
}

/// `copy_hits` by the instructions of one level.
#[inline]
pub fn copy_hits_at(level: Level, lines: &[Bucket], asked: &[Lookup], room: &mut [u32]) -> Copied {
    match level.set() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a level exists only where the processor has its instructions.
        crate::level::Set::Avx512 => unsafe { put_known_avx512(lines, asked, room) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the same.
        crate::level::Set::Avx2 => unsafe { put_known_avx2(lines, asked, room) },
        _ => put_known_by(super::find, lines, asked, room),
    }
}

/// # Safety
/// Needs the features named.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt")]
unsafe fn put_known_avx512(lines: &[Bucket], asked: &[Lookup], room: &mut [u32]) -> Copied {
    // SAFETY: the caller has these features.
    put_known_by(|keys, key| unsafe { super::find::find_avx512(keys, key) }, lines, asked, room)
}

/// # Safety
/// Needs the features named.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
unsafe fn put_known_avx2(lines: &[Bucket], asked: &[Lookup], room: &mut [u32]) -> Copied {
    // SAFETY: the caller has these features.
    put_known_by(|keys, key| unsafe { super::find::find_avx2(keys, key) }, lines, asked, room)
}

#[inline(always)]
fn put_known_by(
    find: impl Fn(&[u128; WORDS], u128) -> Option<usize>,
    lines: &[Bucket],
    asked: &[Lookup],
    room: &mut [u32],
) -> Copied {
    let mut ids = 0;
    for (words, &Lookup { key, hash }) in asked.iter().enumerate() {
        let line = &lines[own(hash, lines.len())];
        let found: &PackedIds = match find(&line.keys, key) {
            Some(way) => &line.ids[way],
            None => match line.is_full().then(|| beyond(lines, key, hash)).flatten() {
                Some(found) => found,
                None => return Copied { words, ids },
            },
        };
        if found[0] == NO_ID {
            return Copied { words, ids };
        }
        ids += put(found, &mut room[ids..ids + MAX_IDS]);
    }
    Copied { words: asked.len(), ids }
}
