//! The error for a column that a batch does not have.

use piecework_catch_panics::catch_panics;
use pyo3::prelude::*;

use crate::errors::bad_argument;

/// Return the error for a column that a batch does not have.
#[catch_panics]
#[pyfunction]
pub(crate) fn missing_column(py: Python<'_>, name: &str) -> Py<PyAny> {
    missing(name).into_value(py).into_any()
}

/// Make the error; it names the call that computes the column.
pub(super) fn missing(name: &str) -> PyErr {
    match name {
        "overflowing" => {
            let expected = "encode_batch(..., overflow=True), which makes a row of each window";
            bad_argument("overflow", "False", &format!("{expected}, to read {name}"))
        }
        "byte_offsets" | "utf16_offsets" | "pieces" => {
            let found = "a row of a batch, which keeps no text";
            bad_argument("texts", found, &format!("encode(text).{name}"))
        }
        _ => bad_argument(
            "offsets",
            "False",
            &format!("encode_batch(..., offsets=True), which keeps {name}"),
        ),
    }
}
