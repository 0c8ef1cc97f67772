//! Columns that are converted into numpy arrays at their first use.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use numpy::{Element, IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::arrays::need_numpy;

/// A vector that is moved into a numpy array when the array is first requested.
pub(crate) struct LazyArray<T> {
    values: Mutex<Option<Arc<Vec<T>>>>,
    array: PyOnceLock<Py<PyArray1<T>>>,
}

impl<T: Element + Clone> LazyArray<T> {
    /// Wrap a vector.
    pub(crate) fn of(values: Vec<T>) -> Self {
        Self { values: Mutex::new(Some(Arc::new(values))), array: PyOnceLock::new() }
    }

    /// Wrap an array.
    pub(crate) fn of_array(array: Bound<'_, PyArray1<T>>) -> Self {
        let column = Self { values: Mutex::new(None), array: PyOnceLock::new() };
        column.array.get_or_init(array.py(), || array.clone().unbind());
        column
    }

    /// Return the array; the values are copied only while another thread reads them.
    pub(crate) fn array<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyArray1<T>>> {
        if self.array.get(py).is_none() {
            need_numpy(py)?;
        }
        let array = self.array.get_or_init(py, || {
            let values = self.values().take().map_or_else(Vec::new, Arc::unwrap_or_clone);
            values.into_pyarray(py).unbind()
        });
        Ok(array.bind(py))
    }

    /// Read the values, from the array once there is one.
    pub(crate) fn read<R>(&self, py: Python<'_>, work: impl FnOnce(&[T]) -> R) -> PyResult<R> {
        let values = self.values().clone();
        match values {
            Some(values) => Ok(work(&values)),
            None => Ok(work(self.array(py)?.try_readonly()?.as_slice()?)),
        }
    }

    /// Lock the values; no Python code runs under this lock.
    fn values(&self) -> MutexGuard<'_, Option<Arc<Vec<T>>>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
