//! Immutable arrays, from vectors or from a file.
//!
//! Tables are built as vectors and stored as arrays, so the same code reads a table that was built and a table
//! from a compiled cache. Clones share the memory.

use std::any::Any;
use std::fmt;
use std::io::{self, Read};
use std::ops::{Deref, Range};
use std::ptr::NonNull;
use std::str::Utf8Error;
use std::sync::Arc;

use crate::huge_pages;

mod sealed {
    /// Any bytes are a value, and every byte of a value is one of its bytes.
    ///
    /// # Safety
    /// There is no padding, no bit pattern that is not a value, no pointer and nothing to drop.
    pub unsafe trait Plain: Copy + Send + Sync + 'static {}
    // SAFETY: all are numbers, or arrays of them, which have no padding.
    unsafe impl Plain for u8 {}
    // SAFETY: as above.
    unsafe impl Plain for u32 {}
    // SAFETY: as above.
    unsafe impl Plain for u64 {}
    // SAFETY: as above.
    unsafe impl Plain for f32 {}
    // SAFETY: as above.
    unsafe impl Plain for f64 {}
    // SAFETY: as above.
    unsafe impl<const N: usize> Plain for [u32; N] {}
}

/// Numbers whose bytes a file can store unchanged.
pub trait Plain: sealed::Plain {}

impl<T: sealed::Plain> Plain for T {}

/// Return the bytes of some numbers.
fn bytes_of(numbers: &mut [u64]) -> &mut [u8] {
    let bytes = size_of_val(numbers);
    // SAFETY: numbers have no padding, and any bytes are some.
    unsafe { std::slice::from_raw_parts_mut(numbers.as_mut_ptr().cast(), bytes) }
}

/// An immutable array.
pub struct Array<T> {
    /// The first of `len` values that `owner` keeps alive and that never change.
    start: NonNull<T>,
    len: usize,
    owner: Arc<dyn Any + Send + Sync>,
}

// SAFETY: the values are only ever read and outlive the array, since it shares in their owner.
unsafe impl<T: Plain> Send for Array<T> {}
// SAFETY: as above.
unsafe impl<T: Plain> Sync for Array<T> {}

impl<T: Plain> From<Vec<T>> for Array<T> {
    fn from(values: Vec<T>) -> Self {
        let owner = Arc::new(values);
        // The values stand on the heap and stay where they are for as long as the vector, which nothing
        // can reach any more, is not dropped.
        Self { start: NonNull::from(owner.as_slice()).cast(), len: owner.len(), owner }
    }
}

impl<T: Plain> Deref for Array<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: by the invariant of `start`; every constructor begins with a slice of at least this length.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Plain> Array<T> {
    /// Return the same memory as bytes, in the order of this machine.
    #[must_use]
    pub fn bytes(&self) -> Array<u8> {
        // `Plain` values have no padding, so all of their bytes may be read.
        let len = std::mem::size_of_val(&**self);
        Array { start: self.start.cast(), len, owner: Arc::clone(&self.owner) }
    }
}

impl Array<u8> {
    /// Read up to `len` bytes into memory of this process.
    ///
    /// The memory is aligned for every `Plain` type. Fails if the allocation or the read fails.
    pub fn read(source: &mut impl Read, len: usize) -> io::Result<Self> {
        let words = len.div_ceil(size_of::<u64>());
        let mut memory: Vec<u64> = huge_pages::with_capacity(words);
        if memory.capacity() < words {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        memory.resize(words, 0);
        let mut filled = 0;
        while filled < len {
            match source.read(&mut bytes_of(&mut memory)[filled..len]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let owner = Arc::new(memory);
        let start = NonNull::from(owner.as_slice()).cast();
        Ok(Self { start, len: filled, owner })
    }

    /// Return the values in a range of the bytes; `None` if the range is out of bounds or not aligned to values.
    #[must_use]
    pub fn view<T: Plain>(&self, range: Range<usize>) -> Option<Array<T>> {
        let bytes = self.get(range)?;
        let start = NonNull::from(bytes).cast::<T>();
        if !start.is_aligned() || !bytes.len().is_multiple_of(std::mem::size_of::<T>()) {
            return None;
        }
        // Any bytes are values of a `Plain` type; the owner is the same, so they live as long.
        let len = bytes.len() / std::mem::size_of::<T>();
        Some(Array { start, len, owner: Arc::clone(&self.owner) })
    }
}

impl<T> Clone for Array<T> {
    fn clone(&self) -> Self {
        Self { start: self.start, len: self.len, owner: Arc::clone(&self.owner) }
    }
}

impl<T: Plain> Default for Array<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T> fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Array({})", self.len)
    }
}

/// An array of bytes that are UTF-8.
#[derive(Clone, Debug, Default)]
pub struct Text(Array<u8>);

impl Text {
    /// Check that bytes are UTF-8.
    pub fn new(bytes: Array<u8>) -> Result<Self, Utf8Error> {
        std::str::from_utf8(&bytes)?;
        Ok(Self(bytes))
    }

    /// Return the bytes, which share the memory.
    #[must_use]
    pub fn bytes(&self) -> &Array<u8> {
        &self.0
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(text.into_bytes().into())
    }
}

impl Deref for Text {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        // SAFETY: checked when it was made, and arrays never change.
        unsafe { std::str::from_utf8_unchecked(&self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_outlives_the_original() {
        let array = Array::from(vec![[1u32, 2], [3, 4]]);
        let copy = array.clone();
        drop(array);
        assert_eq!(*copy, [[1, 2], [3, 4]]);
        assert!(Array::<f64>::default().is_empty());
    }

    #[test]
    fn views_read_back_what_was_written() {
        let numbers = Array::from(vec![7u64, u64::MAX, 1 << 40]);
        let bytes = numbers.bytes();
        assert_eq!(*bytes.view::<u64>(8..24).unwrap(), numbers[1..]);
        assert!(bytes.view::<u64>(4..12).is_none());
        assert!(bytes.view::<u32>(0..6).is_none());
        assert!(bytes.view::<u8>(20..25).is_none());
        #[expect(clippy::reversed_empty_ranges, reason = "what a damaged file may ask for")]
        let reversed = bytes.view::<u8>(5..3);
        assert!(reversed.is_none());
    }

    #[test]
    fn bytes_are_read_to_their_end_or_to_the_length() {
        for (content, len) in [(&[][..], 0), (&[], 9), (&[1, 0, 0, 0, 2, 0, 0, 0], 8), (&[7; 300], 300)] {
            let bytes = Array::read(&mut &content[..], len).unwrap();
            assert_eq!(*bytes, *content);
            assert!(bytes.as_ptr().addr().is_multiple_of(8));
        }
        assert_eq!(*Array::read(&mut &[7; 300][..], 65).unwrap(), [7; 65]);
        assert!(Array::read(&mut &[7][..], usize::MAX).is_err(), "more than any system has");
        let numbers =
            Array::read(&mut &[1, 0, 0, 0, 2, 0, 0, 0][..], 8).unwrap().view::<u32>(0..8).unwrap();
        assert_eq!(numbers.iter().map(|n| u32::from_le(*n)).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn text_is_validated() {
        assert!(Text::new(vec![0xFF].into()).is_err());
        assert_eq!(&*Text::from("žába".to_owned()), "žába");
    }
}
