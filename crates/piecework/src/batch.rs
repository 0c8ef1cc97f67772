//! The ids of many texts in flat columns.

use std::ops::Range;

use piecework_core::encoding::{NONE, Token};
use piecework_core::engine::batch::{BatchIds, Spans};

use crate::offsets::offsets_in_unit;
use crate::{EncodeInput, OffsetUnit};

/// Many encoded texts: rows of ids in one column, and further columns with an item for each id.
///
/// ```
/// use piecework::Tokenizer;
///
/// let tokenizer = Tokenizer::from_bytes(b"[UNK]\nto\nbe\n")?;
/// let batch = tokenizer.encode_batch(["to be", "be"])?;
/// assert_eq!(batch.ids(), [1, 2, 2]);
/// assert_eq!(batch.iter().collect::<Vec<_>>(), [&[1, 2][..], &[2]]);
/// # Ok::<(), piecework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    columns: BatchIds,
    offsets: Option<Vec<(usize, usize)>>,
}

impl Batch {
    /// Add the offsets in bytes to the columns of the core, if it has spans.
    pub(crate) fn new(columns: BatchIds, inputs: &[EncodeInput<'_>]) -> Self {
        let mut batch = Self { columns, offsets: None };
        batch.offsets = batch.spans_in(OffsetUnit::Bytes, inputs);
        batch
    }

    fn spans_in(&self, unit: OffsetUnit, inputs: &[EncodeInput<'_>]) -> Option<Vec<(usize, usize)>> {
        let spans = self.columns.spans.as_ref()?;
        let of_row = |row: usize| {
            let texts: Vec<_> = inputs[self.text_of_row(row)].texts().collect();
            offsets_in_unit(&tokens(spans, self.range(row)), &texts, unit)
        };
        Some((0..self.len()).flat_map(of_row).collect())
    }

    /// Return the number of rows: one for each text, or for each window with
    /// [`EncodeOptions::overflow`](crate::EncodeOptions::overflow).
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.row_offsets.len().saturating_sub(1)
    }

    /// Return whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Return the ids of all rows.
    #[must_use]
    pub fn ids(&self) -> &[u32] {
        &self.columns.ids
    }

    /// Return the start of each row in the columns, and the end of the last.
    #[must_use]
    pub fn row_offsets(&self) -> &[i64] {
        &self.columns.row_offsets
    }

    /// Return the position of a row in the columns.
    ///
    /// # Panics
    /// Panics if there is no such row.
    #[must_use]
    pub fn range(&self, row: usize) -> Range<usize> {
        let [start, end] = [row, row + 1].map(|at| self.columns.row_offsets[at] as usize);
        start..end
    }

    /// Return the ids of a row.
    ///
    /// # Panics
    /// Panics if there is no such row.
    #[must_use]
    pub fn row(&self, row: usize) -> &[u32] {
        &self.columns.ids[self.range(row)]
    }

    /// Return the ids of each row.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.len()).map(|row| self.row(row))
    }

    /// Return the type ids; `None` if all are 0.
    #[must_use]
    pub fn type_ids(&self) -> Option<&[u8]> {
        self.columns.type_ids.as_deref()
    }

    /// Return 1 for tokens and 0 for padding; `None` if the tokenizer does not pad.
    #[must_use]
    pub fn attention_mask(&self) -> Option<&[u8]> {
        self.columns.attention_mask.as_deref()
    }

    /// Return the byte span of each token in its text; `None` without
    /// [`EncodeOptions::offsets`](crate::EncodeOptions::offsets).
    #[must_use]
    pub fn offsets(&self) -> Option<&[(usize, usize)]> {
        self.offsets.as_deref()
    }

    /// Return the spans in another unit; `inputs` are those that were encoded. `None` without offsets.
    ///
    /// # Panics
    /// Panics if there are fewer inputs.
    #[must_use]
    pub fn offsets_in<'t, I>(&self, unit: OffsetUnit, inputs: I) -> Option<Vec<(usize, usize)>>
    where
        I: IntoIterator<Item: Into<EncodeInput<'t>>>,
    {
        self.spans_in(unit, &inputs.into_iter().map(Into::into).collect::<Vec<_>>())
    }

    /// Return the index of each token's word, or -1; `None` without offsets.
    #[must_use]
    pub fn word_ids(&self) -> Option<&[i32]> {
        self.columns.spans.as_ref().map(|spans| spans.word_ids.as_slice())
    }

    /// Return the sequence of each token, 0 or 1, or -1; `None` without offsets and without pairs.
    #[must_use]
    pub fn sequence_ids(&self) -> Option<&[i8]> {
        self.columns.spans.as_ref()?.sequence_ids.as_deref()
    }

    /// Return the index of the text of each row.
    #[must_use]
    pub fn overflow_to_sample_mapping(&self) -> Vec<usize> {
        (0..self.len()).map(|row| self.text_of_row(row)).collect()
    }

    fn text_of_row(&self, row: usize) -> usize {
        self.columns.samples.as_ref().map_or(row, |samples| samples[row] as usize)
    }
}

/// Return the tokens of a row with their spans.
fn tokens(spans: &Spans, row: Range<usize>) -> Vec<Token> {
    let token = |at: usize| {
        let word = spans.word_ids[at] as u32;
        let sequence = if word == NONE { NONE } else { 0 };
        let sequence = spans.sequence_ids.as_ref().map_or(sequence, |ids| ids[at] as u32);
        Token { sequence, ..Token::of_word(0, spans.offsets[at], word, 0) }
    };
    row.map(token).collect()
}
