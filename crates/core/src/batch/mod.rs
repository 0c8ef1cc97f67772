//! Many texts at once: shared out over threads by bytes, gathered in order.

mod count;
mod shares;

pub use count::{Lines, Sentences, WordCounter};

use std::ops::Range;
use std::sync::Mutex;

use crate::encoding::padded_length;
use crate::error::Error;
use crate::pipeline::{Input, Options, Pipeline, Scratch};
use crate::spec::Direction;
use shares::{shares, work_on, Stop};

/// Flat ids of many rows; row `i` is `ids[row_offsets[i]..row_offsets[i + 1]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchIds {
    /// All ids.
    pub ids: Vec<u32>,
    /// Where rows start, and the end.
    pub row_offsets: Vec<i64>,
    /// Type ids, when any can differ from 0.
    pub type_ids: Option<Vec<u8>>,
    /// 1 for tokens and 0 for padding, when there is padding.
    pub attention_mask: Option<Vec<u8>>,
}

/// A pipeline with the scratches of the threads that have used it, kept warm between calls.
#[derive(Debug)]
pub struct Encoder {
    pipeline: Pipeline,
    idle: Mutex<Vec<Scratch>>,
}

impl Encoder {
    /// Wrap a pipeline.
    #[must_use]
    pub fn new(pipeline: Pipeline) -> Self {
        Self { pipeline, idle: Mutex::default() }
    }

    /// The pipeline.
    #[must_use]
    pub fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// Run `work` with a scratch that no other thread has.
    ///
    /// Never waits: a store that is in use, or was when this process was forked, is passed by.
    pub fn with_scratch<R>(&self, work: impl FnOnce(&mut Scratch) -> R) -> R {
        let taken = self.idle.try_lock().ok().and_then(|mut idle| idle.pop());
        let mut scratch = taken.unwrap_or_else(|| self.pipeline.scratch());
        let result = work(&mut scratch);
        if let Ok(mut idle) = self.idle.try_lock() {
            idle.push(scratch);
        }
        result
    }

