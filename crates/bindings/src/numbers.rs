//! Python's integers for ids: each made when its id is first given, and given again from then on.
//!
//! A list of ids then costs a reference for each. The slots take 16 bytes for each entry of a vocabulary, the
//! integers 32 for each entry that was given.

use std::sync::OnceLock;

use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList};

/// The integers below the size of a vocabulary.
#[derive(Default)]
pub(crate) struct Numbers {
    count: usize,
    slots: OnceLock<Vec<OnceLock<Py<PyInt>>>>,
}

impl Numbers {
    /// Integers for that many ids; those beyond are made each time.
    pub(crate) fn below(count: usize) -> Self {
        Self { count, slots: OnceLock::new() }
    }

    /// The list of some ids.
    pub(crate) fn list<'py>(
        &self,
        py: Python<'py>,
        ids: impl ExactSizeIterator<Item = u32>,
    ) -> PyResult<Bound<'py, PyList>> {
        let slots = self.slots.get_or_init(|| self.empty_slots(py));
        PyList::new(py, ids.map(|id| number(py, slots, id)))
    }

    /// Threads without a common lock would wait for each other to count references: each makes its own.
    fn empty_slots(&self, py: Python<'_>) -> Vec<OnceLock<Py<PyInt>>> {
        let is_free_threaded = py.version().contains("free-threading");
        std::iter::repeat_with(OnceLock::new).take(if is_free_threaded { 0 } else { self.count }).collect()
    }
}

#[inline(always)]
fn number<'py>(py: Python<'py>, slots: &[OnceLock<Py<PyInt>>], id: u32) -> Bound<'py, PyInt> {
    let Some(slot) = slots.get(id as usize) else { return new_number(py, id) };
    match slot.get() {
        Some(number) => number.bind(py).clone(),
        None => {
            let number = new_number(py, id);
            // Another thread may have been faster; its integer is as good.
            let _ = slot.set(number.clone().unbind());
            number
        }
    }
}

fn new_number(py: Python<'_>, id: u32) -> Bound<'_, PyInt> {
    let Ok(number) = id.into_pyobject(py);
    number
}
