//! Conversion of bytes into Python strings.

use piecework_core::engine::text_of;
use piecework_core::interrupt;
use piecework_kernels::utf16;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

/// The byte order mark of UTF-16, which Python removes.
const BYTE_ORDER_MARK: u16 = 0xFEFF;

/// The share of non-ASCII bytes, one in this many, above which conversion through UTF-16 is faster than Python's UTF-8
/// decoder.
const BYTES_PER_WIDE: usize = 32;

/// Convert bytes into a string, with U+FFFD for invalid UTF-8; `units` is scratch memory.
///
/// Fails with `MemoryError` if there is no memory for the string.
pub(crate) fn string<'py>(
    py: Python<'py>,
    bytes: &[u8],
    units: &mut Vec<u8>,
) -> PyResult<Bound<'py, PyString>> {
    // Python validates the bytes while it decodes them; a second check runs only after it fails.
    let string = if wide_bytes(bytes) * BYTES_PER_WIDE <= bytes.len() {
        PyString::from_bytes(py, bytes).map(Some)
    } else {
        through_utf16(py, bytes, units)
    };
    match string {
        Ok(Some(string)) => Ok(string),
        Err(error) if error.is_instance_of::<PyMemoryError>(py) => Err(error),
        _ => Ok(PyString::new(py, &text_of(bytes.to_vec()))),
    }
}

/// Count the bytes that are not ASCII.
fn wide_bytes(bytes: &[u8]) -> usize {
    let top_bits = |bytes: &[u8]| bytes.iter().map(|byte| byte >> 7).sum::<u8>();
    bytes.chunks(usize::from(u8::MAX)).map(|bytes| usize::from(top_bits(bytes))).sum()
}

/// Convert bytes into a string through UTF-16; `None` for invalid UTF-8.
fn through_utf16<'py>(
    py: Python<'py>,
    bytes: &[u8],
    units: &mut Vec<u8>,
) -> PyResult<Option<Bound<'py, PyString>>> {
    units.clear();
    let size = 2 * bytes.len() + size_of_val(&BYTE_ORDER_MARK);
    units.try_reserve(size).map_err(|error| PyMemoryError::new_err(error.to_string()))?;
    units.extend_from_slice(&BYTE_ORDER_MARK.to_ne_bytes());
    if !utf16::append(bytes, units) {
        return Ok(None);
    }
    PyString::from_encoded_object(&PyBytes::new(py, units), Some(c"utf-16"), None).map(Some)
}

/// The items of a long list that are made between two checks for signals.
const LIST_PART: usize = 1 << 18;

/// Make a list, a long one part by part with checks for signals between them: no handler sees a list with empty slots.
pub(crate) fn list_of<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    mut items: impl ExactSizeIterator<Item = T>,
) -> PyResult<Bound<'py, PyList>> {
    if items.len() <= LIST_PART {
        return PyList::new(py, items);
    }
    let list = PyList::empty(py);
    while items.len() > 0 {
        interrupt::check(LIST_PART);
        let part = PyList::new(py, items.by_ref().take(LIST_PART))?;
        list.set_slice(list.len(), list.len(), &part)?;
    }
    Ok(list)
}
