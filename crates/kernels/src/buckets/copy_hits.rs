//! Copies the ids of consecutive words up to the first miss.

use super::{get_outside_home, home, unpack, Bucket, PackedIds, MAX_IDS, NO_ID, SLOTS};
use crate::level::Level;

/// A word to look up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lookup {
    /// The key, not zero.
    pub key: u128,
    /// The hash, which selects the home bucket.
    pub hash: u64,
}

/// The number of hits, and of the ids copied for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// The number of words before the first miss.
    pub words: usize,
    /// The number of ids of these words.
    pub ids: usize,
}

/// Copy the ids of words to `out`, one after the other, up to the first word that has no slot or no ids in its slot.
///
/// # Panics
/// Panics if `out` has fewer than `MAX_IDS` items for each word.
#[inline]
pub fn copy_hits(buckets: &[Bucket], lookups: &[Lookup], out: &mut [u32]) -> Copied {
    copy_hits_at(Level::active(), buckets, lookups, out)
}

/// Runs [`copy_hits`] with the instructions of one level.
#[inline]
pub fn copy_hits_at(level: Level, buckets: &[Bucket], lookups: &[Lookup], out: &mut [u32]) -> Copied {
    match level.set() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a level exists only where the processor has its instructions.
        crate::level::Set::Avx512 => unsafe { copy_hits_avx512(buckets, lookups, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the same.
        crate::level::Set::Avx2 => unsafe { copy_hits_avx2(buckets, lookups, out) },
        _ => copy_hits_with(super::find, buckets, lookups, out),
    }
}

/// Runs [`copy_hits_with`] with AVX-512.
///
/// # Safety
/// The processor has the features that the attribute names.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt")]
unsafe fn copy_hits_avx512(buckets: &[Bucket], lookups: &[Lookup], out: &mut [u32]) -> Copied {
    // SAFETY: the caller has these features.
    copy_hits_with(|keys, key| unsafe { super::find::find_avx512(keys, key) }, buckets, lookups, out)
}

/// Runs [`copy_hits_with`] with AVX2.
///
/// # Safety
/// The processor has the features that the attribute names.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
unsafe fn copy_hits_avx2(buckets: &[Bucket], lookups: &[Lookup], out: &mut [u32]) -> Copied {
    // SAFETY: the caller has these features.
    copy_hits_with(|keys, key| unsafe { super::find::find_avx2(keys, key) }, buckets, lookups, out)
}

/// Copies hits; `find` returns the slot of a key.
#[inline(always)]
fn copy_hits_with(
    find: impl Fn(&[u128; SLOTS], u128) -> Option<usize>,
    buckets: &[Bucket],
    lookups: &[Lookup],
    out: &mut [u32],
) -> Copied {
    let mut ids = 0;
    for (words, &Lookup { key, hash }) in lookups.iter().enumerate() {
        let bucket = &buckets[home(hash, buckets.len())];
        let packed: &PackedIds = match find(&bucket.keys, key) {
            Some(slot) => &bucket.ids[slot],
            None => match bucket.is_full().then(|| get_outside_home(buckets, key, hash)).flatten() {
                Some(packed) => packed,
                None => return Copied { words, ids },
            },
        };
        if packed[0] == NO_ID {
            return Copied { words, ids };
        }
        ids += unpack(packed, &mut out[ids..ids + MAX_IDS]);
    }
    Copied { words: lookups.len(), ids }
}
