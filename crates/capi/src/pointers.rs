//! Pointers of the caller become references, slices and values. All unsafe code of the crate is here.
//!
//! Rust code cannot make a value of these types: fields are private and there is no constructor, so each comes from a caller in C, under
//! the rules of `piecework.h`:
//!
//! 1. A pointer to an object of this library is NULL, or a function of this library returned it and nobody has freed it.
//! 2. A pointer to input is NULL, or readable for the length beside it, and nobody writes there during the call.
//! 3. A pointer to output is NULL, or writable for the capacity beside it, and nobody else uses that memory during the call.
//! 4. A pointer to a flag is NULL, or readable during the call; whoever writes there meanwhile writes the whole number at once.
//!
//! What a program can check is checked: NULL, alignment, and lengths that no memory has.

#![allow(unsafe_code)]

use std::mem::{MaybeUninit, align_of, size_of};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::{Error, caught};

/// A pointer to an object or to the first of several values that the function reads.
#[repr(transparent)]
pub(crate) struct In<T>(*const T);

impl<T> In<T> {
    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Return the value, or an error for NULL.
    pub(crate) fn get(&self, name: &str) -> Result<&T, Error> {
        self.get_or_null().ok_or_else(|| Error::argument(name, "NULL"))
    }

    /// Return the value; `None` for NULL.
    pub(crate) fn get_or_null(&self) -> Option<&T> {
        // SAFETY: the pointer is NULL or points to a value (rules 1 and 2) for the call, which `self` does not outlive.
        unsafe { self.0.as_ref() }
    }

    /// Return so many values; NULL is an error unless there are none.
    pub(crate) fn slice(&self, len: usize, name: &str) -> Result<&[T], Error> {
        if len == 0 {
            return Ok(&[]);
        }
        check(self.0, len, name)?;
        // SAFETY: `check` has excluded NULL, alignment and size; the memory holds `len` values during the call (rule 2).
        Ok(unsafe { std::slice::from_raw_parts(self.0, len) })
    }
}

/// A pointer to a number that another thread or a signal handler changes during the call.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Flag(*const AtomicU32);

impl Flag {
    /// Return the flag; `None` for NULL.
    pub(crate) fn get(self, name: &str) -> Result<Option<Self>, Error> {
        if self.0.is_null() { Ok(None) } else { check(self.0, 1, name).map(|()| Some(self)) }
    }

    /// Return whether the number is not 0. No copy is used after the call.
    pub(crate) fn is_set(self) -> bool {
        // SAFETY: `get` has excluded NULL and alignment; the number is readable during the call (rule 4).
        unsafe { &*self.0 }.load(Ordering::Relaxed) != 0
    }
}

/// A structure that begins with its size in bytes, so that a later version can append fields.
#[repr(C)]
pub(crate) struct Versioned<F> {
    size: usize,
    fields: F,
}

/// The most bytes of a structure of a later version.
const MAX_SIZE: usize = 4096;

impl<F> In<Versioned<F>> {
    /// Return the fields; `None` for NULL.
    ///
    /// A structure of an earlier version is shorter: its other fields are 0, which is the default of every field. One of a later version is
    /// longer, and fails unless all further bytes are 0.
    pub(crate) fn fields(&self, name: &str) -> Result<Option<F>, Error> {
        if self.0.is_null() {
            return Ok(None);
        }
        check(self.0, 1, name)?;
        // SAFETY: every structure begins with its size (rule 2), which may be all that is readable.
        let size = unsafe { (&raw const (*self.0).size).read() };
        let known = size_of::<Versioned<F>>();
        let is_sizeof = size % align_of::<Versioned<F>>() == 0;
        if !is_sizeof || !(size_of::<usize>()..=MAX_SIZE).contains(&size) {
            let found = format!("a size of {size} bytes, expected sizeof: {known} in this version");
            return Err(Error::argument(&format!("{name}.size"), &found));
        }
        // SAFETY: the structure is readable for its size (rule 2).
        let bytes = unsafe { std::slice::from_raw_parts(self.0.cast::<u8>(), size) };
        let (own, later) = bytes.split_at(size.min(known));
        if later.iter().any(|&byte| byte != 0) {
            return Err(Error::argument(name, "a field of a later version of the library"));
        }
        let mut read = MaybeUninit::<Versioned<F>>::zeroed();
        // SAFETY: `read` has room for `own`; the fields are integers, pointers and structures of these, for which all bytes are valid.
        let read = unsafe {
            read.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(own.as_ptr(), own.len());
            read.assume_init()
        };
        Ok(Some(read.fields))
    }
}

