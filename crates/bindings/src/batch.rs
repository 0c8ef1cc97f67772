//! Encoded batches: flat columns that are converted into numpy arrays at their first use, or into lists without numpy.

use std::ops::Range;
use std::sync::Arc;

use numpy::{Element, PyArray1};
use piecework_catch_panics::catch_panics;
use piecework_core::batch::{BatchIds, Spans};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::encoding::{Column, Encoding};
use crate::errors::bad_argument;
use crate::lazy_array::LazyArray;
use crate::numbers::Numbers;

/// The columns of an encoded batch.
#[pyclass(frozen, module = "piecework._core")]
pub struct RawBatch {
    rows: usize,
    tokens: usize,
    ids: LazyArray<u32>,
    row_offsets: LazyArray<i64>,
    type_ids: Option<LazyArray<u8>>,
    attention_mask: Option<LazyArray<u8>>,
    /// Offsets, two for each token, and word ids.
    spans: Option<(LazyArray<u32>, LazyArray<i32>)>,
    sequence_ids: Option<LazyArray<i8>>,
    samples: Option<LazyArray<i64>>,
    numbers: Arc<Numbers>,
}

impl RawBatch {
    /// Wrap the result of the encoder.
    pub(crate) fn new(batch: BatchIds, numbers: Arc<Numbers>) -> Self {
        let mut sequences = None;
        let spans = batch.spans.map(|Spans { offsets, word_ids, sequence_ids }| {
            sequences = sequence_ids;
            (LazyArray::of(offsets.into_flattened()), LazyArray::of(word_ids))
        });
        Self {
            rows: batch.row_offsets.len().saturating_sub(1),
            tokens: batch.ids.len(),
            ids: LazyArray::of(batch.ids),
            row_offsets: LazyArray::of(batch.row_offsets),
            type_ids: batch.type_ids.map(LazyArray::of),
            attention_mask: batch.attention_mask.map(LazyArray::of),
            spans,
            sequence_ids: sequences.map(LazyArray::of),
            samples: batch.samples.map(LazyArray::of),
            numbers,
        }
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
        Ok(Self {
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
        })
    }

    /// Ids of all rows.
    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        self.ids.array(py).cloned()
    }

    /// The index of the first token of each row, and the number of tokens.
    #[getter]
    fn row_offsets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        self.row_offsets.array(py).cloned()
    }

    /// Type ids, None when all are 0.
    #[getter]
    fn type_ids<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<u8>>>> {
        self.type_ids.as_ref().map(|types| types.array(py).cloned()).transpose()
    }

    /// 1 for tokens and 0 for padding, None without padding.
    #[getter]
    fn attention_mask<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<u8>>>> {
        self.attention_mask.as_ref().map(|mask| mask.array(py).cloned()).transpose()
    }

    /// Start and end of each token, None unless encoded with `offsets`.
    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<u32>>>> {
        self.spans.as_ref().map(|(offsets, _)| offsets.array(py).cloned()).transpose()
    }

    /// The word of each token or -1, None unless encoded with `offsets`.
    #[getter]
    fn word_ids<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<i32>>>> {
        self.spans.as_ref().map(|(_, words)| words.array(py).cloned()).transpose()
    }

    /// The sequence of each token or -1, None unless encoded with `offsets` and pairs.
    #[getter]
    fn sequence_ids<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<i8>>>> {
        self.sequence_ids.as_ref().map(|sequences| sequences.array(py).cloned()).transpose()
    }

    /// The index of the text of each row, None unless encoded with `overflow`.
    #[getter]
    fn samples<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<i64>>>> {
        self.samples.as_ref().map(|samples| samples.array(py).cloned()).transpose()
    }

    /// The number of tokens of all rows.
    #[getter]
    fn token_count(&self) -> usize {
        self.tokens
    }

    /// Return a list of ids for each row.
    fn lists<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.ids.read(py, |ids| {
            let rows = self.row_offsets.read(py, |offsets| rows(ids, offsets))??;
            let lists = rows.into_iter().map(|row| self.numbers.list(py, row.iter().copied()));
            PyList::new(py, lists.collect::<PyResult<Vec<_>>>()?)
        })?
    }

    /// Return the ids of one row.
    fn row<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyList>> {
        self.ids.read(py, |ids| {
            let of_row = |offsets: &[i64]| offsets.get(row..row + 2).map(|two| rows(ids, two));
            let found = self.row_offsets.read(py, of_row)?.ok_or_else(|| PyIndexError::new_err(row))?;
            self.numbers.list(py, found?.into_iter().flatten().copied().collect::<Vec<_>>().into_iter())
        })?
    }

    /// Return one row as an `Encoding`; `token_of` maps an id to its token.
    fn encoding(
        slf: &Bound<'_, Self>,
        row: usize,
        token_of: Py<PyAny>,
        pad_token: String,
    ) -> PyResult<Encoding> {
        if row >= slf.get().rows {
            return Err(PyIndexError::new_err(row));
        }
        Encoding::of_row(slf.py(), Row { batch: slf.clone().unbind(), row, token_of, pad_token })
    }

    fn __len__(&self) -> usize {
        self.rows
    }
}

/// A row of a batch. Its columns are converted into lists at their first use.
pub(crate) struct Row {
    batch: Py<RawBatch>,
    row: usize,
    token_of: Py<PyAny>,
    pad_token: String,
}

