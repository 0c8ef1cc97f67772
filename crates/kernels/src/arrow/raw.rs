//! The three structures of the interface in their memory layout; each is released when it is dropped.

use std::ffi::{c_char, c_int, c_void, CStr};
use std::ptr::{self, NonNull};

/// `struct ArrowSchema` of the C data interface.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

/// `struct ArrowArray` of the C data interface.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

/// `struct ArrowArrayStream` of the C stream interface.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowStream {
    get_schema: Option<unsafe extern "C" fn(*mut ArrowStream, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut ArrowStream, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut ArrowStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut ArrowStream)>,
    private_data: *mut c_void,
}

// SAFETY: what an array lends is never changed, and the interface lets any thread release it.
unsafe impl Send for ArrowArray {}
// SAFETY: as above; nothing is changed through a shared reference.
unsafe impl Sync for ArrowArray {}

/// The common part: moved out of a producer's memory, released once.
macro_rules! released_when_dropped {
    ($name:ident) => {
        impl $name {
            /// Move a structure out of the memory at `from`, which is marked as released; `None` if it
            /// was before.
            ///
            /// # Safety
            /// A valid structure of this kind, released or not, must be there, and nobody else using it.
            pub(super) unsafe fn take(from: NonNull<Self>) -> Option<Self> {
                let from = from.as_ptr();
                // SAFETY: by the contract of this function. The interface allows structures to be moved
                // if the old one is marked by an empty `release`.
                unsafe {
                    (*from).release?;
                    let taken = ptr::read(from);
                    (*from).release = None;
                    Some(taken)
                }
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: the producer's own function, on its own structure, once: it marks it.
                    unsafe { release(self) };
                }
            }
        }
    };
}

released_when_dropped!(ArrowSchema);
released_when_dropped!(ArrowArray);
released_when_dropped!(ArrowStream);

impl ArrowSchema {
    pub(super) fn format(&self) -> String {
        // SAFETY: the format is such a string as long as the schema is not released, which its drop does.
        unsafe { text_of(self.format) }
    }

    pub(super) fn has_dictionary(&self) -> bool {
        !self.dictionary.is_null()
    }
}

impl ArrowArray {
    const EMPTY: Self = Self {
        length: 0,
        null_count: 0,
        offset: 0,
        n_buffers: 0,
        n_children: 0,
        buffers: ptr::null_mut(),
        children: ptr::null_mut(),
        dictionary: ptr::null_mut(),
        release: None,
        private_data: ptr::null_mut(),
    };

    /// Return whether sizes and buffers fit a layout.
    pub(super) fn is_sound(&self, layout: ColumnLayout) -> bool {
        let sizes = [self.length, self.offset, self.n_buffers];
        let enough = match layout {
            ColumnLayout::Short | ColumnLayout::Long => self.n_buffers == 3,
            ColumnLayout::Views => self.n_buffers >= 3,
            // Their values have none, whatever a producer lists.
            ColumnLayout::Nulls => return (0..=1 << 48).contains(&self.length),
        };
        let has_values = self.length == 0 || self.buffer::<u8>(1).is_some();
        sizes.iter().all(|&size| (0..=1 << 48).contains(&size))
            && enough
            && !self.buffers.is_null()
            && has_values
    }

    pub(super) fn len(&self) -> usize {
        self.length as usize
    }

    pub(super) fn offset(&self) -> usize {
        self.offset as usize
    }

    pub(super) fn buffers(&self) -> usize {
        self.n_buffers as usize
    }

    /// Return the beginning of a buffer, if the array has it.
    pub(super) fn buffer<T>(&self, number: usize) -> Option<*const T> {
        if self.buffers.is_null() || number >= self.buffers() {
            return None;
        }
        // SAFETY: `buffers` points to as many pointers as `n_buffers` says.
        let start = unsafe { self.buffers.add(number).read() };
        (!start.is_null()).then(|| start.cast())
    }
}

impl ArrowStream {
    /// Return the schema of every chunk.
    pub(super) fn schema(&mut self) -> Result<ArrowSchema, ColumnError> {
        let mut schema = ArrowSchema {
            format: ptr::null(),
            name: ptr::null(),
            metadata: ptr::null(),
            flags: 0,
            n_children: 0,
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: None,
            private_data: ptr::null_mut(),
        };
        let get = self.get_schema.ok_or_else(incomplete)?;
        // SAFETY: the stream is not released, and the producer fills the structure it is given.
        match unsafe { get(self, &mut schema) } {
            0 => Ok(schema),
            _ => Err(self.last_error()),
        }
    }

    /// Return the next chunk; `None` after the last.
    pub(super) fn next(&mut self) -> Result<Option<ArrowArray>, ColumnError> {
        let mut array = ArrowArray::EMPTY;
        let get = self.get_next.ok_or_else(incomplete)?;
        // SAFETY: as above.
        match unsafe { get(self, &mut array) } {
            0 => Ok(array.release.is_some().then_some(array)),
            _ => Err(self.last_error()),
        }
    }

    fn last_error(&mut self) -> ColumnError {
        // SAFETY: asked right after a call that failed, as the interface has it; the text lives until the next
        // call on the stream.
        let said = self.get_last_error.map(|get| unsafe { text_of(get(self)) });
        ColumnError(format!("an Arrow stream that fails: {}", said.unwrap_or_default()))
    }
}

fn incomplete() -> ColumnError {
    ColumnError("an Arrow stream without its functions".into())
}

#[cfg(test)]
impl ArrowSchema {
    pub(super) fn made(format: &'static std::ffi::CStr) -> Self {
        unsafe extern "C" fn release(schema: *mut ArrowSchema) {
            // SAFETY: called with the schema that is to be marked.
            unsafe { (*schema).release = None };
        }
        Self {
            format: format.as_ptr(),
            name: ptr::null(),
            metadata: ptr::null(),
            flags: 0,
            n_children: 0,
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: Some(release),
            private_data: ptr::null_mut(),
        }
    }
}

#[cfg(test)]
impl ArrowArray {
    /// Return an array that lends `buffers`.
    ///
    /// # Safety
    /// The buffers must be as long as length, offset and offsets say, and outlive the array.
    pub(super) unsafe fn made(
        length: i64,
        offset: i64,
        buffers: &mut [*const c_void],
        release: unsafe extern "C" fn(*mut ArrowArray),
    ) -> Self {
        let n_buffers = buffers.len() as i64;
        Self {
            length,
            offset,
            n_buffers,
            buffers: buffers.as_mut_ptr(),
            release: Some(release),
            ..Self::EMPTY
        }
    }

    /// # Safety
    /// `array` must be one.
    pub(super) unsafe fn mark_released(array: *mut Self) {
        // SAFETY: by the contract of this function.
        unsafe { (*array).release = None };
    }
}

/// Return a string of the interface; empty for a null pointer.
///
/// # Safety
/// `pointer` must be null or point to a string that ends with a zero and lives during the call.
unsafe fn text_of(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: by the contract of this function.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

/// The reason why a column cannot be read: its format, or the message of its producer.
#[derive(Debug, PartialEq, Eq)]
pub struct ColumnError(pub String);

/// The layout of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnLayout {
    /// 32-bit offsets into one buffer.
    Short,
    /// 64-bit offsets.
    Long,
    /// Views into several buffers, short values within the view.
    Views,
    /// Nulls only, without buffers, as in an empty column.
    Nulls,
}
