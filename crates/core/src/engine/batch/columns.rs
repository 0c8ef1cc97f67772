//! The columns of a batch: appends rows and batches, and pads the rows to one length.

use crate::encoding::{padded_length, Token};
use crate::engine::Row;
use crate::spec::{Direction, Padding, Truncation};
use crate::stages::postprocess::Frame;

/// Flat ids of many rows; row `i` is `ids[row_offsets[i]..row_offsets[i + 1]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchIds {
    /// All ids.
    pub ids: Vec<u32>,
    /// The start of each row in `ids`, and the end of the last.
    pub row_offsets: Vec<i64>,
    /// Type ids, if any can differ from 0.
    pub type_ids: Option<Vec<u8>>,
    /// 1 for tokens and 0 for padding, if the rows are padded.
    pub attention_mask: Option<Vec<u8>>,
    /// Offsets, word ids and sequence ids, if requested.
    pub spans: Option<Spans>,
    /// The index of each row's text, if overflow windows are rows too.
    pub samples: Option<Vec<i64>>,
}

/// The optional columns and rows of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtraColumns {
    /// Offsets, word ids and sequence ids.
    pub spans: bool,
    /// Overflow windows of truncated texts, each as a row after the first window of its text.
    pub overflow: bool,
}

/// The positions of tokens in their texts; one item per token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spans {
    /// The first character and the one after the last; 0 and 0 for special tokens and padding.
    pub offsets: Vec<[u32; 2]>,
    /// The index of the word, or -1.
    pub word_ids: Vec<i32>,
    /// 0 or 1 for the text of a pair, or -1; `None` without pairs, because word ids are -1 for the same tokens.
    pub sequence_ids: Option<Vec<i8>>,
}

impl BatchIds {
    /// Return an empty batch with capacity for some rows and tokens.
    pub(super) fn with_capacity(
        rows: usize,
        tokens: usize,
        with_types: bool,
        extra: ExtraColumns,
        is_pair: bool,
    ) -> Self {
        let mut row_offsets = Vec::with_capacity(rows + 1);
        row_offsets.push(0);
        Self {
            ids: Vec::with_capacity(tokens),
            row_offsets,
            type_ids: with_types.then(|| Vec::with_capacity(tokens)),
            attention_mask: None,
            spans: extra.spans.then(|| Spans {
                offsets: Vec::with_capacity(tokens),
                word_ids: Vec::with_capacity(tokens),
                sequence_ids: is_pair.then(|| Vec::with_capacity(tokens)),
            }),
            samples: extra.overflow.then(|| Vec::with_capacity(rows)),
        }
    }

    /// Reserve capacity for the remaining chunks after `done` of `all` chunks of about equal bytes.
    pub(super) fn reserve_rest(&mut self, done: usize, all: usize) {
        reserve_rest(&mut self.ids, done, all);
        if let Some(type_ids) = &mut self.type_ids {
            reserve_rest(type_ids, done, all);
        }
        if let Some(Spans { offsets, word_ids, sequence_ids }) = &mut self.spans {
            reserve_rest(offsets, done, all);
            reserve_rest(word_ids, done, all);
            if let Some(sequence_ids) = sequence_ids {
                reserve_rest(sequence_ids, done, all);
            }
        }
    }

    /// Append tokens of a row.
    pub(super) fn push_tokens(&mut self, tokens: &[Token]) {
        self.ids.extend(tokens.iter().map(|token| token.id));
        if let Some(type_ids) = &mut self.type_ids {
            type_ids.extend(tokens.iter().map(|token| token.type_id as u8));
        }
        if let Some(spans) = &mut self.spans {
            spans.offsets.extend(tokens.iter().map(|token| [token.start, token.end]));
            // `NONE` has all bits set, so it becomes -1.
            spans.word_ids.extend(tokens.iter().map(|token| token.word as i32));
            if let Some(sequence_ids) = &mut spans.sequence_ids {
                sequence_ids.extend(tokens.iter().map(|token| token.sequence as i8));
            }
        }
    }

