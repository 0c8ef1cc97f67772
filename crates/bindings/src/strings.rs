//! Conversion of bytes into Python strings.

use piecework_core::engine::text_of;
use piecework_kernels::utf16;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// The byte order mark of UTF-16, which Python removes.
const BYTE_ORDER_MARK: u16 = 0xFEFF;

/// The share of non-ASCII bytes, one in this many, above which conversion through UTF-16 is faster than Python's UTF-8
/// decoder.
const BYTES_PER_WIDE: usize = 32;

/// Convert bytes into a string, with U+FFFD for invalid UTF-8; `units` is scratch memory.
pub(crate) fn string<'py>(py: Python<'py>, bytes: &[u8], units: &mut Vec<u8>) -> Bound<'py, PyString> {
    // Python validates the bytes while it decodes them; a second check runs only after it fails.
    let string = if wide_bytes(bytes) * BYTES_PER_WIDE <= bytes.len() {
        PyString::from_bytes(py, bytes).ok()
    } else {
        through_utf16(py, bytes, units)
    };
    string.unwrap_or_else(|| PyString::new(py, &text_of(bytes.to_vec())))
}

/// Count the bytes that are not ASCII.
fn wide_bytes(bytes: &[u8]) -> usize {
    let top_bits = |bytes: &[u8]| bytes.iter().map(|byte| byte >> 7).sum::<u8>();
    bytes.chunks(usize::from(u8::MAX)).map(|bytes| usize::from(top_bits(bytes))).sum()
}

/// Convert bytes into a string through UTF-16; `None` for invalid UTF-8.
fn through_utf16<'py>(py: Python<'py>, bytes: &[u8], units: &mut Vec<u8>) -> Option<Bound<'py, PyString>> {
    units.clear();
    units.extend_from_slice(&BYTE_ORDER_MARK.to_ne_bytes());
    if !utf16::append(bytes, units) {
        return None;
    }
    PyString::from_encoded_object(&PyBytes::new(py, units), Some(c"utf-16"), None).ok()
}
