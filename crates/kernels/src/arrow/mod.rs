//! Import of string columns through Arrow's C data interface, without a copy and without an Arrow library.
//!
//! Formats: `utf8`, `large_utf8`, `binary`, `large_binary` and `string_view`, as an array or as a stream of
//! chunks. See "The Arrow C data interface", "The Arrow C stream interface" and "The Arrow PyCapsule
//! interface" at arrow.apache.org.

mod raw;

use std::ptr::NonNull;

use raw::ColumnLayout;
pub use raw::{ArrowArray, ArrowSchema, ArrowStream, ColumnError};

/// The bytes of a view, and the most bytes of a value that is stored in its view.
const VIEW_BYTES: usize = 16;
const INLINE_BYTES: usize = 12;

/// A column that a producer owns; released when it is dropped.
#[derive(Debug)]
pub struct Column {
    chunks: Vec<ColumnChunk>,
    /// The first row of each chunk, and the number of rows.
    starts: Vec<usize>,
}

#[derive(Debug)]
struct ColumnChunk {
    array: ArrowArray,
    layout: ColumnLayout,
}

impl Column {
    /// Import a column from a stream of chunks.
    ///
    /// The stream is moved out and marked as released, so that a second import finds it gone.
    ///
    /// # Safety
    /// `stream` must point to an aligned `struct ArrowArrayStream`, released or not, that nobody else uses during
    /// the call. What the stream and its arrays lend must be as the C data interface says: buffers of the sizes
    /// that length, offset and offsets require, unchanged until the array is released.
    pub unsafe fn from_stream(stream: NonNull<ArrowStream>) -> Result<Self, ColumnError> {
        // SAFETY: by the contract of this function.
        let mut stream = unsafe { ArrowStream::take(stream) }.ok_or_else(gone)?;
        let layout = layout_of(&stream.schema()?)?;
        let mut chunks = Vec::new();
        while let Some(array) = stream.next()? {
            chunks.push(ColumnChunk::new(array, layout)?);
        }
        Ok(Self::of_chunks(chunks))
    }

    /// Import a column from one array and its schema, both moved out and marked as released.
    ///
    /// # Safety
    /// `schema` and `array` must point to an aligned `struct ArrowSchema` and `struct ArrowArray`, released or not,
    /// that nobody else uses during the call; the array must lend what `from_stream` requires.
    pub unsafe fn from_array(
        schema: NonNull<ArrowSchema>,
        array: NonNull<ArrowArray>,
    ) -> Result<Self, ColumnError> {
        // SAFETY: by the contract of this function.
        let (schema, array) = unsafe { (ArrowSchema::take(schema), ArrowArray::take(array)) };
        let layout = layout_of(&schema.ok_or_else(gone)?)?;
        Ok(Self::of_chunks(vec![ColumnChunk::new(array.ok_or_else(gone)?, layout)?]))
    }

    fn of_chunks(chunks: Vec<ColumnChunk>) -> Self {
        let mut starts = vec![0];
        let mut rows = 0;
        starts.extend(chunks.iter().map(|chunk| {
            rows += chunk.len();
            rows
        }));
        Self { chunks, starts }
    }

    /// Return the number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Return whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Return the bytes of a row; `None` for a null and beyond the end.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<&[u8]> {
        let at = self.starts.partition_point(|&start| start <= row).checked_sub(1)?;
        self.chunks.get(at)?.get(row - self.starts[at])
    }

    /// Iterate over all rows in order; `None` for a null.
    pub fn iter(&self) -> impl Iterator<Item = Option<&[u8]>> {
        self.chunks.iter().flat_map(|chunk| (0..chunk.len()).map(|row| chunk.get(row)))
    }
}

fn gone() -> ColumnError {
    ColumnError("an Arrow array that was taken before".into())
}

fn layout_of(schema: &ArrowSchema) -> Result<ColumnLayout, ColumnError> {
    let format = schema.format();
    match format.as_str() {
        _ if schema.has_dictionary() => Err(ColumnError("an Arrow dictionary".into())),
        "u" | "z" => Ok(ColumnLayout::Short),
        "U" | "Z" => Ok(ColumnLayout::Long),
        "vu" => Ok(ColumnLayout::Views),
        "n" => Ok(ColumnLayout::Nulls),
        format => Err(ColumnError(described(format))),
    }
}

/// Name the type of a column by its format string (Arrow C data interface, "Data type description").
fn described(format: &str) -> String {
    let values = match format.as_bytes() {
        [b'c' | b'C' | b's' | b'S' | b'i' | b'I' | b'l' | b'L'] => "integers",
        [b'e' | b'f' | b'g'] => "floating-point numbers",
        [b'b'] => "booleans",
        [b'+', b's'] => return "an Arrow table, or a column of structs".into(),
        [b'+', b'l' | b'L' | b'w' | b'v', ..] => "lists",
        [b't', ..] => "times",
        _ => return format!("an Arrow column of format {format:?}"),
    };
    format!("an Arrow column of {values}")
}

