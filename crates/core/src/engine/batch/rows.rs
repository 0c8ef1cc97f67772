//! The rows of a batch: the texts that they are encoded from, the columns that they are encoded into, and the chunks of
//! several threads, which are appended in order.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use piecework_kernels::code_units::CodeUnits;

use crate::encoding::{padded_length, Token};
use crate::engine::excerpts::{Cuts, Text};
use crate::engine::offsets::Row;
use crate::engine::{Input, Scratch};
use crate::error::{Error, ErrorKind};
use crate::spec::{Direction, Padding, Truncation};
use crate::stages::postprocess::Frame;

/// The largest text in bytes, as offsets have 32 bits.
pub const MAX_TEXT_BYTES: usize = u32::MAX as usize;

/// The largest character in bytes of UTF-8.
const MAX_CHAR_BYTES: usize = 4;

/// Memory that a thread keeps after a long text, in bytes.
const KEPT_BYTES: usize = 1 << 20;

/// One input, or its text as code units.
#[derive(Clone, Copy, Debug)]
pub enum Source<'t> {
    /// UTF-8.
    Input(Input<'t>),
    /// The code units of a Python string, which become UTF-8 while the text is encoded.
    Units(CodeUnits<'t>),
}

impl<'t> From<Input<'t>> for Source<'t> {
    fn from(input: Input<'t>) -> Self {
        Self::Input(input)
    }
}

impl Text for Source<'_> {
    fn units(self) -> usize {
        match self {
            Self::Input(input) => input.units(),
            Self::Units(units) => units.len(),
        }
    }

    fn is_valid(self) -> bool {
        match self {
            Self::Input(_) => true,
            Self::Units(units) => units.len() <= MAX_TEXT_BYTES / MAX_CHAR_BYTES && units.are_chars(),
        }
    }

    fn part(self, cuts: Option<&Cuts>, units: usize, side: Direction) -> Option<Self> {
        let text = match self {
            Self::Input(input) => return input.part(cuts, units, side).map(Self::Input),
            Self::Units(text) => text,
        };
        Some(Self::Units(match text {
            CodeUnits::One(text) => CodeUnits::One(part_of(text, cuts, units, side)?),
            CodeUnits::Two(text) => CodeUnits::Two(part_of(text, cuts, units, side)?),
            CodeUnits::Four(text) => CodeUnits::Four(part_of(text, cuts, units, side)?),
        }))
    }
}

fn part_of<'t, U: Copy + Into<u32>>(
    text: &'t [U],
    cuts: Option<&Cuts>,
    units: usize,
    side: Direction,
) -> Option<&'t [U]> {
    let (start, end) = cuts?.span(text, units, side)?;
    Some(&text[start..end])
}

impl Source<'_> {
    /// Return the size in bytes, estimated for code units.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Input(input) => input.bytes(),
            Self::Units(CodeUnits::One(units)) => units.len(),
            Self::Units(units) => 2 * units.len(),
        }
    }

    /// Call `work` with the input in UTF-8. An error of the conversion has the place of the text.
    #[inline]
    pub(super) fn with_input<R>(
        self,
        place: impl Fn() -> String,
        scratch: &mut Scratch,
        work: impl FnOnce(Input<'_>, &mut Scratch) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let units = match self {
            Self::Input(input) => return work(input, scratch),
            Self::Units(units) => units,
        };
        let mut text = std::mem::take(&mut scratch.text);
        let result = if !units.write_utf8(&mut text) {
            Err(Error::new(ErrorKind::Argument, place(), "a lone surrogate", "text that UTF-8 can encode"))
        } else if text.len() > MAX_TEXT_BYTES {
            let found = format!("{} bytes", text.len());
            Err(Error::new(ErrorKind::Argument, place(), found, "less than 4 GiB in one text"))
        } else {
            work(Input::Text(&text), scratch)
        };
        text.shrink_to(KEPT_BYTES);
        scratch.text = text;
        result
    }
}

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

/// A column with one item for each token.
struct Column<T> {
    /// The column of a batch, if it has it.
    of: fn(&BatchIds) -> Option<&Vec<T>>,
    of_mut: fn(&mut BatchIds) -> Option<&mut Vec<T>>,
    /// The item of a token.
    of_token: fn(&Token) -> T,
    /// The item that pads.
    padding: fn(&Padding) -> T,
}

