//! Vectors as numpy arrays, which then own them.

use numpy::{Element, IntoPyArray, PyArray1};
use pyo3::intern;
use pyo3::prelude::*;

/// Import numpy; an array that is made without it would panic where the import fails.
pub(crate) fn need_numpy(py: Python<'_>) -> PyResult<()> {
    py.import(intern!(py, "numpy")).map(drop)
}

/// The values as an array; an `ImportError` where numpy cannot be imported.
pub(crate) fn array<T: Element>(py: Python<'_>, values: Vec<T>) -> PyResult<Bound<'_, PyArray1<T>>> {
    need_numpy(py)?;
    Ok(values.into_pyarray(py))
}
