//! Checksums of large data, as fast as memory is read.

use std::sync::Mutex;

use piecework_catch_panics::python;
use pyo3::prelude::*;
use xxhash_rust::xxh3::Xxh3;

use crate::panics::lock;
use crate::release::ReleaseGil;

/// An XXH3 checksum of 128 bits.
#[pyclass(frozen, module = "piecework._internal._core")]
pub struct Xxh128 {
    state: Mutex<Box<Xxh3>>,
}

#[python]
impl Xxh128 {
    /// Start a checksum.
    #[new]
    fn new() -> Self {
        Self { state: Mutex::new(Box::default()) }
    }

    /// Add data.
    fn update(&self, py: Python<'_>, data: &[u8]) -> PyResult<()> {
        py.release(|| lock(&self.state).map(|mut state| state.update(data)))
    }

    /// Return the checksum of all data in hexadecimal digits.
    fn hexdigest(&self) -> PyResult<String> {
        lock(&self.state).map(|state| format!("{:032x}", state.digest128()))
    }
}
