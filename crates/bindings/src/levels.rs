//! Which instructions the kernels use.

use piecework_core::level::Level;
use pyo3::prelude::*;

use crate::errors::bad_argument;

/// The names of the levels that this processor has, the best last.
#[pyfunction]
pub(crate) fn kernel_levels() -> Vec<&'static str> {
    Level::supported().into_iter().map(Level::name).collect()
}

/// Use the instructions of one level from now on, in every thread.
#[pyfunction]
pub(crate) fn use_kernel_level(name: &str) -> PyResult<()> {
    match Level::supported().into_iter().find(|level| level.name() == name) {
        Some(level) => level.activate(),
        None => return Err(bad_argument("name", format!("{name:?}"), &kernel_levels().join(", "))),
    }
    Ok(())
}
