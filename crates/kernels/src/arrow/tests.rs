//! Columns made by hand as a producer would, with a release that counts.

use std::ffi::c_void;
use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

static RELEASED: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    RELEASED.fetch_add(1, Ordering::SeqCst);
    // SAFETY: called with the array that is to be marked.
    unsafe { ArrowArray::mark_released(array) };
}

/// Import an array that lends `buffers`.
///
/// # Safety
/// The buffers must be as long as length, offset and offsets say, and outlive the column.
unsafe fn column(
    format: &'static CStr,
    length: i64,
    offset: i64,
    buffers: &mut [*const c_void],
) -> Result<Column, ColumnError> {
    let mut schema = ArrowSchema::made(format);
    // SAFETY: both are valid and alive; their buffers are by the contract of this function.
    unsafe {
        let mut array = ArrowArray::made(length, offset, buffers, release_array);
        Column::from_array(NonNull::from(&mut schema), NonNull::from(&mut array))
    }
}

/// `column` of buffers that a test keeps as long as it looks at what it gets.
macro_rules! lent {
    ($($argument:expr),*) => {
        // SAFETY: the buffers of every test are as long as it says, and dropped after the column.
        unsafe { column($($argument),*) }
    };
}

#[test]
fn values_nulls_and_offsets() {
    let (bits, offsets, data) = ([0b1101u8], [0i32, 1, 1, 3, 6], *b"abbccc");
    let mut buffers = [bits.as_ptr().cast(), offsets.as_ptr().cast(), data.as_ptr().cast()];
    let before = RELEASED.load(Ordering::SeqCst);
    let whole = lent!(c"u", 4, 0, &mut buffers).unwrap();
    assert_eq!(whole.iter().collect::<Vec<_>>(), [Some(&b"a"[..]), None, Some(b"bb"), Some(b"ccc")]);
    assert_eq!((whole.get(3), whole.get(1), whole.get(4)), (Some(&b"ccc"[..]), None, None));
    drop(whole);
    assert!(RELEASED.load(Ordering::SeqCst) > before);
    let part = lent!(c"u", 2, 2, &mut buffers).unwrap();
    assert_eq!(part.iter().collect::<Vec<_>>(), [Some(&b"bb"[..]), Some(b"ccc")]);
}

#[test]
fn views_are_inline_or_in_buffers() {
    let data = *b"a value of twenty bytes";
    let inline = [3u32, u32::from_le_bytes(*b"abc\0"), 0, 0];
    let views = [inline, [20, u32::from_le_bytes(*b"alue"), 0, 3], [20, 0, 0, 4]];
    let sizes = [data.len() as i64];
    let mut buffers =
        [std::ptr::null(), views.as_ptr().cast(), data.as_ptr().cast(), sizes.as_ptr().cast::<c_void>()];
    let two = lent!(c"vu", 2, 0, &mut buffers).unwrap();
    assert_eq!(two.iter().collect::<Vec<_>>(), [Some(&b"abc"[..]), Some(&data[3..23])]);
    assert!(lent!(c"vu", 3, 0, &mut buffers).is_err(), "the third reaches beyond its buffer");
}

#[test]
fn rejects_columns_of_other_types() {
    let offsets = [0i64, 5, 3];
    let mut buffers = [std::ptr::null(), offsets.as_ptr().cast(), c"hello".as_ptr().cast::<c_void>()];
    assert!(lent!(c"U", 1, 0, &mut buffers).is_ok());
    assert!(lent!(c"U", 2, 0, &mut buffers).is_err(), "offsets must rise");
    assert!(lent!(c"U", -1, 0, &mut buffers).is_err());
    assert!(lent!(c"U", 1, 0, &mut buffers[..2]).is_err());
    assert_eq!(
        lent!(c"l", 1, 0, &mut buffers).unwrap_err(),
        ColumnError("an Arrow column of integers".into())
    );
}

/// A copy of some bytes that begins one byte after a multiple of eight.
struct Misaligned {
    bytes: Vec<u8>,
    start: usize,
}

impl Misaligned {
    fn of<T: Copy, const N: usize>(numbers: &[T], to_bytes: impl Fn(T) -> [u8; N]) -> Self {
        let mut bytes = vec![0; N * numbers.len() + 8];
        let start = (9 - bytes.as_ptr().addr() % 8) % 8;
        for (place, &number) in bytes[start..].chunks_exact_mut(N).zip(numbers) {
            place.copy_from_slice(&to_bytes(number));
        }
        Self { bytes, start }
    }

    fn pointer(&self) -> *const c_void {
        self.bytes[self.start..].as_ptr().cast()
    }
}

#[test]
fn buffers_need_not_be_aligned() {
    let data = *b"abbccc and more than twelve bytes";
    let (short, long) = ([0i32, 1, 3, 6], [0i64, 1, 3, 6]);
    let (short, long) = (Misaligned::of(&short, i32::to_ne_bytes), Misaligned::of(&long, i64::to_ne_bytes));
    let data_copy = Misaligned::of(&data, |byte| [byte]);
    for (format, offsets) in [(c"u", &short), (c"U", &long)] {
        let mut buffers = [std::ptr::null(), offsets.pointer(), data_copy.pointer()];
        let all = lent!(format, 3, 0, &mut buffers).unwrap();
        assert_eq!(all.iter().collect::<Vec<_>>(), [Some(&b"a"[..]), Some(b"bb"), Some(b"ccc")]);
        let sliced = lent!(format, 2, 1, &mut buffers).unwrap();
        assert_eq!(sliced.iter().collect::<Vec<_>>(), [Some(&b"bb"[..]), Some(b"ccc")]);
    }
    let views = [[2, u32::from_le_bytes(*b"xy\0\0"), 0, 0], [20, 0, 0, 3]];
    let views = Misaligned::of(views.as_flattened(), u32::to_ne_bytes);
    let sizes = Misaligned::of(&[data.len() as i64], i64::to_ne_bytes);
    let mut buffers = [std::ptr::null(), views.pointer(), data_copy.pointer(), sizes.pointer()];
    let two = lent!(c"vu", 2, 0, &mut buffers).unwrap();
    assert_eq!(two.iter().collect::<Vec<_>>(), [Some(&b"xy"[..]), Some(&data[3..23])]);
}

#[test]
fn a_column_of_nulls_takes_constant_time() {
    let nulls = lent!(c"n", 1 << 48, 0, &mut []).unwrap();
    assert_eq!((nulls.len(), nulls.get(5)), (1 << 48, None));
    assert!(lent!(c"n", (1 << 48) + 1, 0, &mut []).is_err());
}

#[test]
fn an_array_is_imported_once() {
    let (offsets, data) = ([0i32, 1], *b"a");
    let mut buffers = [std::ptr::null(), offsets.as_ptr().cast(), data.as_ptr().cast::<c_void>()];
    let mut schema = ArrowSchema::made(c"u");
    // SAFETY: two offsets and the byte they tell of; they outlive the array.
    let mut array = unsafe { ArrowArray::made(1, 0, &mut buffers, release_array) };
    // SAFETY: both are valid, alive and used here alone; the second time they are released.
    let mut import =
        || unsafe { Column::from_array(NonNull::from(&mut schema), NonNull::from(&mut array)) };
    let first = import().unwrap();
    assert_eq!(import().unwrap_err(), gone());
    assert_eq!(first.get(0), Some(&b"a"[..]));
}
