//! What an `Encoding` makes its columns from.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use numpy::Element;
use piecework_core::encoding::{Encoding as Fields, Token, NONE};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use super::column::Column;
use super::text_source::TextSource;
use crate::batch::{LazyArray, RawBatch};
use crate::errors::bad_argument;
use crate::shared_tokenizer::SharedTokenizer;

/// What an `Encoding` makes its columns from.
pub(super) enum Source {
    /// The text; a second pass aligns the ids with it.
    Text(TextSource),
    /// Every field.
    Fields { tokenizer: Arc<SharedTokenizer>, fields: Fields },
    /// A row of a batch.
    Row(Row),
    /// The lists alone, with the number of sequences if it is known.
    Lists { n_sequences: Option<usize> },
}

impl Source {
    /// Return the string of a token.
    pub(super) fn text_of(&self, py: Python<'_>, token: &Token) -> PyResult<Cow<'_, str>> {
        match self {
            Self::Text(source) => Ok(source.tokenizer.token(token).into()),
            Self::Fields { tokenizer, .. } => Ok(tokenizer.token(token).into()),
            Self::Row(row) if token.attention => {
                let text: Option<String> = row.token_of.call1(py, (token.id,))?.extract(py)?;
                Ok(text.unwrap_or_default().into())
            }
            Self::Row(row) => Ok((&*row.pad_token).into()),
            Self::Lists { .. } => Ok(Cow::default()),
        }
    }
}

/// A row of a batch.
pub(super) struct Row {
    pub(super) batch: Py<RawBatch>,
    pub(super) row: usize,
    /// Maps an id to its token.
    pub(super) token_of: Py<PyAny>,
    pub(super) pad_token: String,
}

impl Row {
    /// Return 1, or 2 if the batch has pairs; `None` for a batch without spans.
    pub(super) fn n_sequences(&self) -> Option<usize> {
        let batch = self.batch.get();
        batch.word_ids.as_ref().map(|_| 1 + usize::from(batch.sequence_ids.is_some()))
    }

    /// Return whether the batch has what a column is made from.
    pub(super) fn has(&self, column: Column) -> bool {
        let batch = self.batch.get();
        match column {
            Column::Tokens | Column::TypeIds | Column::AttentionMask => true,
            Column::Offsets | Column::WordIds | Column::SequenceIds | Column::SpecialTokensMask => {
                batch.offsets.is_some() && batch.word_ids.is_some()
            }
            Column::Overflowing => batch.samples.is_some(),
            Column::Pieces | Column::ByteOffsets | Column::Utf16Offsets => false,
        }
    }

    /// Return the tokens of the row, with defaults for columns that the batch does not have.
    pub(super) fn tokens(&self, py: Python<'_>) -> PyResult<Vec<Token>> {
        let (batch, row) = (self.batch.get(), self.range(py)?);
        let ids = values(py, Some(&batch.ids), &row, 1, 0)?;
        let types = values(py, batch.type_ids.as_ref(), &row, 1, 0)?;
        let mask = values(py, batch.attention_mask.as_ref(), &row, 1, 1)?;
        let offsets = values(py, batch.offsets.as_ref(), &row, 2, 0)?;
        let words = values(py, batch.word_ids.as_ref(), &row, 1, -1)?;
        // Without pairs, every token of a word belongs to sequence 0.
        let sequences = match &batch.sequence_ids {
            Some(sequences) => values(py, Some(sequences), &row, 1, -1)?,
            None => words.iter().map(|&word| if word < 0 { -1 } else { 0 }).collect(),
        };
        let token = |at: usize| Token {
            id: ids[at],
            type_id: types[at].into(),
            start: offsets[2 * at],
            end: offsets[2 * at + 1],
            word: u32::try_from(words[at]).unwrap_or(NONE),
            sequence: u32::try_from(sequences[at]).unwrap_or(NONE),
            spaces: NONE,
            special: sequences[at] < 0,
            attention: mask[at] != 0,
        };
        Ok((0..ids.len()).map(token).collect())
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

/// Copy the values of a row from a column with `width` values for each token; `default` without a column.
fn values<T: Element + Copy>(
    py: Python<'_>,
    column: Option<&LazyArray<T>>,
    row: &Range<usize>,
    width: usize,
    default: T,
) -> PyResult<Vec<T>> {
    let Some(column) = column else { return Ok(vec![default; row.len() * width]) };
    let of_row = |values: &[T]| Some(values.get(row.start * width..row.end * width)?.to_vec());
    column.read(py, of_row)?.ok_or_else(|| {
        let expected = "ascending offsets up to the number of tokens";
        bad_argument("row_offsets", "an offset beyond the tokens", expected)
    })
}
