//! Many texts at once: shared out over threads by bytes, gathered in order.

mod columns;
mod offsets;
mod ordered_collector;
#[cfg(test)]
mod route_law;
#[cfg(test)]
mod tests;

pub use columns::{BatchIds, Keep, Spans};

use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

use piecework_kernels::prefetch::prefetch_read;

use crate::encode::{room_for, Input, Options, Scratch, Tokenizer};
use crate::error::Error;
use crate::locks::try_lock;
use crate::postprocess::Frame;
use crate::threads::{shares_of, work_on, Stop};
use ordered_collector::OrderedCollector;

/// How often a store that is in use is asked again.
const MAX_TRIES: usize = 1000;

/// How many bytes of a text are asked for while the text before it is encoded.
const PREFETCHED: usize = 4096;
const CACHE_LINE: usize = 64;

/// Boxed, as one is large and is taken out and put back for every short text.
type Scratches = Vec<Box<Scratch>>;

/// A tokenizer with the scratches of the threads that have used it, kept warm between calls.
#[derive(Debug)]
pub struct Encoder {
    tokenizer: Tokenizer,
    /// That of the first thread, locked as long as it works: no other lock for who is alone.
    first: Mutex<Option<Box<Scratch>>>,
    /// Those of others.
    idle: Mutex<Scratches>,
}

impl Encoder {
    /// Wrap a tokenizer.
    #[must_use]
    pub fn new(tokenizer: Tokenizer) -> Self {
        Self { tokenizer, first: Mutex::default(), idle: Mutex::default() }
    }

    /// The tokenizer.
    #[must_use]
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Run `work` with a scratch that no other thread has.
    pub fn with_scratch<R>(&self, work: impl FnOnce(&mut Scratch) -> R) -> R {
        if let Some(mut first) = try_lock(&self.first) {
            return work(first.get_or_insert_with(|| self.new_scratch()));
        }
        let taken = self.idle().and_then(|mut idle| idle.pop());
        let mut scratch = taken.unwrap_or_else(|| self.new_scratch());
        let result = work(&mut scratch);
        if let Some(mut idle) = self.idle() {
            idle.push(scratch);
        }
        result
    }

    fn new_scratch(&self) -> Box<Scratch> {
        Box::new(self.tokenizer.scratch())
    }

    /// The store of scratches, which is in use for a moment at a time.
    ///
    /// Never waits for long: one that was in use when this process was forked is passed by.
    fn idle(&self) -> Option<MutexGuard<'_, Scratches>> {
        (0..MAX_TRIES).find_map(|_| {
            let guard = try_lock(&self.idle);
            if guard.is_none() {
                std::hint::spin_loop();
            }
            guard
        })
    }

    /// Encode every text, with its pair where given, on at most `workers` threads.
    ///
    /// `keep` adds columns and rows to the batch. An error names the text it belongs to.
    pub fn encode(
        &self,
        inputs: &[Input<'_>],
        pairs: Option<&[Input<'_>]>,
        options: Options<'_>,
        keep: Keep,
        workers: usize,
    ) -> Result<BatchIds, Error> {
        let rows = Rows::new(&self.tokenizer, inputs, pairs, options, keep);
        let batch = self.encode_rows(&rows, workers)?;
        Ok(match self.tokenizer.padding() {
            Some(padding) => batch.padded(padding),
            None => batch,
        })
    }

    fn encode_rows(&self, rows: &Rows<'_>, workers: usize) -> Result<BatchIds, Error> {
        let shares = shares_of(&sizes(rows.inputs), workers);
        let all = shares.len();
        let whole = rows.room(shares.first().cloned().unwrap_or_default());
        if workers <= 1 || all <= 1 {
            return self.with_scratch(|scratch| rows.encode_all(&shares, scratch, whole));
        }
        let gather = OrderedCollector::into(whole, all);
        work_on(shares.into_iter().enumerate(), workers, |(number, share), stop| {
            let mut part = gather.spare().unwrap_or_else(|| rows.room(share.clone()));
            self.with_scratch(|scratch| rows.encode(share, stop, scratch, &mut part))?;
            gather.add(number, part);
            Ok(())
        })?;
        Ok(gather.whole())
    }

    /// Look at the ids of one input, without padding.
    pub fn ids<R>(
        &self,
        input: Input<'_>,
        options: Options<'_>,
        look: impl FnOnce(&[u32]) -> R,
    ) -> Result<R, Error> {
        self.with_scratch(|scratch| self.tokenizer.row(input, options, scratch).map(look))
    }

    /// Count the tokens of every text.
    pub fn count(
        &self,
        inputs: &[Input<'_>],
        options: Options<'_>,
        workers: usize,
    ) -> Result<Vec<i64>, Error> {
        let rows = Rows::new(&self.tokenizer, inputs, None, options, Keep::default());
        let parts = work_on(shares_of(&sizes(inputs), workers), workers, |share, stop| {
            let mut part = rows.room(share.clone());
            self.with_scratch(|scratch| rows.encode(share, stop, scratch, &mut part))?;
            Ok(part.lengths().collect::<Vec<i64>>())
        });
        Ok(parts?.concat())
    }
}

/// What there is to encode, and how.
struct Rows<'r> {
    tokenizer: &'r Tokenizer,
    inputs: &'r [Input<'r>],
    pairs: Option<&'r [Input<'r>]>,
    options: Options<'r>,
    keep: Keep,
    /// What goes around rows whose new words may wait for those of other rows.
    frame: Option<Frame>,
}