impl Row {
    /// Return the ids.
    pub(crate) fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.batch.get().row(py, self.row)
    }

    /// Return 1, or 2 if the batch has pairs; `None` for a batch without spans.
    pub(crate) fn n_sequences(&self, py: Python<'_>) -> PyResult<Option<usize>> {
        let batch = self.batch.bind(py).get();
        Ok(batch.spans.as_ref().map(|_| 1 + usize::from(batch.sequence_ids.is_some())))
    }

    /// Return a column as a list; `None` for a column that the batch does not have.
    pub(crate) fn list<'py>(
        &self,
        py: Python<'py>,
        column: Column,
    ) -> PyResult<Option<Bound<'py, PyList>>> {
        let batch = self.batch.bind(py).get();
        let Some((offsets, words)) = &batch.spans else {
            return self.list_without_spans(py, batch, column);
        };
        let list = match column {
            Column::Offsets => {
                let flat = self.items(py, offsets, 2, |number| number)?;
                PyList::new(py, flat.chunks(2).map(|two| (two[0], two[1])))?
            }
            Column::WordIds => PyList::new(py, self.items(py, words, 1, |word| u32::try_from(word).ok())?)?,
            Column::SequenceIds => PyList::new(py, self.sequences(py, batch, words)?)?,
            Column::SpecialTokensMask => {
                let sequences = self.sequences(py, batch, words)?;
                PyList::new(py, sequences.iter().map(|sequence| u8::from(sequence.is_none())))?
            }
            _ => return self.list_without_spans(py, batch, column),
        };
        Ok(Some(list))
    }

    /// Return a column that does not depend on spans as a list.
    fn list_without_spans<'py>(
        &self,
        py: Python<'py>,
        batch: &RawBatch,
        column: Column,
    ) -> PyResult<Option<Bound<'py, PyList>>> {
        let list = match column {
            Column::Tokens => self.tokens(py, batch)?,
            Column::TypeIds => PyList::new(py, self.items_or(py, batch.type_ids.as_ref(), 0)?)?,
            Column::AttentionMask => PyList::new(py, self.items_or(py, batch.attention_mask.as_ref(), 1)?)?,
            Column::Overflowing if batch.samples.is_some() => PyList::empty(py),
            _ => return Ok(None),
        };
        Ok(Some(list))
    }

    /// Return the tokens as strings; padding has the pad token.
    fn tokens<'py>(&self, py: Python<'py>, batch: &RawBatch) -> PyResult<Bound<'py, PyList>> {
        let mask = self.items_or(py, batch.attention_mask.as_ref(), 1)?;
        let token = |(id, is_token): (u32, u8)| match is_token {
            0 => Ok(self.pad_token.clone()),
            _ => Ok(self.token_of.call1(py, (id,))?.extract::<Option<String>>(py)?.unwrap_or_default()),
        };
        let ids = self.items(py, &batch.ids, 1, |id| id)?;
        PyList::new(py, ids.into_iter().zip(mask).map(token).collect::<PyResult<Vec<String>>>()?)
    }

    /// Return the sequence of each token. Without pairs, every token of a word belongs to sequence 0.
    fn sequences(
        &self,
        py: Python<'_>,
        batch: &RawBatch,
        words: &LazyArray<i32>,
    ) -> PyResult<Vec<Option<u8>>> {
        match &batch.sequence_ids {
            Some(sequences) => self.items(py, sequences, 1, |sequence| u8::try_from(sequence).ok()),
            None => self.items(py, words, 1, |word| (word >= 0).then_some(0)),
        }
    }

    /// Return the values of the row in a column, or `default` for each token without the column.
    fn items_or(&self, py: Python<'_>, column: Option<&LazyArray<u8>>, default: u8) -> PyResult<Vec<u8>> {
        match column {
            Some(column) => self.items(py, column, 1, |value| value),
            None => Ok(vec![default; self.range(py)?.len()]),
        }
    }

    /// Convert the values of the row in a column with `width` values for each token.
    fn items<T: Element + Copy, R>(
        &self,
        py: Python<'_>,
        column: &LazyArray<T>,
        width: usize,
        convert: impl Fn(T) -> R,
    ) -> PyResult<Vec<R>> {
        let range = self.range(py)?;
        column.read(py, |values| {
            let of_row = values.get(range.start * width..range.end * width);
            let outside = || {
                bad_argument(
                    "row_offsets",
                    "an offset beyond the tokens",
                    "ascending offsets up to the number of tokens",
                )
            };
            Ok(of_row.ok_or_else(outside)?.iter().map(|&value| convert(value)).collect())
        })?
    }

    /// Return the indices of the tokens of the row.
    fn range(&self, py: Python<'_>) -> PyResult<Range<usize>> {
        let bounds = |offsets: &[i64]| Some((*offsets.get(self.row)?, *offsets.get(self.row + 1)?));
        let found = self.batch.get().row_offsets.read(py, bounds)?;
        let range =
            found.and_then(|(start, end)| Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?));
        range.ok_or_else(|| PyIndexError::new_err(self.row))
    }
}

/// Return the ids of each row.
pub(crate) fn rows<'i>(ids: &'i [u32], row_offsets: &[i64]) -> PyResult<Vec<&'i [u32]>> {
    let row = |two: &[i64]| {
        let (start, end) = (usize::try_from(two[0]).ok()?, usize::try_from(two[1]).ok()?);
        ids.get(start..end)
    };
    let rows: Option<Vec<&[u32]>> = row_offsets.windows(2).map(row).collect();
    rows.ok_or_else(|| {
        bad_argument("row_offsets", "an offset beyond the ids", "ascending offsets up to the number of ids")
    })
}
