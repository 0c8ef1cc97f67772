//! Large pages for tables with random access.

use std::mem::MaybeUninit;

/// The size of a large page, in bytes.
const LEAST_BYTES: usize = 2 << 20;
#[cfg(all(target_os = "linux", not(miri)))]
const PAGE_BYTES: usize = 4096;

/// Return an empty vector with capacity, in large pages if the system has them.
///
/// The system assigns memory on the first write. If the reservation fails, the vector has no capacity.
#[must_use]
pub fn with_capacity<T>(capacity: usize) -> Vec<T> {
    let mut vector = Vec::new();
    if vector.try_reserve_exact(capacity).is_ok() {
        prefer_large_pages(vector.spare_capacity_mut());
    }
    vector
}

/// Advise the system to use large pages for memory that was not written yet; affects speed only.
fn prefer_large_pages<T>(memory: &mut [MaybeUninit<T>]) {
    let bytes = size_of_val(memory);
    if bytes < LEAST_BYTES {
        return;
    }
    advise(memory);
}

#[cfg(all(target_os = "linux", not(miri)))]
fn advise<T>(memory: &mut [MaybeUninit<T>]) {
    let (start, bytes) = (memory.as_mut_ptr().cast::<u8>(), size_of_val(memory));
    let skipped = start.align_offset(PAGE_BYTES);
    let whole = bytes.saturating_sub(skipped) / PAGE_BYTES * PAGE_BYTES;
    // SAFETY: the range is within `memory`, and the advice neither reads nor writes it. A refusal is as good as no
    // advice.
    unsafe {
        libc::madvise(start.wrapping_add(skipped).cast(), whole, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn advise<T>(_: &mut [MaybeUninit<T>]) {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    #[test]
    fn vectors_are_empty_with_the_requested_capacity() {
        for len in [0, 1, 1000, cases(LEAST_BYTES / 4, 0), cases(LEAST_BYTES + 12_345, 0)] {
            let mut vector = with_capacity::<u32>(len);
            assert!(vector.is_empty() && vector.capacity() >= len);
            vector.extend(0..len as u32);
            assert!(vector.into_iter().eq(0..len as u32));
        }
    }

    #[test]
    fn requests_an_impossible_size_once() {
        assert_eq!(with_capacity::<u64>(usize::MAX / 8).capacity(), 0);
    }
}