    /// Append a row of one sequence with its special tokens, all of type 0. `ids` are the ids of an aligned row.
    pub(super) fn push_row(&mut self, ids: &[u32], row: Row<'_>, frame: &Frame) {
        self.push_special(&frame.before);
        match row {
            Row::Tokens(tokens) => self.push_tokens(tokens),
            Row::Aligned { offsets, words } => {
                self.ids.extend_from_slice(ids);
                if let Some(spans) = &mut self.spans {
                    spans.offsets.extend_from_slice(offsets);
                    spans.word_ids.extend(words.iter().map(|&word| word as i32));
                }
            }
        }
        self.push_special(&frame.after);
    }

    fn push_special(&mut self, ids: &[u32]) {
        ids.iter().for_each(|&id| self.push_tokens(&[Token::inserted(id, 0, true)]));
    }

    /// Drop the tokens from `len` on, which no row has yet.
    pub(super) fn drop_tokens(&mut self, len: usize) {
        self.ids.truncate(len);
        if let Some(type_ids) = &mut self.type_ids {
            type_ids.truncate(len);
        }
        if let Some(Spans { offsets, word_ids, sequence_ids }) = &mut self.spans {
            offsets.truncate(len);
            word_ids.truncate(len);
            if let Some(sequence_ids) = sequence_ids {
                sequence_ids.truncate(len);
            }
        }
    }

    /// Truncate the ids of the rows from `first` on, between those of the frame; the batch has no other columns.
    pub(super) fn truncate_rows(&mut self, first: usize, frame: &Frame, truncation: &Truncation) {
        let Some(&start) = self.row_offsets.get(first) else { return };
        let (mut start, mut to) = (start as usize, start as usize);
        for end_offset in &mut self.row_offsets[first + 1..] {
            let end = *end_offset as usize;
            let excess = (end - start).saturating_sub(truncation.max_length);
            let dropped = match truncation.direction {
                Direction::Right => end - frame.after.len() - excess,
                Direction::Left => start + frame.before.len(),
            };
            if to < start || excess > 0 {
                self.ids.copy_within(start..dropped, to);
                self.ids.copy_within(dropped + excess..end, to + dropped - start);
            }
            (start, to) = (end, to + end - start - excess);
            *end_offset = to as i64;
        }
        self.ids.truncate(to);
    }

    /// End the current row.
    pub(super) fn end_row(&mut self) {
        self.row_offsets.push(self.ids.len() as i64);
    }

    /// Append a row: one window of the text with the index `sample`.
    pub(super) fn push_window(&mut self, tokens: &[Token], sample: usize) {
        self.push_tokens(tokens);
        self.end_row();
        if let Some(samples) = &mut self.samples {
            samples.push(sample as i64);
        }
    }

    /// Return the number of tokens of each row.
    pub(super) fn lengths(&self) -> impl Iterator<Item = i64> + Clone + '_ {
        self.row_offsets.windows(2).map(|two| two[1] - two[0])
    }

    /// Append the rows of a batch with the same columns.
    pub(super) fn append(&mut self, other: &Self) {
        let before = self.ids.len() as i64;
        self.row_offsets.extend(other.row_offsets[1..].iter().map(|offset| before + offset));
        self.ids.extend_from_slice(&other.ids);
        if let (Some(mine), Some(theirs)) = (&mut self.type_ids, &other.type_ids) {
            mine.extend_from_slice(theirs);
        }
        if let (Some(mine), Some(theirs)) = (&mut self.spans, &other.spans) {
            mine.offsets.extend_from_slice(&theirs.offsets);
            mine.word_ids.extend_from_slice(&theirs.word_ids);
            if let (Some(mine), Some(theirs)) = (&mut mine.sequence_ids, &theirs.sequence_ids) {
                mine.extend_from_slice(theirs);
            }
        }
        if let (Some(mine), Some(theirs)) = (&mut self.samples, &other.samples) {
            mine.extend_from_slice(theirs);
        }
    }

    /// Remove all rows and keep the capacity.
    pub(super) fn clear(&mut self) {
        self.row_offsets.truncate(1);
        self.ids.clear();
        if let Some(type_ids) = &mut self.type_ids {
            type_ids.clear();
        }
        if let Some(Spans { offsets, word_ids, sequence_ids }) = &mut self.spans {
            offsets.clear();
            word_ids.clear();
            if let Some(sequence_ids) = sequence_ids {
                sequence_ids.clear();
            }
        }
        if let Some(samples) = &mut self.samples {
            samples.clear();
        }
    }

    /// Return the batch with every row padded to the length that `padding` requires.
    pub(super) fn padded(&self, padding: &Padding) -> Self {
        let lengths = self.lengths().map(|length| length as usize);
        let longest = lengths.clone().max().unwrap_or(0);
        let padder = RowPadder {
            lengths: lengths.collect(),
            target: padded_length(longest, padding),
            side: padding.direction,
        };
        Self {
            ids: padder.pad(&self.ids, padding.pad_id),
            row_offsets: padder.row_offsets(),
            type_ids: self.type_ids.as_ref().map(|types| padder.pad(types, padding.pad_type_id as u8)),
            attention_mask: Some(padder.pad(&vec![1; self.ids.len()], 0)),
            spans: self.spans.as_ref().map(|spans| Spans {
                offsets: padder.pad(&spans.offsets, [0, 0]),
                word_ids: padder.pad(&spans.word_ids, -1),
                sequence_ids: spans.sequence_ids.as_ref().map(|sequences| padder.pad(sequences, -1)),
            }),
            samples: self.samples.clone(),
        }
    }
}

