//! Appends the ids of consecutive words up to the first miss.

use super::bucket::{unpack, Bucket, PackedIds, MAX_IDS, NO_ID, SLOTS};
use super::find;
use super::lookup::{get_outside_home, home};
use crate::level::Level;

/// A word to look up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lookup {
    /// The key, not zero.
    pub key: u128,
    /// The hash, which selects the home bucket.
    pub hash: u64,
}

/// Append the ids of words, one after the other, up to the first word that has no slot or no ids in its slot. Returns
/// the number of words before it.
#[inline]
pub fn append_hits(buckets: &[Bucket], lookups: &[Lookup], out: &mut Vec<u32>) -> usize {
    append_hits_at(Level::active(), buckets, lookups, out)
}

/// Run [`append_hits`] with the instructions of one level.
#[inline]
pub fn append_hits_at(level: Level, buckets: &[Bucket], lookups: &[Lookup], out: &mut Vec<u32>) -> usize {
    match level.set() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a level exists only where the processor has its instructions; those with AVX-512 have AVX2.
        crate::level::Set::Avx512 | crate::level::Set::Avx2 => unsafe {
            append_hits_avx2(buckets, lookups, out)
        },
        _ => append_hits_with(find::find, buckets, lookups, out),
    }
}

/// Run [`append_hits_with`] with AVX2.
///
/// # Safety
/// The processor has the features that the attribute names.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
unsafe fn append_hits_avx2(buckets: &[Bucket], lookups: &[Lookup], out: &mut Vec<u32>) -> usize {
    // SAFETY: the caller has these features.
    append_hits_with(|keys, key| unsafe { find::find_avx2(keys, key) }, buckets, lookups, out)
}

/// Append hits; `find` returns the slot of a key.
#[inline(always)]
fn append_hits_with(
    find: impl Fn(&[u128; SLOTS], u128) -> Option<usize>,
    buckets: &[Bucket],
    lookups: &[Lookup],
    out: &mut Vec<u32>,
) -> usize {
    out.reserve(MAX_IDS * lookups.len());
    let (len, start) = (out.len(), out.spare_capacity_mut().as_mut_ptr());
    let (mut words, mut appended) = (0, 0);
    for &Lookup { key, hash } in lookups {
        let bucket = &buckets[home(hash, buckets.len())];
        let packed: &PackedIds = match find(&bucket.keys, key) {
            Some(slot) => &bucket.ids[slot],
            None => match bucket.is_full().then(|| get_outside_home(buckets, key, hash)).flatten() {
                Some(packed) => packed,
                None => break,
            },
        };
        if packed[0] == NO_ID {
            break;
        }
        // SAFETY: the spare capacity has at least `MAX_IDS` items for each lookup, and each word before this one took
        // at most as many.
        appended += unsafe { unpack(packed, start.add(appended).cast()) };
        words += 1;
    }
    // SAFETY: the first `appended` items of the spare capacity have been written.
    unsafe { out.set_len(len + appended) };
    words
}
