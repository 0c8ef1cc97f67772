//! Buckets of the hash table for short words: two words on one cache line, keys and ids.
//!
//! The hash of a word selects its home bucket. If that is full, the word is in another bucket of the same group.

use crate::level::prefetch_read;
use crate::level::Level;

/// The number of slots of a bucket, one for each word.
pub const SLOTS: usize = 2;
/// The largest number of ids of a word.
pub const MAX_IDS: usize = 4;

/// One to four ids. The two top bits of the first id are their number minus one. If the first is `NO_ID`, there are none.
pub type PackedIds = [u32; MAX_IDS];

/// The first packed id of a word whose ids are not in its slot.
pub const NO_ID: u32 = u32::MAX;

/// The position of the number of ids in the first packed id, in bits.
const COUNT_SHIFT: u32 = 30;

/// The bound of the first id: its two top bits hold the number of ids, and it is not `NO_ID`. The ids of a vocabulary are
/// below 2^28.
const MAX_FIRST_ID: u32 = (1 << COUNT_SHIFT) - 1;

/// Up to two words, which fill the slots in order. The key of a free slot is zero.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Bucket {
    /// The key of each word.
    pub keys: [u128; SLOTS],
    /// The ids of each word.
    pub ids: [PackedIds; SLOTS],
}

impl Bucket {
    /// A bucket without words.
    pub const EMPTY: Self = Self { keys: [0; SLOTS], ids: [[0; MAX_IDS]; SLOTS] };

    /// Return whether every slot is used.
    #[inline(always)]
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.keys[SLOTS - 1] != 0
    }
}

/// Return the number of packed ids from the first of them.
#[inline(always)]
#[must_use]
pub fn count(first: u32) -> usize {
    (first >> COUNT_SHIFT) as usize + 1
}

/// Return the first id from the first packed id.
#[inline(always)]
#[must_use]
pub fn unpacked_first(first: u32) -> u32 {
    first & ((1 << COUNT_SHIFT) - 1)
}

/// Pack 1 to 4 ids, the first of them below 2^30 - 1: a larger one would become another id. Return `None` for any other number of ids.
#[inline]
#[must_use]
pub fn pack(ids: &[u32]) -> Option<PackedIds> {
    if ids.is_empty() || ids.len() > MAX_IDS {
        return None;
    }
    debug_assert!(ids[0] < MAX_FIRST_ID, "the two top bits of the first id hold the number of ids");
    let mut packed = [0; MAX_IDS];
    packed[..ids.len()].copy_from_slice(ids);
    packed[0] |= (ids.len() as u32 - 1) << COUNT_SHIFT;
    Some(packed)
}

/// Write packed ids to `out`, with unused items after them. Return their number.
///
/// # Safety
/// `out` has room for [`MAX_IDS`] items.
#[inline(always)]
unsafe fn unpack(packed: &PackedIds, out: *mut u32) -> usize {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: SSE2 is part of x86-64; the load reads a reference, and the caller has room for the store.
    unsafe {
        use std::arch::x86_64::*;
        let mask = _mm_set_epi32(-1, -1, -1, unpacked_first(u32::MAX) as i32);
        let ids = _mm_loadu_si128(packed.as_ptr().cast());
        _mm_storeu_si128(out.cast(), _mm_and_si128(ids, mask));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    // SAFETY: the caller has room for the ids.
    unsafe {
        let &[first, second, third, fourth] = packed;
        let ids = [unpacked_first(first), second, third, fourth];
        out.cast::<PackedIds>().write_unaligned(ids);
    }
    count(packed[0])
}

/// A word to look up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lookup {
    /// The key, not zero.
    pub key: u128,
    /// The hash, which selects the home bucket.
    pub hash: u64,
}

/// Append the ids of words, one after the other, up to the first word that has no slot or no ids in its slot. Return
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
        _ => append_hits_with(find, buckets, lookups, out),
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
    append_hits_with(|keys, key| unsafe { find_avx2(keys, key) }, buckets, lookups, out)
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
fn get_outside_home(buckets: &[Bucket], key: u128, hash: u64) -> Option<&PackedIds> {
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

/// Return the slot of a key. The key is not zero, and no two slots have the same key.
#[inline(always)]
fn find(keys: &[u128; SLOTS], key: u128) -> Option<usize> {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    return find_sse2(keys, key);
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    find_scalar(keys, key)
}

/// Find by the scalar definition.
#[cfg(any(test, miri, not(target_arch = "x86_64")))]
#[inline(always)]
fn find_scalar(keys: &[u128; SLOTS], key: u128) -> Option<usize> {
    keys.iter().position(|&found| found == key)
}

/// `find_scalar` with SSE2: compares the quarters of the keys.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn find_sse2(keys: &[u128; SLOTS], key: u128) -> Option<usize> {
    use std::arch::x86_64::*;
    // SAFETY: SSE2 is part of x86-64, and each load reads the sixteen bytes of a reference.
    let [is_first, is_second] = unsafe {
        let wanted = _mm_loadu_si128(std::ptr::from_ref(&key).cast());
        keys.each_ref().map(|key| {
            let found = _mm_loadu_si128(std::ptr::from_ref(key).cast());
            _mm_movemask_epi8(_mm_cmpeq_epi32(found, wanted)) == 0xFFFF
        })
    };
    (is_first || is_second).then_some(usize::from(is_second))
}

