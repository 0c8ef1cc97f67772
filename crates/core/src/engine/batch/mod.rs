//! Encodes batches: splits the texts into chunks, encodes these on several threads and collects the rows in order.

#[cfg(test)]
mod callers_law;
mod columns;
#[cfg(test)]
mod interrupt_law;
mod offsets;
mod ordered_collector;
mod prompts;
#[cfg(test)]
mod route_law;
mod sources;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod truncation_law;

pub use columns::{BatchIds, ExtraColumns, Spans};
pub use prompts::Prompts;
pub use sources::{Source, MAX_TEXT_BYTES};

use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

use piecework_kernels::code_units::CodeUnits;
use piecework_kernels::prefetch::prefetch_read;

use crate::encoding::Token;
use crate::engine::excerpts::Excerpts;
use crate::engine::{estimated_tokens, Input, Options, Scratch, Tokenizer};
use crate::error::Error;
use crate::locks::try_lock;
use crate::stages::postprocess::Frame;
use crate::threads::{chunks_of_rows, processors, run_chunks, StopFlag};
use ordered_collector::OrderedCollector;

/// The number of tries to lock the idle scratches.
const MAX_TRIES: usize = 1000;

/// The number of idle scratches that are kept besides one for each CPU: as many as the default pool of threads in Python
/// has more.
const MORE_IDLE: usize = 4;

/// The number of bytes of the next text that are prefetched.
const PREFETCHED: usize = 4096;
const CACHE_LINE: usize = 64;

/// The size of a text whose scratch is not kept, in bytes.
const LONG_TEXT_BYTES: usize = 16 << 20;

/// Boxed, because a scratch is large and is moved out and back for every call.
type Scratches = Vec<Box<Scratch>>;

/// A tokenizer with scratches that are reused between calls, so that their word caches stay filled.
#[derive(Debug)]
pub struct Encoder {
    tokenizer: Tokenizer,
    /// The scratch of the first thread, locked while it is in use. A single thread needs no other lock.
    first: Mutex<Option<Box<Scratch>>>,
    /// The idle scratches of other threads. After more callers at once than CPUs, the scratches of the rest are dropped.
    idle: Mutex<Scratches>,
}

impl Encoder {
    /// Return an encoder of a tokenizer.
    #[must_use]
    pub fn new(tokenizer: Tokenizer) -> Self {
        Self { tokenizer, first: Mutex::default(), idle: Mutex::default() }
    }

    /// Return the tokenizer.
    #[must_use]
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Run `work` with a scratch that no other thread uses.
    pub fn with_scratch<R>(&self, work: impl FnOnce(&mut Scratch) -> R) -> R {
        if let Some(mut first) = try_lock(&self.first) {
            return work(first.get_or_insert_with(|| self.new_scratch()));
        }
        let taken = self.idle().and_then(|mut idle| idle.pop());
        let mut scratch = taken.unwrap_or_else(|| self.new_scratch());
        let result = work(&mut scratch);
        if let Some(mut idle) = self.idle().filter(|idle| idle.len() < processors() + MORE_IDLE) {
            idle.push(scratch);
        }
        result
    }

    /// Run `work` with a scratch of its own if a text is long, as its memory grows to ten times the text and
    /// would stay.
    fn with_scratch_for<R>(&self, longest: usize, work: impl FnOnce(&mut Scratch) -> R) -> R {
        if longest > LONG_TEXT_BYTES {
            return work(&mut self.new_scratch());
        }
        self.with_scratch(work)
    }

    fn new_scratch(&self) -> Box<Scratch> {
        Box::new(self.tokenizer.scratch())
    }