/// A pointer to an object that the function changes.
#[repr(transparent)]
pub(crate) struct InOut<T>(*mut T);

impl<T> InOut<T> {
    /// Return the object, or an error for NULL.
    pub(crate) fn get(&mut self, name: &str) -> Result<&mut T, Error> {
        // SAFETY: the pointer is NULL or points to an object (rule 1), which no other thread uses during the call (rule 3).
        unsafe { self.0.as_mut() }.ok_or_else(|| Error::argument(name, "NULL"))
    }
}

/// A pointer to memory that the function writes; it need not be initialized.
#[repr(transparent)]
pub(crate) struct Out<T>(*mut T);

impl<T: Copy> Out<T> {
    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Write a value, unless the pointer is NULL.
    pub(crate) fn set(&self, value: T) {
        if !self.0.is_null() {
            // SAFETY: the pointer is writable for one value (rule 3).
            unsafe { self.0.write(value) };
        }
    }

    /// Write all values if they fit `capacity`, otherwise none. Return their number.
    pub(crate) fn fill(&self, capacity: usize, values: &[T], name: &str) -> Result<usize, Error> {
        if values.is_empty() || values.len() > capacity {
            return Ok(values.len());
        }
        check(self.0, values.len(), name)?;
        // SAFETY: the memory is writable for `capacity` values (rule 3), so it does not overlap `values`, which belong to the library.
        unsafe { self.0.copy_from_nonoverlapping(values.as_ptr(), values.len()) };
        Ok(values.len())
    }
}

/// An object that the caller gives back.
#[repr(transparent)]
pub(crate) struct Owned<T>(*mut T);

impl<T> Owned<T> {
    /// Free the object; NULL is ignored.
    pub(crate) fn free(self) {
        if !self.0.is_null() {
            // SAFETY: `Box::into_raw` made the pointer, and nobody has freed it (rule 1).
            drop(unsafe { Box::from_raw(self.0) });
        }
    }
}

/// Reject a pointer that cannot be the first of `len` values.
fn check<T>(pointer: *const T, len: usize, name: &str) -> Result<(), Error> {
    let found = if pointer.is_null() {
        "NULL"
    } else if !pointer.is_aligned() {
        "a pointer that is not aligned"
    } else if len.checked_mul(size_of::<T>()).is_none_or(|bytes| bytes > isize::MAX as usize) {
        "a length that no memory has"
    } else {
        return Ok(());
    };
    Err(Error::argument(name, found))
}

/// A string that is not followed by NUL: `piecework_str`.
#[repr(C)]
pub(crate) struct Str {
    data: In<u8>,
    len: usize,
}

impl Str {
    pub(crate) fn is_null(&self) -> bool {
        self.data.is_null()
    }

    pub(crate) fn bytes(&self, name: &str) -> Result<&[u8], Error> {
        self.data.slice(self.len, name)
    }
}

/// Return the result of `work`; if it fails or panics, write the error and return `failed`.
pub(crate) fn reported<R>(
    error: &Out<*mut Error>,
    failed: R,
    work: impl FnOnce() -> Result<R, Error>,
) -> R {
    let found = match caught(work).unwrap_or_else(Err) {
        Ok(value) => {
            error.set(std::ptr::null_mut());
            return value;
        }
        Err(found) => found,
    };
    if !error.is_null() {
        error.set(Box::into_raw(Box::new(found)));
    }
    failed
}

/// Export functions with C names: each calls the function of this crate that follows `=`.
///
/// A function that can fail (`or` a value) gets a last parameter `error`. No panic crosses: it becomes an error, or the value after `or`
/// or `else`.
macro_rules! export {
    ($($name:ident($($argument:ident: $type:ty),*) -> $returned:ty, or $failed:expr => $function:path;)*) => {$(
        #[allow(unsafe_code)]
        #[unsafe(no_mangle)]
        extern "C" fn $name($($argument: $type,)* error: $crate::pointers::Out<*mut $crate::error::Error>) -> $returned {
            $crate::pointers::reported(&error, $failed, move || $function($($argument),*))
        }
    )*};
    ($($name:ident($($argument:ident: $type:ty),*) -> $returned:ty, else $default:expr => $function:path;)*) => {$(
        #[allow(unsafe_code)]
        #[unsafe(no_mangle)]
        extern "C" fn $name($($argument: $type),*) -> $returned {
            $crate::error::caught(move || $function($($argument),*)).unwrap_or($default)
        }
    )*};
}
pub(crate) use export;
