//! The columns of an `Encoding` other than its ids: their names, their lists, and the error for a missing one.

use std::sync::OnceLock;

use piecework_catch_panics::python;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::errors::{bad_argument, wrong_type};

/// A column of an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Tokens,
    Offsets,
    WordIds,
    SequenceIds,
    TypeIds,
    SpecialTokensMask,
    AttentionMask,
    Overflowing,
    Pieces,
    ByteOffsets,
    Utf16Offsets,
}

/// The names of the attributes, in the order of [`Column`].
const NAMES: [&str; 11] = [
    "tokens",
    "offsets",
    "word_ids",
    "sequence_ids",
    "type_ids",
    "special_tokens_mask",
    "attention_mask",
    "overflowing",
    "pieces",
    "byte_offsets",
    "utf16_offsets",
];

impl Column {
    /// The columns that are compared and pickled; the others are computed from these and the text.
    pub(super) const STORED: [Self; 8] = [
        Self::Tokens,
        Self::Offsets,
        Self::WordIds,
        Self::SequenceIds,
        Self::TypeIds,
        Self::SpecialTokensMask,
        Self::AttentionMask,
        Self::Overflowing,
    ];

    /// Return the name of the attribute.
    pub(super) fn name(self) -> &'static str {
        NAMES[self as usize]
    }
}

/// The lists made so far, by column.
#[derive(Default)]
pub(super) struct Lists([OnceLock<Py<PyList>>; NAMES.len()]);

impl Lists {
    /// Return the slot of the list of a column.
    pub(super) fn slot(&self, column: Column) -> &OnceLock<Py<PyList>> {
        &self.0[column as usize]
    }
}

/// Check that a value is a list.
pub(super) fn listed<'py>(value: Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyList>> {
    value.cast_into::<PyList>().map_err(|error| wrong_type(name.into(), &error.into_inner(), "list"))
}

/// Return the error for a column that a batch does not have.
#[python]
pub(crate) fn missing_column(py: Python<'_>, name: &str) -> Py<PyAny> {
    missing(name).into_value(py).into_any()
}

/// Make the error; it names the call that computes the column.
pub(super) fn missing(name: &str) -> PyErr {
    match name {
        "overflowing" => {
            bad_argument("overflow", "False", "True in encode_batch, which makes a row of each window")
        }
        "byte_offsets" | "utf16_offsets" | "pieces" => {
            let expected = format!("read from encode(text).{name}, as rows of a batch keep no text");
            bad_argument(name, "from a row of a batch", &expected)
        }
        _ => {
            let expected = format!("True in encode_batch, which then keeps {name}");
            bad_argument("offsets", "False", &expected)
        }
    }
}