    /// Lock the idle scratches; `None` after [`MAX_TRIES`].
    ///
    /// The number of tries is bounded, because a lock that was held during a fork stays locked in the child.
    fn idle(&self) -> Option<MutexGuard<'_, Scratches>> {
        (0..MAX_TRIES).find_map(|_| {
            let guard = try_lock(&self.idle);
            if guard.is_none() {
                std::hint::spin_loop();
            }
            guard
        })
    }

    /// Encode every text, with its pair if given, on at most `num_threads` threads.
    ///
    /// `extra` adds columns and rows to the batch. An error contains the index of its text.
    pub fn encode(
        &self,
        sources: &[Source<'_>],
        pairs: Option<&[Input<'_>]>,
        options: Options<'_>,
        extra: ExtraColumns,
        num_threads: usize,
    ) -> Result<BatchIds, Error> {
        let rows = RowEncoder::new(&self.tokenizer, sources, pairs, options, extra);
        let batch = self.encode_rows(&rows, num_threads)?;
        Ok(match self.tokenizer.padding() {
            Some(padding) => batch.padded(padding),
            None => batch,
        })
    }

    fn encode_rows(&self, rows: &RowEncoder<'_>, num_threads: usize) -> Result<BatchIds, Error> {
        let chunks = chunks_of_rows(&rows.sizes(0..rows.sources.len()), num_threads);
        let all = chunks.len();
        let batch = rows.new_batch(chunks.first().cloned().unwrap_or_default());
        if num_threads <= 1 || all <= 1 {
            let longest = rows.longest(0..rows.sources.len());
            return self.with_scratch_for(longest, |scratch| rows.encode_all(&chunks, scratch, batch));
        }
        let collector = OrderedCollector::new(batch, all);
        run_chunks(chunks.into_iter().enumerate(), num_threads, |(number, chunk), stop| {
            let mut batch = collector.take_spare().unwrap_or_else(|| rows.new_batch(chunk.clone()));
            let longest = rows.longest(chunk.clone());
            self.with_scratch_for(longest, |scratch| rows.encode(chunk, stop, scratch, &mut batch))?;
            collector.add(number, batch);
            Ok(())
        })?;
        Ok(collector.finish())
    }

    /// Pass the ids of one input, without padding, to `look` and return its result.
    pub fn ids<R>(
        &self,
        source: Source<'_>,
        options: Options<'_>,
        look: impl FnOnce(&[u32]) -> R,
    ) -> Result<R, Error> {
        self.with_scratch_for(source.bytes(), |scratch| {
            let mut row = std::mem::take(&mut scratch.row);
            let result = self.tokenizer.encode_single(source, false, options, |part| {
                row.clear();
                part.with_input(
                    || "text".into(),
                    scratch,
                    |input, scratch| self.tokenizer.row_into(input, None, options, scratch, &mut row, None),
                )
            });
            let result = result.map(|()| look(&row));
            scratch.row = row;
            result
        })
    }

    /// Return the number of tokens of every text, without padding.
    pub fn count(
        &self,
        sources: &[Source<'_>],
        options: Options<'_>,
        num_threads: usize,
    ) -> Result<Vec<i64>, Error> {
        let rows = RowEncoder::new(&self.tokenizer, sources, None, options, ExtraColumns::default());
        let chunks = chunks_of_rows(&rows.sizes(0..sources.len()), num_threads);
        let counts = run_chunks(chunks, num_threads, |chunk, stop| {
            let mut batch = rows.new_batch(chunk.clone());
            let longest = rows.longest(chunk.clone());
            self.with_scratch_for(longest, |scratch| rows.encode(chunk, stop, scratch, &mut batch))?;
            Ok(batch.lengths().collect::<Vec<i64>>())
        });
        Ok(counts?.concat())
    }
}

/// Encodes rows of one batch.
struct RowEncoder<'r> {
    tokenizer: &'r Tokenizer,
    sources: &'r [Source<'r>],
    pairs: Option<&'r [Input<'r>]>,
    options: Options<'r>,
    extra: ExtraColumns,
    /// The special tokens around each row, if cache misses of several rows can be segmented in one batch.
    frame: Option<&'r Frame>,
    /// How the texts without pairs are cut.
    excerpts: Option<Excerpts<'r>>,
}

