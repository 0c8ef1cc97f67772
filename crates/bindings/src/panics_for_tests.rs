//! Panics on purpose, by which tests check what becomes of a panic.

use piecework_catch_panics::python;
use pyo3::prelude::*;

use crate::core::{compile, Core};

/// Panic, for tests: the panic continues in the Rust code that called the Python function.
///
/// This function alone has no `#[python]`.
#[pyfunction]
pub(crate) fn panic_for_tests() {
    panic!("a panic on purpose");
}

/// Panic while a tokenizer file is read, for tests.
#[python]
pub(crate) fn panic_in_loading_for_tests(py: Python<'_>) -> PyResult<Core> {
    compile(py, "tokenizer.json", || panic!("a panic on purpose"))
}
