//! Lists for Python.

use piecework_core::interrupt;
use pyo3::prelude::*;
use pyo3::types::PyList;

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
