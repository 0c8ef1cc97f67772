//! Many encoded texts: flat columns that become numpy arrays when they are asked for, or lists without any.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use numpy::{Element, IntoPyArray, PyArray1, PyArrayMethods};
use piecework_catch_panics::catch_panics;
use piecework_core::batch::{BatchIds, Spans};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyList;

use crate::arrays::need_numpy;
use crate::errors::bad_argument;
use crate::numbers::Numbers;

/// Many encoded texts.
#[pyclass(frozen, module = "piecework._core")]
pub struct RawBatch {
    rows: usize,
    tokens: usize,
    ids: Column<u32>,
    row_offsets: Column<i64>,
    type_ids: Option<Column<u8>>,
    attention_mask: Option<Column<u8>>,
    /// Offsets (two a token) and word ids.
    spans: Option<(Column<u32>, Column<i32>)>,
    sequence_ids: Option<Column<i8>>,
    samples: Option<Column<i64>>,
    numbers: Arc<Numbers>,
}

impl RawBatch {
    /// Hold what was encoded.
    pub(crate) fn new(batch: BatchIds, numbers: Arc<Numbers>) -> Self {
        let mut sequences = None;
        let spans = batch.spans.map(|Spans { offsets, word_ids, sequence_ids }| {
            sequences = sequence_ids;
            (Column::of(offsets.into_flattened()), Column::of(word_ids))
        });
        Self {
            rows: batch.row_offsets.len().saturating_sub(1),
            tokens: batch.ids.len(),
            ids: Column::of(batch.ids),
            row_offsets: Column::of(batch.row_offsets),
            type_ids: batch.type_ids.map(Column::of),
            attention_mask: batch.attention_mask.map(Column::of),
            spans,
            sequence_ids: sequences.map(Column::of),
            samples: batch.samples.map(Column::of),
            numbers,
        }
    }
}

#[catch_panics]
#[pymethods]
impl RawBatch {
    #[staticmethod]
    #[pyo3(signature = (
        ids, row_offsets, type_ids=None, attention_mask=None, offsets=None, word_ids=None,
        sequence_ids=None, samples=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "one for each column")]
    fn of_arrays(
        ids: Bound<'_, PyArray1<u32>>,
        row_offsets: Bound<'_, PyArray1<i64>>,
        type_ids: Option<Bound<'_, PyArray1<u8>>>,
        attention_mask: Option<Bound<'_, PyArray1<u8>>>,
        offsets: Option<Bound<'_, PyArray1<u32>>>,
        word_ids: Option<Bound<'_, PyArray1<i32>>>,
        sequence_ids: Option<Bound<'_, PyArray1<i8>>>,
        samples: Option<Bound<'_, PyArray1<i64>>>,
    ) -> PyResult<Self> {
        Ok(Self {
            rows: row_offsets.len()?.saturating_sub(1),
            tokens: ids.len()?,
            ids: Column::of_array(ids),
            row_offsets: Column::of_array(row_offsets),
            type_ids: type_ids.map(Column::of_array),
            attention_mask: attention_mask.map(Column::of_array),
            spans: offsets.map(Column::of_array).zip(word_ids.map(Column::of_array)),
            sequence_ids: sequence_ids.map(Column::of_array),
            samples: samples.map(Column::of_array),
            numbers: Arc::default(),
        })
    }

    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        self.ids.array(py).cloned()
    }

    #[getter]
    fn row_offsets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        self.row_offsets.array(py).cloned()
    }

    #[getter]
    fn type_ids<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<u8>>>> {
        self.type_ids.as_ref().map(|types| types.array(py).cloned()).transpose()
    }

    #[getter]
    fn attention_mask<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<u8>>>> {
        self.attention_mask.as_ref().map(|mask| mask.array(py).cloned()).transpose()
    }

    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<u32>>>> {
        self.spans.as_ref().map(|(offsets, _)| offsets.array(py).cloned()).transpose()
    }

    #[getter]
    fn word_ids<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<i32>>>> {
        self.spans.as_ref().map(|(_, words)| words.array(py).cloned()).transpose()
    }

    #[getter]
    fn sequence_ids<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<i8>>>> {
        self.sequence_ids.as_ref().map(|sequences| sequences.array(py).cloned()).transpose()
    }

    #[getter]
    fn samples<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<i64>>>> {
        self.samples.as_ref().map(|samples| samples.array(py).cloned()).transpose()
    }

    #[getter]
    fn token_count(&self) -> usize {
        self.tokens
    }

    /// A list of ids for each row.
    fn lists<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.ids.read(py, |ids| {
            let rows = self.row_offsets.read(py, |offsets| rows(ids, offsets))??;
            let lists = rows.into_iter().map(|row| self.numbers.list(py, row.iter().copied()));
            PyList::new(py, lists.collect::<PyResult<Vec<_>>>()?)
        })?
    }

    /// The ids of one row.
    fn row<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyList>> {
        self.ids.read(py, |ids| {
            let of_row = |offsets: &[i64]| offsets.get(row..row + 2).map(|two| rows(ids, two));
            let found = self.row_offsets.read(py, of_row)?.ok_or_else(|| PyIndexError::new_err(row))?;
            self.numbers.list(py, found?.into_iter().flatten().copied().collect::<Vec<_>>().into_iter())
        })?
    }

    fn __len__(&self) -> usize {
        self.rows
    }
}

/// The ids of each row.
pub(crate) fn rows<'i>(ids: &'i [u32], row_offsets: &[i64]) -> PyResult<Vec<&'i [u32]>> {
    let row = |two: &[i64]| {
        let (start, end) = (usize::try_from(two[0]).ok()?, usize::try_from(two[1]).ok()?);
        ids.get(start..end)
    };
    let rows: Option<Vec<&[u32]>> = row_offsets.windows(2).map(row).collect();
    rows.ok_or_else(|| {
        bad_argument("row_offsets", "an offset beyond the ids", "rising offsets within the ids")
    })
}

/// Values in Rust's memory until an array of them is asked for, which then owns them.
struct Column<T> {
    values: Mutex<Option<Arc<Vec<T>>>>,
    array: PyOnceLock<Py<PyArray1<T>>>,
}

impl<T: Element + Clone> Column<T> {
    fn of(values: Vec<T>) -> Self {
        Self { values: Mutex::new(Some(Arc::new(values))), array: PyOnceLock::new() }
    }

    fn of_array(array: Bound<'_, PyArray1<T>>) -> Self {
        let column = Self { values: Mutex::new(None), array: PyOnceLock::new() };
        column.array.get_or_init(array.py(), || array.clone().unbind());
        column
    }

    /// The array; nothing is copied unless somebody is reading the values right now.
    fn array<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyArray1<T>>> {
        if self.array.get(py).is_none() {
            need_numpy(py)?;
        }
        let made = self.array.get_or_init(py, || {
            let values = self.values().take().map_or_else(Vec::new, Arc::unwrap_or_clone);
            values.into_pyarray(py).unbind()
        });
        Ok(made.bind(py))
    }

    /// Read the values, those of the array once there is one.
    fn read<R>(&self, py: Python<'_>, work: impl FnOnce(&[T]) -> R) -> PyResult<R> {
        let values = self.values().clone();
        match values {
            Some(values) => Ok(work(&values)),
            None => Ok(work(self.array(py)?.try_readonly()?.as_slice()?)),
        }
    }

    /// Locked for a moment, in which nothing of Python runs.
    fn values(&self) -> MutexGuard<'_, Option<Arc<Vec<T>>>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
