//! Encoded batches: flat columns that are converted into numpy arrays at their first use, or into lists without numpy.

use std::sync::Arc;

use numpy::PyArray1;
use piecework_catch_panics::catch_panics;
use piecework_core::engine::batch::BatchIds;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::batch_columns::BatchColumns;
use crate::encoding::{Encoding, Row};
use crate::lazy_array::LazyArray;
use crate::numbers::Numbers;

/// The columns of an encoded batch.
#[pyclass(frozen, module = "piecework._core")]
pub struct RawBatch {
    columns: Arc<BatchColumns>,
}

impl RawBatch {
    /// Wrap the result of the encoder.
    pub(crate) fn new(batch: BatchIds, numbers: Arc<Numbers>) -> Self {
        Self { columns: Arc::new(BatchColumns::of(batch, numbers)) }
    }
}

#[catch_panics]
#[pymethods]
impl RawBatch {
    /// Wrap contiguous arrays.
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
        let columns = BatchColumns {
            rows: row_offsets.len()?.saturating_sub(1),
            tokens: ids.len()?,
            ids: LazyArray::of_array(ids),
            row_offsets: LazyArray::of_array(row_offsets),
            type_ids: type_ids.map(LazyArray::of_array),
            attention_mask: attention_mask.map(LazyArray::of_array),
            spans: offsets.map(LazyArray::of_array).zip(word_ids.map(LazyArray::of_array)),
            sequence_ids: sequence_ids.map(LazyArray::of_array),
            samples: samples.map(LazyArray::of_array),
            numbers: Arc::default(),
        };
        Ok(Self { columns: Arc::new(columns) })
    }

    /// Ids of all rows.
    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        self.columns.ids.array(py).cloned()
    }

    /// The index of the first token of each row, and the number of tokens.
    #[getter]
    fn row_offsets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        self.columns.row_offsets.array(py).cloned()
    }

    /// Type ids, None when all are 0.
    #[getter]
    fn type_ids<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<u8>>>> {
        self.columns.type_ids.as_ref().map(|types| types.array(py).cloned()).transpose()
    }

    /// 1 for tokens and 0 for padding, None without padding.
    #[getter]
    fn attention_mask<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<u8>>>> {
        self.columns.attention_mask.as_ref().map(|mask| mask.array(py).cloned()).transpose()
    }

    /// Start and end of each token, None unless encoded with `offsets`.
    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<u32>>>> {
        self.columns.spans.as_ref().map(|(offsets, _)| offsets.array(py).cloned()).transpose()
    }

    /// The word of each token or -1, None unless encoded with `offsets`.
    #[getter]
    fn word_ids<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<i32>>>> {
        self.columns.spans.as_ref().map(|(_, words)| words.array(py).cloned()).transpose()
    }

    /// The sequence of each token or -1, None unless encoded with `offsets` and pairs.
    #[getter]
    fn sequence_ids<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<i8>>>> {
        self.columns.sequence_ids.as_ref().map(|sequences| sequences.array(py).cloned()).transpose()
    }

    /// The index of the text of each row, None unless encoded with `overflow`.
    #[getter]
    fn samples<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<i64>>>> {
        self.columns.samples.as_ref().map(|samples| samples.array(py).cloned()).transpose()
    }

    /// The number of tokens of all rows.
    #[getter]
    fn token_count(&self) -> usize {
        self.columns.tokens
    }

    /// Return a list of ids for each row.
    fn lists<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.columns.lists(py)
    }

    /// Return the ids of one row.
    fn row<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyList>> {
        self.columns.row(py, row)
    }

    /// Return one row as an `Encoding`; `token_of` maps an id to its token.
    fn encoding(
        slf: &Bound<'_, Self>,
        row: usize,
        token_of: Py<PyAny>,
        pad_token: String,
    ) -> PyResult<Encoding> {
        if row >= slf.get().columns.rows {
            return Err(PyIndexError::new_err(row));
        }
        let columns = Arc::clone(&slf.get().columns);
        Encoding::of_row(slf.py(), Row { columns, row, token_of, pad_token })
    }

    fn __len__(&self) -> usize {
        self.columns.rows
    }
}
