//! The instruction set that the kernels use.

use piecework_catch_panics::python;
use piecework_core::level::Level;
use pyo3::prelude::*;

use crate::errors::bad_argument;

/// Return the names of the levels that this CPU supports, the fastest last.
#[python]
pub(crate) fn kernel_levels() -> Vec<&'static str> {
    names()
}

/// Select the level for every thread of the process.
#[python]
pub(crate) fn use_kernel_level(name: &str) -> PyResult<()> {
    match Level::supported().into_iter().find(|level| level.name() == name) {
        Some(level) => level.activate(),
        None => return Err(bad_argument("name", format!("{name:?}"), &names().join(", "))),
    }
    Ok(())
}

/// Return the names of the supported levels.
fn names() -> Vec<&'static str> {
    Level::supported().into_iter().map(Level::name).collect()
}