impl<'r> RowEncoder<'r> {
    fn new(
        tokenizer: &'r Tokenizer,
        sources: &'r [Source<'r>],
        pairs: Option<&'r [Input<'r>]>,
        options: Options<'r>,
        extra: ExtraColumns,
    ) -> Self {
        // Without truncation each text is one row, so the fast paths apply.
        let extra = ExtraColumns { overflow: extra.overflow && tokenizer.truncates(), ..extra };
        let frame_of =
            if extra.spans { Tokenizer::frame_of_aligned_rows } else { Tokenizer::frame_of_rows };
        let is_single = pairs.is_none() && !extra.overflow && !has_type_column(tokenizer, false);
        let frame = is_single.then(|| frame_of(tokenizer, options)).flatten();
        let is_cut = tokenizer.truncates() && pairs.is_none() && !extra.overflow;
        let excerpts = is_cut.then(|| tokenizer.excerpts(false, extra.spans, options)).flatten();
        Self { tokenizer, sources, pairs, options, extra, frame, excerpts }
    }

    /// Return an empty batch with capacity for some rows.
    fn new_batch(&self, rows: Range<usize>) -> BatchIds {
        let bytes: usize = self.sizes(rows.clone()).iter().sum();
        let is_pair = self.pairs.is_some();
        let with_types = has_type_column(self.tokenizer, is_pair);
        BatchIds::with_capacity(rows.len(), estimated_tokens(bytes), with_types, self.extra, is_pair)
    }

    /// Return how many bytes of the text of each row are encoded, estimated.
    fn sizes(&self, rows: Range<usize>) -> Vec<usize> {
        let size = |&source: &Source<'_>| match &self.excerpts {
            Some(excerpts) if excerpts.shorten(source) => excerpts.first_units(source),
            _ => source.bytes(),
        };
        self.sources[rows].iter().map(size).collect()
    }

    /// Return the size of the longest text of some rows in bytes.
    fn longest(&self, rows: Range<usize>) -> usize {
        self.sources[rows].iter().map(|source| source.bytes()).max().unwrap_or(0)
    }

    /// Append all rows, chunk by chunk.
    fn encode_all(
        &self,
        chunks: &[Range<usize>],
        scratch: &mut Scratch,
        mut batch: BatchIds,
    ) -> Result<BatchIds, Error> {
        for (number, chunk) in chunks.iter().enumerate() {
            self.encode(chunk.clone(), &StopFlag::default(), scratch, &mut batch)?;
            batch.reserve_rest(number + 1, chunks.len());
        }
        Ok(batch)
    }

    /// Append some rows to a batch.
    fn encode(
        &self,
        rows: Range<usize>,
        stop: &StopFlag,
        scratch: &mut Scratch,
        batch: &mut BatchIds,
    ) -> Result<(), Error> {
        if let (Some(frame), true) = (self.frame, self.extra.spans) {
            return self.encode_aligned(rows, frame, stop, scratch, batch);
        }
        let from = batch.row_offsets.len();
        let result = stop.rows(rows).try_for_each(|row| {
            self.prefetch(row + 1);
            if self.extra.overflow {
                return self.encode_windows(row, scratch, batch);
            }
            self.encode_row(row, scratch, batch)?;
            batch.end_row();
            Ok(())
        });
        let shifts = self.tokenizer.flush_rows(scratch, &mut batch.ids);
        batch.row_offsets[from..]
            .iter_mut()
            .zip(shifts)
            .for_each(|(offset, shift)| *offset += shift as i64);
        if let (Some(frame), Some(truncation)) = (self.frame, self.tokenizer.truncation()) {
            batch.truncate_rows(from - 1, frame, truncation);
        }
        result
    }

    /// Prefetch the beginning of a row's text, if there is such a row.
    fn prefetch(&self, row: usize) {
        match self.sources.get(row) {
            Some(Source::Input(Input::Text(text))) => prefetch(text.as_bytes()),
            Some(Source::Units(CodeUnits::One(units))) => prefetch(units),
            Some(Source::Units(CodeUnits::Two(units))) => prefetch(units),
            Some(Source::Units(CodeUnits::Four(units))) => prefetch(units),
            _ => {}
        }
    }

    /// Call `work` with the text of a row, or a part of it, as input. An error contains the index of the text.
    #[inline]
    fn with_input<R>(
        &self,
        (row, text): (usize, Source<'_>),
        scratch: &mut Scratch,
        work: impl FnOnce(Input<'_>, &mut Scratch) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let place = || format!("texts[{row}]");
        text.with_input(place, scratch, |input, scratch| {
            work(input, scratch).map_err(|error| error.within(&place()))
        })
    }

    /// Append every window of a text as a row.
    fn encode_windows(&self, row: usize, scratch: &mut Scratch, batch: &mut BatchIds) -> Result<(), Error> {
        let pair = self.pairs.map(|pairs| pairs[row]);
        self.with_input((row, self.sources[row]), scratch, |input, scratch| {
            let encoding = self.tokenizer.windows(input, pair, self.options.at_row(row), scratch)?;
            batch.push_window(&encoding.tokens, row);
            encoding.overflowing.iter().for_each(|window| batch.push_window(&window.tokens, row));
            Ok(())
        })
    }

    fn encode_row(&self, row: usize, scratch: &mut Scratch, batch: &mut BatchIds) -> Result<(), Error> {
        let text = self.sources[row];
        match &self.excerpts {
            Some(excerpts) if excerpts.shorten(text) => {
                self.tokenizer.flush_before_row(scratch, &mut batch.ids);
                let start = batch.ids.len();
                excerpts.encode(text, |part| {
                    batch.drop_tokens(start);
                    self.encode_text((row, part), scratch, batch)
                })?;
                self.tokenizer.end_row(scratch);
                Ok(())
            }
            _ => match self.frame {
                Some(frame) => self.with_input((row, text), scratch, |input, scratch| {
                    let options = self.options.at_row(row);
                    self.tokenizer.append_row(input, frame, options, scratch, &mut batch.ids)
                }),
                None => self.encode_text((row, text), scratch, batch).map(|_| ()),
            },
        }
    }

    /// Append the text of a row, or a part of it, with its pair, truncated. Return the number of ids of a text without a
    /// pair before truncation.
    fn encode_text(
        &self,
        (row, text): (usize, Source<'_>),
        scratch: &mut Scratch,
        batch: &mut BatchIds,
    ) -> Result<usize, Error> {
        let (pair, options) = (self.pairs.map(|pairs| pairs[row]), self.options.at_row(row));
        self.with_input((row, text), scratch, |input, scratch| {
            if self.extra.spans {
                let push = |run: &[Token]| batch.push_tokens(run);
                return self.tokenizer.row_tokens(input, pair, options, scratch, push);
            }
            let BatchIds { ids, type_ids, .. } = batch;
            self.tokenizer.row_into(input, pair, options, scratch, ids, type_ids.as_mut())
        })
    }
}

/// Prefetch the beginning of a text.
fn prefetch<T>(units: &[T]) {
    let prefix = &units[..units.len().min(PREFETCHED / size_of::<T>())];
    prefix.iter().step_by(CACHE_LINE / size_of::<T>()).for_each(prefetch_read);
}

/// Return whether any type id can differ from 0.
fn has_type_column(tokenizer: &Tokenizer, is_pair: bool) -> bool {
    tokenizer.padding().is_some_and(|padding| padding.pad_type_id != 0) || tokenizer.has_type_ids(is_pair)
}
