//! Encodes batches: splits the texts into chunks, encodes these on several threads and collects the rows in order.
//!
//! ```text
//! rows     the texts of a batch, and its columns
//! prompts  texts in which special tokens need permission
//! growing  a text that grows at its end
//! chunks   parts of a text within a token budget
//! ```

#[cfg(test)]
mod callers_law;
mod chunks;
mod growing;
#[cfg(test)]
mod growing_law;
#[cfg(test)]
mod interrupt_law;
mod prompts;
#[cfg(test)]
mod route_law;
mod rows;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod truncation_law;

pub use chunks::{Chunk, ChunkOptions, ChunkUnit, Place};
pub use growing::GrowingIds;
pub use prompts::Prompts;
pub use rows::{BatchIds, ExtraColumns, Source, Spans, MAX_TEXT_BYTES};

use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

use piecework_kernels::code_units::CodeUnits;
use piecework_kernels::level::prefetch_read;

use crate::encoding::Token;
use crate::engine::definition;
use crate::engine::encode::Call;
use crate::engine::excerpts::Excerpts;
use crate::engine::offsets::Row;
use crate::engine::route::Route;
use crate::engine::{estimated_tokens, Input, Options, Scratch, Tokenizer};
use crate::error::Error;
use crate::locks::try_lock;
use crate::spec::TruncationStrategy;
use crate::stages::postprocess::Frame;
use crate::threads::{chunks_of_rows, processors, run_chunks, StopFlag};
use rows::OrderedCollector;

/// The number of tries to lock the idle scratches.
const MAX_TRIES: usize = 1000;

/// The number of idle scratches that are kept besides one for each CPU: as many as the default pool of threads in Python
/// has more.
const MORE_IDLE: usize = 4;

/// The number of bytes of the next text that are prefetched.
const PREFETCHED: usize = 4096;
const CACHE_LINE: usize = 64;

/// The number of ids after which rows are aligned. The ids and their texts fit the cache of a core.
const ALIGN_AFTER_IDS: usize = 1 << 14;

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
                    |input, scratch| self.tokenizer.row_ids(input, None, options, scratch, &mut row, None),
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

/// How the rows of a batch are encoded.
#[derive(Clone, Copy, Debug)]
enum RowMode<'r> {
    /// Ids between the frame's ids. Cache misses of several rows are segmented together.
    Batched(&'r Route, &'r Frame),
    /// The same, and the ids are then aligned with their texts, while these are still in the processor's cache.
    Aligned(&'r Route, &'r Frame),
    /// Ids and type ids, one row after the other.
    Ids,
    /// Tokens, one row after the other.
    Tokens,
    /// Tokens, with every window that truncation cuts off as a row.
    Windows,
}

impl<'r> RowMode<'r> {
    fn of(tokenizer: &'r Tokenizer, is_pair: bool, options: Options<'_>, extra: ExtraColumns) -> Self {
        if extra.overflow {
            return Self::Windows;
        }
        let aligns = |route: &Route, frame: &Frame| {
            route.aligns() && !frame.trims && tokenizer.truncation().is_none()
        };
        match frame_of_rows(tokenizer, is_pair, options) {
            Some((route, frame)) if !extra.spans => Self::Batched(route, frame),
            Some((route, frame)) if aligns(route, frame) => Self::Aligned(route, frame),
            _ if extra.spans => Self::Tokens,
            _ => Self::Ids,
        }
    }
}

/// Return the route and the ids around each row if cache misses of several rows can be segmented in one batch: rows have no
/// type ids, every word has ids, and every row can be truncated.
fn frame_of_rows<'t>(
    tokenizer: &'t Tokenizer,
    is_pair: bool,
    options: Options<'_>,
) -> Option<(&'t Route, &'t Frame)> {
    let (stages, truncation) = (tokenizer.stages(), tokenizer.truncation());
    let may_wait = !is_pair
        && !has_type_column(tokenizer, false)
        && !truncation.is_some_and(|truncation| truncation.strategy == TruncationStrategy::OnlySecond)
        && stages.model.never_fails();
    let route = tokenizer.route_for(options).filter(|_| may_wait)?;
    Some((route, stages.post_processor.frame_of_one(options.add_special_tokens)?))
}

/// Encodes rows of one batch.
struct RowEncoder<'r> {
    tokenizer: &'r Tokenizer,
    sources: &'r [Source<'r>],
    pairs: Option<&'r [Input<'r>]>,
    options: Options<'r>,
    extra: ExtraColumns,
    mode: RowMode<'r>,
    /// How the texts without pairs are cut.
    excerpts: Option<Excerpts<'r>>,
}

