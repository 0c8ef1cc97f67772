//! Import of string columns through Arrow's C data interface, without a copy and without an Arrow library.
//!
//! Formats: `utf8`, `large_utf8`, `binary`, `large_binary` and `string_view`, as an array or as a stream of
//! chunks. See "The Arrow C data interface", "The Arrow C stream interface" and "The Arrow PyCapsule
//! interface" at arrow.apache.org.

mod layout;
mod raw;

use std::ptr::NonNull;

use layout::ColumnLayout;

/// The bytes of a view, and the most bytes of a value that is stored in its view.
const VIEW_BYTES: usize = 16;
const INLINE_BYTES: usize = 12;

pub use layout::ColumnError;
pub use raw::{ArrowArray, ArrowSchema, ArrowStream};

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

    /// Whether there is no row.
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

    /// All rows in order; `None` for a null.
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

/// Names the type of a column by its format string (Arrow C data interface, "Data type description").
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

    /// Item `at` of a buffer; `None` if the array lacks the buffer.
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
mod tests;
