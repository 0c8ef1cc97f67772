//! Cached Python integers: the integer of an id is made at its first use and reused.
//!
//! A list of cached ids takes one reference for each id. The slots take 16 bytes for each vocabulary entry, the
//! integers 32 bytes for each id that was used.

use std::sync::OnceLock;

use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList};

/// Cached integers below the size of a vocabulary.
#[derive(Default)]
pub(crate) struct Numbers {
    count: usize,
    slots: OnceLock<Vec<OnceLock<Py<PyInt>>>>,
}

impl Numbers {
    /// Cache integers below `count`; larger ones are not cached.
    pub(crate) fn below(count: usize) -> Self {
        Self { count, slots: OnceLock::new() }
    }

    /// Make a list of ids.
    pub(crate) fn list<'py>(
        &self,
        py: Python<'py>,
        ids: impl ExactSizeIterator<Item = u32>,
    ) -> PyResult<Bound<'py, PyList>> {
        let slots = self.slots.get_or_init(|| self.empty_slots(py));
        PyList::new(py, ids.map(|id| number(py, slots, id)))
    }

    /// Return empty slots; none in free-threaded Python, where threads would contend for the reference counts.
    fn empty_slots(&self, py: Python<'_>) -> Vec<OnceLock<Py<PyInt>>> {
        let is_free_threaded = py.version().contains("free-threading");
        std::iter::repeat_with(OnceLock::new).take(if is_free_threaded { 0 } else { self.count }).collect()
    }
}

/// Return the integer of an id, cached if the id has a slot.
#[inline(always)]
fn number<'py>(py: Python<'py>, slots: &[OnceLock<Py<PyInt>>], id: u32) -> Bound<'py, PyInt> {
    let Some(slot) = slots.get(id as usize) else { return new_number(py, id) };
    match slot.get() {
        Some(number) => number.bind(py).clone(),
        None => {
            let number = new_number(py, id);
            // Another thread may have filled the slot first, with an equal integer.
            let _ = slot.set(number.clone().unbind());
            number
        }
    }
}

/// Make an integer.
fn new_number(py: Python<'_>, id: u32) -> Bound<'_, PyInt> {
    let Ok(number) = id.into_pyobject(py);
    number
}
