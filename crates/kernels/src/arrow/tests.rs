//! Columns made by hand as a producer would, with a release that counts.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::raw::{RawArray, RawSchema};
use super::*;

static RELEASED: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn release_array(array: *mut RawArray) {
    RELEASED.fetch_add(1, Ordering::SeqCst);
    // SAFETY: called with the array that is to be marked.
    unsafe { RawArray::mark_released(array) };
}

fn column(
    format: &'static CStr,
    length: i64,
    offset: i64,
    buffers: &mut [*const c_void],
) -> Result<Column, Unreadable> {
    let mut schema = RawSchema::made(format);
    let mut array = RawArray::made(length, offset, buffers, release_array);
    Column::of_array(NonNull::from(&mut schema).cast(), NonNull::from(&mut array).cast())
}

#[test]
fn values_nulls_and_offsets() {
    let (bits, offsets, data) = ([0b1101u8], [0i32, 1, 1, 3, 6], *b"abbccc");
    let mut buffers = [bits.as_ptr().cast(), offsets.as_ptr().cast(), data.as_ptr().cast()];
    let before = RELEASED.load(Ordering::SeqCst);
    let whole = column(c"u", 4, 0, &mut buffers).unwrap();
    assert_eq!(whole.iter().collect::<Vec<_>>(), [Some(&b"a"[..]), None, Some(b"bb"), Some(b"ccc")]);
    assert_eq!((whole.get(3), whole.get(1), whole.get(4)), (Some(&b"ccc"[..]), None, None));
    drop(whole);
    assert!(RELEASED.load(Ordering::SeqCst) > before);
    let part = column(c"u", 2, 2, &mut buffers).unwrap();
    assert_eq!(part.iter().collect::<Vec<_>>(), [Some(&b"bb"[..]), Some(b"ccc")]);
}

#[test]
fn views_are_inline_or_elsewhere() {
    let data = *b"a value of twenty bytes";
    let inline = [3u32, u32::from_le_bytes(*b"abc\0"), 0, 0];
    let views = [inline, [20, u32::from_le_bytes(*b"alue"), 0, 3], [20, 0, 0, 4]];
    let sizes = [data.len() as i64];
    let mut buffers =
        [std::ptr::null(), views.as_ptr().cast(), data.as_ptr().cast(), sizes.as_ptr().cast::<c_void>()];
    let two = column(c"vu", 2, 0, &mut buffers).unwrap();
    assert_eq!(two.iter().collect::<Vec<_>>(), [Some(&b"abc"[..]), Some(&data[3..23])]);
    assert!(column(c"vu", 3, 0, &mut buffers).is_err(), "the third reaches beyond its buffer");
}

#[test]
fn what_is_no_column_of_strings_is_refused() {
    let offsets = [0i64, 5, 3];
    let mut buffers = [std::ptr::null(), offsets.as_ptr().cast(), c"hello".as_ptr().cast::<c_void>()];
    assert!(column(c"U", 1, 0, &mut buffers).is_ok());
    assert!(column(c"U", 2, 0, &mut buffers).is_err(), "offsets must rise");
    assert!(column(c"U", -1, 0, &mut buffers).is_err());
    assert!(column(c"U", 1, 0, &mut buffers[..2]).is_err());
    assert_eq!(
        column(c"l", 1, 0, &mut buffers).unwrap_err(),
        Unreadable("an Arrow column of format \"l\"".into())
    );
}
