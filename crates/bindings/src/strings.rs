//! Making Python strings.

use piecework_core::pipeline::text_of;
use piecework_kernels::utf16;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// Tells Python the order of bytes in UTF-16, and is no part of the text.
const BYTE_ORDER_MARK: u16 = 0xFEFF;

/// Where at least one byte in so many is not ASCII, Python reads UTF-16 so much faster that making it pays off.
const BYTES_PER_WIDE: usize = 32;

/// Make a string of bytes, of which what is not UTF-8 is replaced; `units` is memory to work in.
pub(crate) fn string<'py>(py: Python<'py>, bytes: &[u8], units: &mut Vec<u8>) -> Bound<'py, PyString> {
    // Who reads the bytes checks them, too; so nobody else does, unless they are found wrong.
    let string = if wide_bytes(bytes) * BYTES_PER_WIDE <= bytes.len() {
        PyString::from_bytes(py, bytes).ok()
    } else {
        by_units(py, bytes, units)
    };
    string.unwrap_or_else(|| PyString::new(py, &text_of(bytes.to_vec())))
}

/// How many bytes are not ASCII.
fn wide_bytes(bytes: &[u8]) -> usize {
    let top_bits = |bytes: &[u8]| bytes.iter().map(|byte| byte >> 7).sum::<u8>();
    bytes.chunks(usize::from(u8::MAX)).map(|bytes| usize::from(top_bits(bytes))).sum()
}

/// Make a string by way of UTF-16; none of bytes that are not UTF-8.
fn by_units<'py>(py: Python<'py>, bytes: &[u8], units: &mut Vec<u8>) -> Option<Bound<'py, PyString>> {
    units.clear();
    units.extend_from_slice(&BYTE_ORDER_MARK.to_ne_bytes());
    if !utf16::append(bytes, units) {
        return None;
    }
    PyString::from_encoded_object(&PyBytes::new(py, units), Some(c"utf-16"), None).ok()
}