impl<'r> Rows<'r> {
    fn new(
        tokenizer: &'r Tokenizer,
        inputs: &'r [Input<'r>],
        pairs: Option<&'r [Input<'r>]>,
        options: Options<'r>,
        keep: Keep,
    ) -> Self {
        // Without truncation each text is one row, and the fast paths serve.
        let keep = Keep { overflow: keep.overflow && tokenizer.truncates(), ..keep };
        let frame_of =
            if keep.spans { Tokenizer::frame_of_aligned_rows } else { Tokenizer::frame_of_pending_rows };
        let is_single = pairs.is_none() && !keep.overflow && !fills_types(tokenizer, false);
        let frame = is_single.then(|| frame_of(tokenizer, options)).flatten();
        Self { tokenizer, inputs, pairs, options, keep, frame }
    }

    /// Room for some rows.
    fn room(&self, rows: Range<usize>) -> BatchIds {
        let bytes: usize = sizes(&self.inputs[rows.clone()]).iter().sum();
        let is_pair = self.pairs.is_some();
        let with_types = fills_types(self.tokenizer, is_pair);
        BatchIds::with_room(rows.len(), room_for(bytes), with_types, self.keep, is_pair)
    }

    /// Append all rows, share after share.
    fn encode_all(
        &self,
        shares: &[Range<usize>],
        scratch: &mut Scratch,
        mut whole: BatchIds,
    ) -> Result<BatchIds, Error> {
        for (number, share) in shares.iter().enumerate() {
            self.encode(share.clone(), &Stop::default(), scratch, &mut whole)?;
            whole.make_room(number + 1, shares.len());
        }
        Ok(whole)
    }

    /// Append some rows to a part.
    fn encode(
        &self,
        rows: Range<usize>,
        stop: &Stop,
        scratch: &mut Scratch,
        part: &mut BatchIds,
    ) -> Result<(), Error> {
        if let (Some(frame), true) = (&self.frame, self.keep.spans) {
            return self.encode_aligned(rows, frame, stop, scratch, part);
        }
        let from = part.row_offsets.len();
        let result = stop.rows(rows).try_for_each(|row| {
            self.prefetch(row + 1);
            if self.keep.overflow {
                return self.encode_windows(row, scratch, part).map_err(|error| named(error, row));
            }
            self.encode_row(row, scratch, part).map_err(|error| named(error, row))?;
            part.end_row();
            Ok(())
        });
        let shifts = self.tokenizer.flush_rows(scratch, &mut part.ids);
        part.row_offsets[from..].iter_mut().zip(shifts).for_each(|(offset, shift)| *offset += shift as i64);
        result
    }

    /// Ask for the beginning of a row's text, if there is such a row: it was hardly ever looked at before.
    fn prefetch(&self, row: usize) {
        let Some(Input::Text(text)) = self.inputs.get(row) else { return };
        let asked = &text.as_bytes()[..text.len().min(PREFETCHED)];
        asked.iter().step_by(CACHE_LINE).for_each(prefetch_read);
    }

    /// Append every window of a text as a row.
    fn encode_windows(&self, row: usize, scratch: &mut Scratch, part: &mut BatchIds) -> Result<(), Error> {
        let (input, pair) = (self.inputs[row], self.pairs.map(|pairs| pairs[row]));
        let encoding = self.tokenizer.windows(input, pair, self.options.at_row(row), scratch)?;
        part.push_window(&encoding.tokens, row);
        encoding.overflowing.iter().for_each(|window| part.push_window(&window.tokens, row));
        Ok(())
    }

    fn encode_row(&self, row: usize, scratch: &mut Scratch, part: &mut BatchIds) -> Result<(), Error> {
        let (input, pair) = (self.inputs[row], self.pairs.map(|pairs| pairs[row]));
        let options = self.options.at_row(row);
        if let Some(frame) = &self.frame {
            return self.tokenizer.pending_row(input, frame, options, scratch, &mut part.ids);
        }
        if self.keep.spans {
            return self.tokenizer.row_tokens(input, pair, options, scratch, |run| part.push_tokens(run));
        }
        self.tokenizer.row_into(input, pair, options, scratch, &mut part.ids, part.type_ids.as_mut())
    }
}

/// Whether type ids other than 0 can come out.
fn fills_types(tokenizer: &Tokenizer, is_pair: bool) -> bool {
    tokenizer.padding().is_some_and(|padding| padding.pad_type_id != 0) || tokenizer.has_type_ids(is_pair)
}

fn sizes(inputs: &[Input<'_>]) -> Vec<usize> {
    inputs.iter().map(|input| input.bytes()).collect()
}

fn named(error: Error, row: usize) -> Error {
    error.within(&format!("texts[{row}]"))
}
