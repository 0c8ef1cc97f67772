//! The lists of an `Encoding`, and their items.

use std::sync::OnceLock;

use pyo3::prelude::*;
use pyo3::types::PyList;

use super::column::Column;
use crate::errors::wrong_type;

/// The lists made so far, by column.
#[derive(Default)]
pub(super) struct Lists([OnceLock<Py<PyList>>; 11]);

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

/// Return an item of a list.
pub(super) fn item<'py, T: for<'a> FromPyObject<'a, 'py>>(
    list: &Bound<'py, PyList>,
    at: usize,
) -> PyResult<T> {
    list.get_item(at)?.extract().map_err(Into::into)
}

/// Return an item of a list; `None` if the index is out of range.
pub(super) fn optional_item(list: &Bound<'_, PyList>, at: isize) -> PyResult<Option<usize>> {
    match usize::try_from(at).ok().filter(|&at| at < list.len()) {
        Some(at) => item(list, at),
        None => Ok(None),
    }
}