    /// Encode every text, with its pair where given; `workers` threads at the most.
    ///
    /// An error names the row it belongs to.
    pub fn encode(
        &self,
        inputs: &[Input<'_>],
        pairs: Option<&[Input<'_>]>,
        options: Options<'_>,
        workers: usize,
    ) -> Result<BatchIds, Error> {
        let parts = self.share_out(inputs, workers, |rows, stop, scratch| {
            self.encode_rows(inputs, pairs, options, (rows, stop), scratch)
        })?;
        let batch = gather(parts);
        Ok(match self.pipeline.padding() {
            Some(_) => self.padded(&batch),
            None => batch,
        })
    }

    /// Count the tokens of every text.
    pub fn count(
        &self,
        inputs: &[Input<'_>],
        options: Options<'_>,
        workers: usize,
    ) -> Result<Vec<i64>, Error> {
        let parts = self.share_out(inputs, workers, |rows, stop, scratch| {
            let mut ids = Vec::new();
            let mut count = |row: usize| {
                ids.clear();
                self.pipeline.row_into(inputs[row], None, options.at_row(row), scratch, &mut ids, None)?;
                Ok(ids.len() as i64)
            };
            let named_count = |row| count(row).map_err(|error: Error| named(error, row));
            stop.rows(rows).map(named_count).collect::<Result<Vec<i64>, Error>>()
        });
        Ok(parts?.concat())
    }

    fn encode_rows(
        &self,
        inputs: &[Input<'_>],
        pairs: Option<&[Input<'_>]>,
        options: Options<'_>,
        (rows, stop): (Range<usize>, &Stop),
        scratch: &mut Scratch,
    ) -> Result<BatchIds, Error> {
        let bytes: usize = inputs[rows.clone()].iter().map(|input| input.bytes()).sum();
        let with_types = self.pipeline.has_type_ids(pairs.is_some());
        let mut part = BatchIds {
            ids: Vec::with_capacity(bytes / 4 + 16),
            row_offsets: Vec::with_capacity(rows.len() + 1),
            type_ids: with_types.then(Vec::new),
            attention_mask: None,
        };
        part.row_offsets.push(0);
        for row in stop.rows(rows) {
            let pair = pairs.map(|pairs| pairs[row]);
            self.pipeline
                .row_into(
                    inputs[row],
                    pair,
                    options.at_row(row),
                    scratch,
                    &mut part.ids,
                    part.type_ids.as_mut(),
                )
                .map_err(|error| named(error, row))?;
            part.row_offsets.push(part.ids.len() as i64);
        }
        Ok(part)
    }

    /// Cut the rows into runs of about equal bytes and work on each in a thread of its own.
    fn share_out<R: Send>(
        &self,
        inputs: &[Input<'_>],
        workers: usize,
        work: impl Fn(Range<usize>, &Stop, &mut Scratch) -> Result<R, Error> + Sync,
    ) -> Result<Vec<R>, Error> {
        let sizes: Vec<usize> = inputs.iter().map(|input| input.bytes()).collect();
        work_on(shares(&sizes, workers), |rows, stop| {
            self.with_scratch(|scratch| work(rows, stop, scratch))
        })
    }

    fn padded(&self, batch: &BatchIds) -> BatchIds {
        let Some(padding) = self.pipeline.padding() else { return batch.clone() };
        let lengths = batch.row_offsets.windows(2).map(|two| (two[1] - two[0]) as usize);
        let target = padded_length(lengths.clone().max().unwrap_or(0), padding);
        let mut filled = BatchIds {
            row_offsets: vec![0],
            type_ids: batch.type_ids.as_ref().map(|_| Vec::new()),
            attention_mask: Some(Vec::new()),
            ids: Vec::with_capacity(lengths.map(|length| length.max(target)).sum()),
        };
        for two in batch.row_offsets.windows(2) {
            let row = two[0] as usize..two[1] as usize;
            let missing = target.saturating_sub(row.len());
            let type_id = padding.pad_type_id as u8;
            fill(&mut filled.ids, &batch.ids[row.clone()], padding.pad_id, missing, padding.direction);
            if let (Some(out), Some(types)) = (&mut filled.type_ids, &batch.type_ids) {
                fill(out, &types[row.clone()], type_id, missing, padding.direction);
            }
            if let Some(mask) = &mut filled.attention_mask {
                fill(mask, &vec![1; row.len()], 0, missing, padding.direction);
            }
            filled.row_offsets.push(filled.ids.len() as i64);
        }
        filled
    }
}

/// Append `row` with `missing` times `filling` on the given side.
fn fill<T: Copy>(out: &mut Vec<T>, row: &[T], filling: T, missing: usize, side: Direction) {
    let filling = std::iter::repeat_n(filling, missing);
    match side {
        Direction::Left => {
            out.extend(filling);
            out.extend_from_slice(row);
        }
        Direction::Right => {
            out.extend_from_slice(row);
            out.extend(filling);
        }
    }
}

fn named(error: Error, row: usize) -> Error {
    error.within(&format!("texts[{row}]"))
}

fn gather(mut parts: Vec<BatchIds>) -> BatchIds {
    if parts.len() == 1 {
        return parts.swap_remove(0);
    }
    let mut whole = BatchIds {
        ids: Vec::with_capacity(parts.iter().map(|part| part.ids.len()).sum()),
        row_offsets: vec![0],
        type_ids: parts.first().and_then(|part| part.type_ids.as_ref()).map(|_| Vec::new()),
        attention_mask: None,
    };
    for part in parts {
        let before = whole.ids.len() as i64;
        whole.row_offsets.extend(part.row_offsets[1..].iter().map(|offset| before + offset));
        whole.ids.extend_from_slice(&part.ids);
        if let (Some(all), Some(types)) = (&mut whole.type_ids, part.type_ids) {
            all.extend_from_slice(&types);
        }
    }
    whole
}