/// `find_scalar` with AVX2: compares the halves of the keys.
///
/// # Safety
/// The processor has the features that the attribute names.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
#[inline]
unsafe fn find_avx2(keys: &[u128; SLOTS], key: u128) -> Option<usize> {
    use std::arch::x86_64::*;
    // SAFETY: each load reads sixteen bytes or more, all of them within a reference.
    let halves = unsafe {
        let wanted = _mm256_broadcastsi128_si256(_mm_loadu_si128(std::ptr::from_ref(&key).cast()));
        let both = _mm256_loadu_si256(keys.as_ptr().cast());
        _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(both, wanted))) as u32
    };
    // Two bits for each key.
    let found = halves & halves >> 1 & 0b101;
    (found != 0).then_some((found >> 2) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;
    use crate::level::Level;

    fn random(i: u32) -> u64 {
        (u64::from(i) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(i % 61) ^ u64::from(i)
    }

    /// Return keys, many of which differ in one half or one bit.
    fn some_keys(count: u32) -> Vec<u128> {
        let halves = |i: u32| (u128::from(random(i)), u128::from(random(i / 2)) << 64);
        (0..count)
            .map(halves)
            .map(|(low, high)| if low % 3 == 0 { high | 1 << (low % 64) } else { low | high })
            .collect()
    }

    #[test]
    fn every_instruction_set_finds_the_slot_of_a_key() {
        let keys = some_keys(cases(4000, 100) as u32);
        for (at, slots) in keys.chunks_exact(SLOTS).enumerate() {
            let mut slots: [u128; SLOTS] = slots.try_into().unwrap();
            if slots[0] == slots[1] {
                continue;
            }
            slots[at % (SLOTS + 1)..].fill(0);
            for &key in keys[at * SLOTS..].iter().take(6).chain(&keys[..20]) {
                let expected = find_scalar(&slots, key);
                assert_eq!(find(&slots, key), expected);
                #[cfg(target_arch = "x86_64")]
                for level in Level::supported() {
                    let found = match level.name() {
                        // SAFETY: a level exists only where the processor has its instructions.
                        "avx2" => unsafe { find_avx2(&slots, key) },
                        _ => expected,
                    };
                    assert_eq!(found, expected, "{}", level.name());
                }
            }
        }
    }

    /// Return a table with the words that fit; every fiftieth word has no ids in its slot.
    fn some_table(bucket_count: usize, words: &[Lookup]) -> Vec<Bucket> {
        let mut table = vec![Bucket::EMPTY; bucket_count];
        for (number, word) in (0..).zip(words) {
            let Some(at) = group(word.hash, bucket_count).find(|&at| !table[at].is_full()) else {
                continue;
            };
            let bucket = &mut table[at];
            let slot = bucket.keys.iter().position(|&key| key == 0).unwrap();
            bucket.keys[slot] = word.key;
            let ids: Vec<u32> = (0..=number % 4).map(|id| number + id).collect();
            bucket.ids[slot] = if number % 50 == 49 { [NO_ID; MAX_IDS] } else { pack(&ids).unwrap() };
        }
        table
    }

    fn append_hits_one_by_one(table: &[Bucket], lookups: &[Lookup]) -> (usize, Vec<u32>) {
        let mut ids = Vec::new();
        for (words, lookup) in lookups.iter().enumerate() {
            match get(table, lookup.key, lookup.hash) {
                Some(packed) if packed[0] != NO_ID => {
                    ids.push(unpacked_first(packed[0]));
                    ids.extend_from_slice(&packed[1..count(packed[0])]);
                }
                _ => return (words, ids),
            }
        }
        (lookups.len(), ids)
    }

    #[test]
    fn every_level_appends_the_same_hits() {
        let words: Vec<Lookup> = (0..)
            .zip(some_keys(cases(2000, 200) as u32))
            .map(|(i, key)| Lookup { key, hash: random(i / 3) })
            .collect();
        for (bucket_count, word_count) in [(1, 3), (2, 8), (64, 250), (256, 700), (1024, 1500)]
            .map(|(bucket_count, word_count)| (bucket_count, word_count.min(words.len())))
        {
            let table = some_table(bucket_count, &words[..word_count]);
            for level in Level::supported() {
                let mut from = 0;
                while from < words.len() {
                    let lookups = &words[from..words.len().min(from + 100)];
                    let mut out = vec![7];
                    let count = append_hits_at(level, &table, lookups, &mut out);
                    let (expected, ids) = append_hits_one_by_one(&table, lookups);
                    assert_eq!((count, &out[1..]), (expected, ids.as_slice()), "{}", level.name());
                    from += count + 1;
                }
            }
        }
    }

    #[test]
    fn a_table_of_twice_the_size_keeps_a_home_bucket_or_moves_it_by_the_old_size() {
        for i in 0..1000 {
            for bucket_count in [1, 2, 64, 4096] {
                assert_eq!(home(random(i), 2 * bucket_count) % bucket_count, home(random(i), bucket_count));
            }
        }
    }
}
