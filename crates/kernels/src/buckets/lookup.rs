//! Lookup of one word: in its home bucket, then in the others of the group.

use super::bucket::{Bucket, PackedIds};
use super::find::find;
use crate::prefetch::prefetch_read;

/// The number of buckets of a group.
pub const GROUP: usize = 16;

/// Return the index of the home bucket of a hash. `bucket_count` is a power of two.
///
/// In a table of twice the size, the home bucket has the same index or one that is larger by `bucket_count`.
#[inline(always)]
#[must_use]
pub fn home(hash: u64, bucket_count: usize) -> usize {
    // The top bits of a hash are the best distributed.
    hash.swap_bytes() as usize & (bucket_count - 1)
}

/// Return the indices of the buckets of a hash: its home bucket, then the others of the group, in the order of probing.
#[inline]
pub fn group(hash: u64, bucket_count: usize) -> impl Iterator<Item = usize> {
    let home = home(hash, bucket_count);
    (0..GROUP.min(bucket_count)).map(move |at| home ^ at)
}

/// Prefetch the home bucket of a hash.
#[inline(always)]
pub fn prefetch(buckets: &[Bucket], hash: u64) {
    prefetch_read(&buckets[home(hash, buckets.len())]);
}

/// Return the packed ids of the word with this key and hash.
#[inline]
#[must_use]
pub fn get(buckets: &[Bucket], key: u128, hash: u64) -> Option<&PackedIds> {
    let bucket = &buckets[home(hash, buckets.len())];
    match find(&bucket.keys, key) {
        Some(slot) => Some(&bucket.ids[slot]),
        None if bucket.is_full() => get_outside_home(buckets, key, hash),
        None => None,
    }
}

/// Return the packed ids of a word from the other buckets of the group, up to the first that is not full.
#[cold]
pub(super) fn get_outside_home(buckets: &[Bucket], key: u128, hash: u64) -> Option<&PackedIds> {
    for at in group(hash, buckets.len()).skip(1) {
        let bucket = &buckets[at];
        if let Some(slot) = find(&bucket.keys, key) {
            return Some(&bucket.ids[slot]);
        }
        if !bucket.is_full() {
            break;
        }
    }
    None
}
