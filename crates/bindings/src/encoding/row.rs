//! A row of an encoded batch, for its `Encoding`.

use std::ops::Range;
use std::sync::Arc;

use numpy::Element;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::column::Column;
use crate::batch_columns::BatchColumns;
use crate::errors::bad_argument;
use crate::lazy_array::LazyArray;

/// A row of a batch. Its columns are converted into lists at their first use.
pub(crate) struct Row {
    pub(crate) columns: Arc<BatchColumns>,
    pub(crate) row: usize,
    pub(crate) token_of: Py<PyAny>,
    pub(crate) pad_token: String,
}

impl Row {
    /// Return the ids.
    pub(super) fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.columns.row(py, self.row)
    }

    /// Return 1, or 2 if the batch has pairs; `None` for a batch without spans.
    pub(super) fn n_sequences(&self) -> Option<usize> {
        self.columns.spans.as_ref().map(|_| 1 + usize::from(self.columns.sequence_ids.is_some()))
    }

    /// Return a column as a list; `None` for a column that the batch does not have.
    pub(super) fn list<'py>(
        &self,
        py: Python<'py>,
        column: Column,
    ) -> PyResult<Option<Bound<'py, PyList>>> {
        let batch = &*self.columns;
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
        batch: &BatchColumns,
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
    fn tokens<'py>(&self, py: Python<'py>, batch: &BatchColumns) -> PyResult<Bound<'py, PyList>> {
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
        batch: &BatchColumns,
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
        let found = self.columns.row_offsets.read(py, bounds)?;
        let range =
            found.and_then(|(start, end)| Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?));
        range.ok_or_else(|| PyIndexError::new_err(self.row))
    }
}
