//! Conversion of vectors into numpy arrays that own them, without a copy.

use numpy::{Element, IntoPyArray, PyArray1};
use pyo3::intern;
use pyo3::prelude::*;

/// Import numpy; without this check, the `numpy` crate panics if the import fails.
pub(crate) fn need_numpy(py: Python<'_>) -> PyResult<()> {
    py.import(intern!(py, "numpy")).map(drop)
}

/// Move values into an array; raise `ImportError` if numpy cannot be imported.
pub(crate) fn array<T: Element>(py: Python<'_>, values: Vec<T>) -> PyResult<Bound<'_, PyArray1<T>>> {
    need_numpy(py)?;
    Ok(values.into_pyarray(py))
}
