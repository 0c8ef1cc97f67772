//! The columns of an encoded batch.

use std::sync::Arc;

use piecework_core::engine::batch::{BatchIds, Spans};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::errors::bad_argument;
use crate::lazy_array::LazyArray;
use crate::numbers::Numbers;

/// The columns of an encoded batch, for the batch and its rows.
pub(crate) struct BatchColumns {
    pub(crate) rows: usize,
    pub(crate) tokens: usize,
    pub(crate) ids: LazyArray<u32>,
    pub(crate) row_offsets: LazyArray<i64>,
    pub(crate) type_ids: Option<LazyArray<u8>>,
    pub(crate) attention_mask: Option<LazyArray<u8>>,
    /// Offsets, two for each token, and word ids.
    pub(crate) spans: Option<(LazyArray<u32>, LazyArray<i32>)>,
    pub(crate) sequence_ids: Option<LazyArray<i8>>,
    pub(crate) samples: Option<LazyArray<i64>>,
    pub(crate) numbers: Arc<Numbers>,
}

impl BatchColumns {
    /// Wrap the result of the encoder.
    pub(crate) fn of(batch: BatchIds, numbers: Arc<Numbers>) -> Self {
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

    /// Return a list of ids for each row.
    pub(crate) fn lists<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.ids.read(py, |ids| {
            let rows = self.row_offsets.read(py, |offsets| rows(ids, offsets))??;
            let lists = rows.into_iter().map(|row| self.numbers.list(py, row.iter().copied()));
            PyList::new(py, lists.collect::<PyResult<Vec<_>>>()?)
        })?
    }

    /// Return the ids of one row.
    pub(crate) fn row<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyList>> {
        self.ids.read(py, |ids| {
            let of_row = |offsets: &[i64]| offsets.get(row..row + 2).map(|two| rows(ids, two));
            let found = self.row_offsets.read(py, of_row)?.ok_or_else(|| PyIndexError::new_err(row))?;
            self.numbers.list(py, found?.into_iter().flatten().copied().collect::<Vec<_>>().into_iter())
        })?
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
