//! Two words with their keys and packed ids.

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

    /// Whether every slot is used.
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
pub(super) unsafe fn unpack(packed: &PackedIds, out: *mut u32) -> usize {
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