const IDS: Column<u32> = Column {
    of: |batch| Some(&batch.ids),
    of_mut: |batch| Some(&mut batch.ids),
    of_token: |token| token.id,
    padding: |padding| padding.pad_id,
};
const TYPE_IDS: Column<u8> = Column {
    of: |batch| batch.type_ids.as_ref(),
    of_mut: |batch| batch.type_ids.as_mut(),
    of_token: |token| token.type_id as u8,
    padding: |padding| padding.pad_type_id as u8,
};
const OFFSETS: Column<[u32; 2]> = Column {
    of: |batch| batch.spans.as_ref().map(|spans| &spans.offsets),
    of_mut: |batch| batch.spans.as_mut().map(|spans| &mut spans.offsets),
    of_token: |token| [token.start, token.end],
    padding: |_| [0, 0],
};
/// `NONE` of a token has all bits set, so it becomes -1.
const WORD_IDS: Column<i32> = Column {
    of: |batch| batch.spans.as_ref().map(|spans| &spans.word_ids),
    of_mut: |batch| batch.spans.as_mut().map(|spans| &mut spans.word_ids),
    of_token: |token| token.word as i32,
    padding: |_| -1,
};
const SEQUENCE_IDS: Column<i8> = Column {
    of: |batch| batch.spans.as_ref()?.sequence_ids.as_ref(),
    of_mut: |batch| batch.spans.as_mut()?.sequence_ids.as_mut(),
    of_token: |token| token.sequence as i8,
    padding: |_| -1,
};

