//! Thread counts.

use piecework_catch_panics::python;
use pyo3::prelude::*;

use crate::errors::bad_argument;

/// Check a thread count. Python code resolves None and the environment variable before the call.
pub(crate) fn thread_count(num_threads: i64) -> PyResult<usize> {
    if (1..=4096).contains(&num_threads) {
        return Ok(num_threads as usize);
    }
    Err(bad_argument("num_threads", num_threads.to_string(), "1 to 4096, or None"))
}

/// Return the number of CPUs available to the process, by CPU affinity and control group.
#[python]
pub(crate) fn available_processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