/// Reserve capacity for the remaining chunks, at the average length of the `done` chunks plus a margin.
fn reserve_rest<T: Copy>(column: &mut Vec<T>, done: usize, all: usize) {
    let (left, per_chunk) = (all - done, column.len().div_ceil(done));
    if left == 0 || column.capacity() - column.len() >= 2 * per_chunk {
        return;
    }
    column.reserve_exact(left * per_chunk / 8 * 9 + 2 * per_chunk);
}

/// Pads columns row by row.
struct RowPadder {
    lengths: Vec<usize>,
    target: usize,
    side: Direction,
}

impl RowPadder {
    /// Return a column with its rows padded by `pad_value`.
    fn pad<T: Copy>(&self, column: &[T], pad_value: T) -> Vec<T> {
        let mut padded = Vec::with_capacity(self.padded_lengths().sum());
        let mut start = 0;
        for &length in &self.lengths {
            let row = &column[start..start + length];
            let missing = std::iter::repeat_n(pad_value, self.target.saturating_sub(length));
            match self.side {
                Direction::Left => {
                    padded.extend(missing);
                    padded.extend_from_slice(row);
                }
                Direction::Right => {
                    padded.extend_from_slice(row);
                    padded.extend(missing);
                }
            }
            start += length;
        }
        padded
    }

    fn row_offsets(&self) -> Vec<i64> {
        let ends = self.padded_lengths().scan(0, |end, length| {
            *end += length as i64;
            Some(*end)
        });
        std::iter::once(0).chain(ends).collect()
    }

    fn padded_lengths(&self) -> impl Iterator<Item = usize> + '_ {
        self.lengths.iter().map(|&length| length.max(self.target))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_of_equal_length_reserve_once() {
        let mut column: Vec<usize> = (0..1000).collect();
        reserve_rest(&mut column, 1, 50);
        let room = column.capacity();
        for done in 2..=50 {
            column.extend(0..1000);
            reserve_rest(&mut column, done, 50);
            assert_eq!(column.capacity(), room);
        }
        assert!(column.chunks(1000).all(|chunk| chunk.iter().copied().eq(0..1000)));
    }

    #[test]
    fn word_and_sequence_ids_of_special_tokens_are_minus_one() {
        for is_pair in [true, false] {
            let mut chunk = BatchIds::with_capacity(
                1,
                0,
                false,
                ExtraColumns { spans: true, overflow: false },
                is_pair,
            );
            chunk.push_tokens(&[Token::inserted(3, 0, true)]);
            let Spans { offsets, word_ids, sequence_ids } = chunk.spans.expect("spans were requested");
            assert_eq!((offsets, word_ids), (vec![[0, 0]], vec![-1]));
            assert_eq!(sequence_ids, is_pair.then(|| vec![-1]));
        }
    }
}