/// Run `$work` for each [`Column`].
macro_rules! for_each_column {
    (|$column:ident| $work:expr) => {
        for_each_column!(|$column| $work; IDS, TYPE_IDS, OFFSETS, WORD_IDS, SEQUENCE_IDS)
    };
    (|$column:ident| $work:expr; $($each:ident),*) => {{
        $(
            let $column = $each;
            $work;
        )*
    }};
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
        for_each_column!(|column| if let Some(items) = (column.of_mut)(self) {
            reserve_rest(items, done, all);
        });
    }

    /// Append tokens of a row.
    pub(super) fn push_tokens(&mut self, tokens: &[Token]) {
        for_each_column!(|column| if let Some(items) = (column.of_mut)(self) {
            items.extend(tokens.iter().map(column.of_token));
        });
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
        for_each_column!(|column| if let Some(items) = (column.of_mut)(self) {
            items.truncate(len);
        });
    }

    /// Truncate the ids of the rows from `first` on, between the frame's ids; the batch has no other columns.
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
    fn append(&mut self, other: &Self) {
        let before = self.ids.len() as i64;
        self.row_offsets.extend(other.row_offsets[1..].iter().map(|offset| before + offset));
        for_each_column!(|column| if let (Some(items), Some(more)) =
            ((column.of_mut)(self), (column.of)(other))
        {
            items.extend_from_slice(more);
        });
        if let (Some(mine), Some(theirs)) = (&mut self.samples, &other.samples) {
            mine.extend_from_slice(theirs);
        }
    }

    /// Remove all rows and keep the capacity.
    fn clear(&mut self) {
        self.row_offsets.truncate(1);
        self.drop_tokens(0);
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
        let empty = |spans: &Spans| Spans {
            sequence_ids: spans.sequence_ids.as_ref().map(|_| Vec::new()),
            ..Spans::default()
        };
        let mut padded = Self {
            ids: Vec::new(),
            row_offsets: padder.row_offsets(),
            type_ids: self.type_ids.as_ref().map(|_| Vec::new()),
            attention_mask: Some(padder.pad(&vec![1; self.ids.len()], 0)),
            spans: self.spans.as_ref().map(empty),
            samples: self.samples.clone(),
        };
        for_each_column!(|column| if let (Some(items), Some(unpadded)) =
            ((column.of_mut)(&mut padded), (column.of)(self))
        {
            *items = padder.pad(unpadded, (column.padding)(padding));
        });
        padded
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

/// A batch to which threads add chunks in any order; they are appended in order.
///
/// Chunks are small and their buffers are reused, so they stay in a processor's cache and only the batch itself needs new
/// pages. One thread copies while the others encode; no thread waits for it.
pub(super) struct OrderedCollector(Mutex<CollectorState>);

struct CollectorState {
    /// The rows so far; `None` while a thread appends to them.
    batch: Option<BatchIds>,
    /// The number of the next chunk to append.
    next: usize,
    /// The number of all chunks.
    count: usize,
    /// Chunks that were finished before their predecessors.
    done_early: BTreeMap<usize, BatchIds>,
    /// Empty buffers of chunks that were copied.
    spare: Vec<BatchIds>,
}

impl OrderedCollector {
    /// Return a collector of `count` chunks into an empty batch.
    pub(super) fn new(batch: BatchIds, count: usize) -> Self {
        let batch = Some(batch);
        Self(Mutex::new(CollectorState {
            batch,
            next: 0,
            count,
            done_early: BTreeMap::new(),
            spare: Vec::new(),
        }))
    }

    /// Return an empty buffer for a chunk, if there is one.
    pub(super) fn take_spare(&self) -> Option<BatchIds> {
        self.lock().spare.pop()
    }

    /// Add the chunk with a number, and append all chunks that are next in order unless another thread does.
    pub(super) fn add(&self, number: usize, chunk: BatchIds) {
        self.lock().done_early.insert(number, chunk);
        while let Some((mut batch, mut chunk, done, count)) = self.take_next() {
            batch.append(&chunk);
            batch.reserve_rest(done, count);
            chunk.clear();
            let state = &mut *self.lock();
            state.batch = Some(batch);
            state.spare.push(chunk);
        }
    }

    /// Remove the batch and the next chunk. Return them with the number of chunks up to this one and of all chunks.
    ///
    /// `None` if the next chunk is not finished or another thread has the batch. That thread calls this again when it has
    /// returned the batch.
    fn take_next(&self) -> Option<(BatchIds, BatchIds, usize, usize)> {
        let state = &mut *self.lock();
        let batch = state.batch.take()?;
        let Some(chunk) = state.done_early.remove(&state.next) else {
            state.batch = Some(batch);
            return None;
        };
        state.next += 1;
        Some((batch, chunk, state.next, state.count))
    }

    /// Return the batch of all chunks.
    pub(super) fn finish(self) -> BatchIds {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).batch.unwrap_or_default()
    }

    /// Lock the state; it is locked briefly, a few times per chunk.
    fn lock(&self) -> MutexGuard<'_, CollectorState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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

    fn chunk(rows: &[usize]) -> BatchIds {
        let mut chunk = BatchIds::with_capacity(
            rows.len(),
            0,
            true,
            ExtraColumns { spans: true, overflow: true },
            true,
        );
        for &tokens in rows {
            let token =
                |at: usize| Token { word: at as u32, start: 7, ..Token::inserted(at as u32, 1, true) };
            chunk.push_window(&(0..tokens).map(token).collect::<Vec<_>>(), tokens);
        }
        chunk
    }

    #[test]
    fn rows_are_padded_at_either_end() {
        let batch = chunk(&[2, 0, 3]);
        for (direction, expected) in [
            (Direction::Right, [0, 1, 9, 9, 9, 9, 0, 1, 2]),
            (Direction::Left, [9, 0, 1, 9, 9, 9, 0, 1, 2]),
        ] {
            let padding = Padding { direction, pad_type_id: 5, ..Padding::with("[PAD]", 9) };
            let padded = batch.padded(&padding);
            let or_padding = |token: u8, pad: u8| expected.map(|id| if id == 9 { pad } else { token });
            assert_eq!((padded.ids, padded.row_offsets), (expected.to_vec(), vec![0, 3, 6, 9]));
            assert_eq!(padded.type_ids, Some(or_padding(1, 5).to_vec()));
            assert_eq!(padded.attention_mask, Some(or_padding(1, 0).to_vec()));
            let spans = padded.spans.expect("spans were requested");
            assert_eq!(spans.word_ids, expected.map(|id| if id == 9 { -1 } else { id as i32 }));
            assert_eq!(spans.offsets.iter().filter(|&&span| span == [0, 0]).count(), 4);
        }
    }

    #[test]
    fn chunks_added_in_any_order_are_appended_in_order() {
        let rows: Vec<usize> = (0..200).map(|i| i * 7 % 11).collect();
        for size in [1, 3, 50, 200] {
            for step in [1, 7, 13] {
                let mut left: Vec<usize> = (0..rows.chunks(size).len()).collect();
                let collector = OrderedCollector::new(chunk(&[]), left.len());
                while !left.is_empty() {
                    let number = left.remove(step % left.len());
                    collector.add(number, chunk(rows.chunks(size).nth(number).unwrap_or_default()));
                }
                assert_eq!(collector.finish(), chunk(&rows), "{size} {step}");
            }
        }
    }

    #[test]
    fn chunks_added_by_several_threads_are_appended_in_order() {
        let rows: Vec<usize> = (0..3000).map(|i| i * 7 % 11).collect();
        let collector = OrderedCollector::new(chunk(&[]), rows.len());
        std::thread::scope(|scope| {
            for first in 0..8 {
                let (collector, rows) = (&collector, &rows);
                scope.spawn(move || {
                    (first..rows.len()).step_by(8).for_each(|at| collector.add(at, chunk(&rows[at..=at])));
                });
            }
        });
        assert_eq!(collector.finish(), chunk(&rows));
    }

    #[test]
    fn reused_buffers_are_empty() {
        let collector = OrderedCollector::new(chunk(&[]), 1);
        assert_eq!(collector.take_spare(), None);
        collector.add(0, chunk(&[2, 3]));
        assert_eq!(collector.take_spare(), Some(chunk(&[])));
    }
}
