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
        "overflowing" => bad_argument(
            "overflow",
            "False",
            "True: encode_batch(..., overflow=True) makes a row of each window",
        ),
        "byte_offsets" | "utf16_offsets" | "pieces" => {
            let expected = format!("read from encode(text).{name}: rows of a batch keep no text");
            bad_argument(name, "from a row of a batch", &expected)
        }
        _ => {
            let expected = format!("True: encode_batch(..., offsets=True) keeps {name}");
            bad_argument("offsets", "False", &expected)
        }
    }
}