/// Rows whose ids are not aligned yet.
#[derive(Default)]
struct UnalignedRows {
    numbers: Vec<usize>,
    /// The end of each row in `ids`.
    ends: Vec<i64>,
    ids: Vec<u32>,
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
        let mode = RowMode::of(tokenizer, pairs.is_some(), options, extra);
        let is_cut = tokenizer.truncates() && pairs.is_none() && !extra.overflow;
        let excerpts = is_cut.then(|| tokenizer.excerpts(false, extra.spans, options)).flatten();
        Self { tokenizer, sources, pairs, options, extra, mode, excerpts }
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
        let size = |&source: &Source<'_>| match self.excerpts_of(source) {
            Some(excerpts) => excerpts.first_units(source),
            None => source.bytes(),
        };
        self.sources[rows].iter().map(size).collect()
    }

    /// Return the size of the longest text of some rows in bytes.
    fn longest(&self, rows: Range<usize>) -> usize {
        self.sources[rows].iter().map(|source| source.bytes()).max().unwrap_or(0)
    }

    /// Return how a text is cut; `None` if it is encoded whole at once.
    fn excerpts_of(&self, text: Source<'_>) -> Option<&Excerpts<'r>> {
        self.excerpts.as_ref().filter(|excerpts| excerpts.shorten(text))
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
        let mut rows = stop.rows(rows).inspect(|&row| self.prefetch(row + 1));
        match self.mode {
            RowMode::Batched(route, frame) => self.encode_batched(rows, route, frame, scratch, batch),
            RowMode::Aligned(route, frame) => self.encode_aligned(rows, route, frame, scratch, batch),
            RowMode::Ids | RowMode::Tokens => rows.try_for_each(|row| self.encode_row(row, scratch, batch)),
            RowMode::Windows => rows.try_for_each(|row| self.encode_windows(row, scratch, batch)),
        }
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

    /// Append rows whose cache misses are segmented together. A text that is encoded in part is a row of its own.
    fn encode_batched(
        &self,
        mut rows: impl Iterator<Item = usize>,
        route: &Route,
        frame: &Frame,
        scratch: &mut Scratch,
        batch: &mut BatchIds,
    ) -> Result<(), Error> {
        let first = batch.row_offsets.len();
        let result = rows.try_for_each(|row| {
            if self.excerpts_of(self.sources[row]).is_some() {
                self.call(route, scratch, &mut batch.ids).flush();
                self.encode_row(row, scratch, batch)?;
                scratch.words.misses.end_row();
                return Ok(());
            }
            self.append_row(row, route, frame, scratch, &mut batch.ids)?;
            batch.end_row();
            Ok(())
        });
        self.flush(route, scratch, &mut batch.ids, &mut batch.row_offsets[first..]);
        if let Some(truncation) = self.tokenizer.truncation() {
            batch.truncate_rows(first - 1, frame, truncation);
        }
        result
    }

    /// Append rows with the spans and words of their ids.
    fn encode_aligned(
        &self,
        rows: impl Iterator<Item = usize>,
        route: &Route,
        frame: &Frame,
        scratch: &mut Scratch,
        batch: &mut BatchIds,
    ) -> Result<(), Error> {
        let mut unaligned = UnalignedRows::default();
        for row in rows {
            let result = self.append_row(row, route, &Frame::default(), scratch, &mut unaligned.ids);
            if result.is_ok() {
                unaligned.numbers.push(row);
                unaligned.ends.push(unaligned.ids.len() as i64);
            }
            if result.is_err() || unaligned.ids.len() >= ALIGN_AFTER_IDS {
                self.align(&mut unaligned, route, frame, scratch, batch)?;
            }
            result?;
        }
        self.align(&mut unaligned, route, frame, scratch, batch)
    }

    /// Append the ids of a row between the frame's ids. Cache misses wait for [`Self::flush`].
    fn append_row(
        &self,
        row: usize,
        route: &Route,
        frame: &Frame,
        scratch: &mut Scratch,
        ids: &mut Vec<u32>,
    ) -> Result<(), Error> {
        self.with_input(row, self.sources[row], scratch, |input, scratch| {
            ids.extend_from_slice(&frame.before);
            scratch.model.begin_unsampled();
            let result = self.call(route, scratch, ids).input(input);
            ids.extend_from_slice(&frame.after);
            scratch.words.misses.end_row();
            result
        })
    }

    fn call<'c>(&'c self, route: &'c Route, scratch: &'c mut Scratch, ids: &'c mut Vec<u32>) -> Call<'c> {
        Call { route, stages: self.tokenizer.stages(), options: self.options, scratch, ids }
    }

    /// Segment the cache misses of all rows since the last call, splice their ids, and move the ends of these rows.
    fn flush(&self, route: &Route, scratch: &mut Scratch, ids: &mut Vec<u32>, ends: &mut [i64]) {
        self.call(route, scratch, ids).flush();
        let shifts = scratch.words.misses.shifts();
        ends.iter_mut().zip(shifts).for_each(|(end, shift)| *end += shift as i64);
    }

    /// Align the pending rows and append them.
    fn align(
        &self,
        UnalignedRows { numbers, ends, ids }: &mut UnalignedRows,
        route: &Route,
        frame: &Frame,
        scratch: &mut Scratch,
        batch: &mut BatchIds,
    ) -> Result<(), Error> {
        self.flush(route, scratch, ids, ends);
        let mut start = 0;
        for (row, end) in numbers.drain(..).zip(ends.drain(..)) {
            let ids = &ids[start..end as usize];
            self.with_input(row, self.sources[row], scratch, |input, scratch| {
                let push = |row: Row<'_>| batch.push_row(ids, row, frame);
                self.tokenizer.aligned_row(input, ids, self.options, scratch, push)
            })?;
            batch.end_row();
            start = end as usize;
        }
        ids.clear();
        Ok(())
    }

    /// Append one row without its neighbours.
    fn encode_row(&self, row: usize, scratch: &mut Scratch, batch: &mut BatchIds) -> Result<(), Error> {
        let (text, start) = (self.sources[row], batch.ids.len());
        match self.excerpts_of(text) {
            Some(excerpts) => {
                excerpts.encode(text, |part| {
                    batch.drop_tokens(start);
                    self.encode_text(row, part, scratch, batch)
                })?;
            }
            None => {
                self.encode_text(row, text, scratch, batch)?;
            }
        }
        batch.end_row();
        Ok(())
    }

    /// Append the text of a row, or a part of it, with its pair, truncated. Return the number of ids of a text without a
    /// pair before truncation.
    fn encode_text(
        &self,
        row: usize,
        text: Source<'_>,
        scratch: &mut Scratch,
        batch: &mut BatchIds,
    ) -> Result<usize, Error> {
        let (pair, options) = (self.pairs.map(|pairs| pairs[row]), self.options.at_row(row));
        self.with_input(row, text, scratch, |input, scratch| {
            if let RowMode::Tokens = self.mode {
                let push = |run: &[Token]| batch.push_tokens(run);
                return self.tokenizer.row_tokens(input, pair, options, scratch, push);
            }
            let BatchIds { ids, type_ids, .. } = batch;
            self.tokenizer.row_ids(input, pair, options, scratch, ids, type_ids.as_mut())
        })
    }

    /// Append every window of a text as a row.
    fn encode_windows(&self, row: usize, scratch: &mut Scratch, batch: &mut BatchIds) -> Result<(), Error> {
        let pair = self.pairs.map(|pairs| pairs[row]);
        self.with_input(row, self.sources[row], scratch, |input, scratch| {
            let encoding = self.tokenizer.windows(input, pair, self.options.at_row(row), scratch)?;
            batch.push_window(&encoding.tokens, row);
            encoding.overflowing.iter().for_each(|window| batch.push_window(&window.tokens, row));
            Ok(())
        })
    }

    /// Call `work` with the text of a row, or a part of it, as input. An error contains the index of the text.
    #[inline]
    fn with_input<R>(
        &self,
        row: usize,
        text: Source<'_>,
        scratch: &mut Scratch,
        work: impl FnOnce(Input<'_>, &mut Scratch) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let place = || format!("texts[{row}]");
        text.with_input(place, scratch, |input, scratch| {
            work(input, scratch).map_err(|error| error.within(&place()))
        })
    }
}

impl Tokenizer {
    /// Append the ids of one input or pair as `encode` returns them, and their type ids if wanted, without padding. Return
    /// the number of ids of an input without a pair before truncation.
    ///
    /// Encode only as much of a pair as is kept.
    fn row_ids(
        &self,
        input: Input<'_>,
        pair: Option<Input<'_>>,
        options: Options<'_>,
        scratch: &mut Scratch,
        ids: &mut Vec<u32>,
        mut type_ids: Option<&mut Vec<u8>>,
    ) -> Result<usize, Error> {
        let mut sequences = [std::mem::take(&mut scratch.first), std::mem::take(&mut scratch.second)];
        self.encode_pair(input, pair, false, options, |part, index| {
            let ids = &mut sequences[index];
            ids.clear();
            self.ids_into(part, index as u32, options, scratch, ids)?;
            Ok(ids.len())
        })?;
        let [mut first, mut second] = sequences;
        let count = first.len();
        let add_special_tokens = options.add_special_tokens;
        self.truncate(&mut first, pair.is_some().then_some(&mut second), add_special_tokens)?;
        let second_ids = pair.is_some().then_some(second.as_slice());
        self.stages().post_processor.frame_ids(&first, second_ids, add_special_tokens, |run, type_id| {
            ids.extend_from_slice(run);
            if let Some(type_ids) = &mut type_ids {
                type_ids.extend(std::iter::repeat_n(type_id as u8, run.len()));
            }
        });
        (scratch.first, scratch.second) = (first, second);
        Ok(count)
    }

    /// Append the ids of one input, the first (0) or second (1) of its row, before truncation and post-processing.
    pub(super) fn ids_into(
        &self,
        input: Input<'_>,
        index: u32,
        options: Options<'_>,
        scratch: &mut Scratch,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        if options.sampling.is_some_and(|sampling| sampling.nbest.is_some()) {
            let tokens = self.sequence(input, index, options, scratch)?.tokens;
            out.extend(tokens.iter().map(|token| token.id));
            return Ok(());
        }
        let stages = self.stages();
        stages.model.begin(options.sampling, index.into(), &mut scratch.model)?;
        match self.route_for(options) {
            Some(route) => Call { route, stages, options, scratch, ids: out }.whole_input(input),
            None => definition::ids(stages, input, options, scratch, out),
        }
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