impl ColumnChunk {
    /// Check the layout as far as possible: the interface does not have the lengths of most buffers.
    fn new(array: ArrowArray, layout: ColumnLayout) -> Result<Self, ColumnError> {
        let chunk = Self { array, layout };
        let wrong = |what: &str| Err(ColumnError(format!("an Arrow array {what}")));
        if !chunk.array.is_sound(layout) {
            return wrong("with wrong sizes or without its buffers");
        }
        // A column of nulls has no buffers, and any length: there is nothing to walk through.
        let has_values = layout != ColumnLayout::Nulls;
        if has_values && (0..chunk.len()).any(|row| !chunk.is_null(row) && chunk.get(row).is_none()) {
            return wrong("whose offsets do not rise");
        }
        Ok(chunk)
    }

    fn len(&self) -> usize {
        self.array.len()
    }

    fn is_null(&self, row: usize) -> bool {
        if self.layout == ColumnLayout::Nulls {
            return true;
        }
        let at = self.array.offset() + row;
        // SAFETY: the validity buffer, where there is one, has a bit for every value up to the offset and
        // the length, and `row` is below the length.
        self.array
            .buffer::<u8>(0)
            .is_some_and(|bits| unsafe { bits.add(at / 8).read() } >> (at % 8) & 1 == 0)
    }

    /// Return the bytes of a row, whose index must be below the length.
    fn get(&self, row: usize) -> Option<&[u8]> {
        if row >= self.len() || self.is_null(row) {
            return None;
        }
        let at = self.array.offset() + row;
        match self.layout {
            ColumnLayout::Short => {
                // SAFETY: there is one offset more than values, and `at` is the number of a value.
                let (start, end) = unsafe { (self.item::<i32>(1, at)?, self.item::<i32>(1, at + 1)?) };
                self.slice(start.into(), end.into())
            }
            ColumnLayout::Long => {
                // SAFETY: as above.
                let (start, end) = unsafe { (self.item(1, at)?, self.item(1, at + 1)?) };
                self.slice(start, end)
            }
            ColumnLayout::Views => self.viewed(at),
            ColumnLayout::Nulls => None,
        }
    }

    /// Return item `at` of a buffer; `None` if the array lacks the buffer.
    ///
    /// Buffers need not be aligned: the interface recommends it only.
    ///
    /// # Safety
    /// The buffer, where there is one, must have that item, and any bytes must be a `T`.
    unsafe fn item<T: Copy>(&self, buffer: usize, at: usize) -> Option<T> {
        let start = self.array.buffer::<T>(buffer)?;
        // SAFETY: by the contract of this function.
        Some(unsafe { start.add(at).read_unaligned() })
    }

    fn slice(&self, start: i64, end: i64) -> Option<&[u8]> {
        let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
        let len = end.checked_sub(start)?;
        let Some(data) = self.array.buffer::<u8>(2) else { return (len == 0).then_some(&[]) };
        // SAFETY: the producer says that these are offsets into its buffer, which lives and stays as it is
        // until the array is released, when this chunk is dropped.
        Some(unsafe { std::slice::from_raw_parts(data.add(start), len) })
    }

    /// Return a value by its view: length, then the value itself up to 12 bytes, else its first four, the buffer and
    /// the offset there.
    fn viewed(&self, at: usize) -> Option<&[u8]> {
        // SAFETY: there is a view for every value.
        let [len, _, buffer, start] =
            unsafe { self.item::<[u32; 4]>(1, at)? }.map(|number| number as usize);
        if len <= INLINE_BYTES {
            let views = self.array.buffer::<u8>(1)?;
            // SAFETY: the 12 bytes after the length are part of the view, which lives as long as the array.
            return Some(unsafe { std::slice::from_raw_parts(views.add(VIEW_BYTES * at + 4), len) });
        }
        let data_buffers = self.array.buffers().checked_sub(3)?;
        if buffer >= data_buffers {
            return None;
        }
        // SAFETY: the last buffer holds the size of every data buffer, and this is the number of one.
        let size = unsafe { self.item::<i64>(2 + data_buffers, buffer)? };
        if start.checked_add(len)? > usize::try_from(size).ok()? {
            return None;
        }
        let data = self.array.buffer::<u8>(2 + buffer)?;
        // SAFETY: within the size of the buffer.
        Some(unsafe { std::slice::from_raw_parts(data.add(start), len) })
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::{c_void, CStr};
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
        let [first, second, third] = [*b"twel", *b"ve b", *b"ytes"].map(u32::from_le_bytes);
        let inline = [12, first, second, third];
        let views = [inline, [20, u32::from_le_bytes(*b"alue"), 0, 3], [20, 0, 0, 4]];
        let sizes = [data.len() as i64];
        let mut buffers = [
            std::ptr::null(),
            views.as_ptr().cast(),
            data.as_ptr().cast(),
            sizes.as_ptr().cast::<c_void>(),
        ];
        let two = lent!(c"vu", 2, 0, &mut buffers).unwrap();
        assert_eq!(two.iter().collect::<Vec<_>>(), [Some(&b"twelve bytes"[..]), Some(&data[3..23])]);
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
        let (short, long) =
            (Misaligned::of(&short, i32::to_ne_bytes), Misaligned::of(&long, i64::to_ne_bytes));
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
}
