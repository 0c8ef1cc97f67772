//! What C reads in place: the columns of encoded texts, and errors.

use std::ops::Range;
use std::ptr::null;

use piecework::{EncodeInput, OffsetUnit};

use crate::error::{Error, FAILED};
use crate::pointers::{In, Out, Owned};

/// `piecework_span`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Span {
    start: usize,
    end: usize,
}

impl From<(usize, usize)> for Span {
    fn from((start, end): (usize, usize)) -> Self {
        Self { start, end }
    }
}

fn spans(offsets: &[(usize, usize)]) -> Vec<Span> {
    offsets.iter().copied().map(Span::from).collect()
}

/// `piecework_encoding`.
pub(crate) struct Encoding {
    encoding: piecework::Encoding,
    offsets: Vec<Span>,
    word_ids: Vec<i32>,
    sequence_ids: Vec<i32>,
    windows: Vec<Encoding>,
    segments: Vec<Span>,
}

impl Encoding {
    pub(crate) fn new(encoding: piecework::Encoding, unit: OffsetUnit, input: &EncodeInput<'_>) -> Self {
        let indices =
            |indices: &[Option<u32>]| indices.iter().map(|at| at.map_or(-1, |at| at as i32)).collect();
        let offsets = match unit {
            OffsetUnit::Bytes => spans(encoding.offsets()),
            unit => spans(&encoding.offsets_in(unit, input.clone())),
        };
        Self {
            offsets,
            word_ids: indices(encoding.word_ids()),
            sequence_ids: indices(encoding.sequence_ids()),
            windows: encoding
                .overflowing()
                .iter()
                .map(|window| Self::new(window.clone(), unit, input))
                .collect(),
            segments: Vec::new(),
            encoding,
        }
    }

    /// Add the tokens of each segment of a prompt.
    pub(crate) fn add_segments(&mut self, token_spans: &[Range<usize>]) {
        self.segments = token_spans.iter().map(|span| Span { start: span.start, end: span.end }).collect();
    }
}

/// Return the first item of a column; NULL for a NULL encoding.
fn column<T>(encoding: &In<Encoding>, column: impl FnOnce(&Encoding) -> &[T]) -> *const T {
    encoding.get_or_null().map_or(null(), |encoding| column(encoding).as_ptr())
}

pub(crate) fn len(encoding: In<Encoding>) -> usize {
    encoding.get_or_null().map_or(0, |encoding| encoding.encoding.len())
}

pub(crate) fn ids(encoding: In<Encoding>) -> *const u32 {
    column(&encoding, |encoding| encoding.encoding.ids())
}

pub(crate) fn type_ids(encoding: In<Encoding>) -> *const u32 {
    column(&encoding, |encoding| encoding.encoding.type_ids())
}

pub(crate) fn attention_mask(encoding: In<Encoding>) -> *const u8 {
    column(&encoding, |encoding| encoding.encoding.attention_mask())
}

pub(crate) fn special_tokens_mask(encoding: In<Encoding>) -> *const u8 {
    column(&encoding, |encoding| encoding.encoding.special_tokens_mask())
}

pub(crate) fn offsets(encoding: In<Encoding>) -> *const Span {
    column(&encoding, |encoding| &encoding.offsets)
}

pub(crate) fn word_ids(encoding: In<Encoding>) -> *const i32 {
    column(&encoding, |encoding| &encoding.word_ids)
}

pub(crate) fn sequence_ids(encoding: In<Encoding>) -> *const i32 {
    column(&encoding, |encoding| &encoding.sequence_ids)
}

pub(crate) fn token(encoding: In<Encoding>, index: usize, len: Out<usize>) -> *const u8 {
    let token = encoding.get_or_null().and_then(|encoding| encoding.encoding.token(index));
    len.set(token.map_or(0, str::len));
    token.map_or(null(), str::as_ptr)
}

pub(crate) fn window_count(encoding: In<Encoding>) -> usize {
    encoding.get_or_null().map_or(0, |encoding| encoding.windows.len())
}

pub(crate) fn window(encoding: In<Encoding>, index: usize) -> *const Encoding {
    let window = encoding.get_or_null().and_then(|encoding| encoding.windows.get(index));
    window.map_or(null(), std::ptr::from_ref)
}

pub(crate) fn segments(encoding: In<Encoding>, count: Out<usize>) -> *const Span {
    count.set(encoding.get_or_null().map_or(0, |encoding| encoding.segments.len()));
    column(&encoding, |encoding| &encoding.segments)
}

pub(crate) fn free(encoding: Owned<Encoding>) {
    encoding.free();
}

/// `piecework_batch`.
pub(crate) struct Batch {
    batch: piecework::Batch,
    offsets: Option<Vec<Span>>,
    samples: Vec<usize>,
}

impl Batch {
    pub(crate) fn new(batch: piecework::Batch, unit: OffsetUnit, inputs: Vec<EncodeInput<'_>>) -> Self {
        let offsets = match unit {
            OffsetUnit::Bytes => batch.offsets().map(spans),
            unit => batch.offsets_in(unit, inputs).map(|offsets| spans(&offsets)),
        };
        Self { offsets, samples: batch.overflow_to_sample_mapping(), batch }
    }
}

/// Return the first item of a column; NULL for a NULL batch and a column that it lacks.
fn batch_column<T>(batch: &In<Batch>, column: impl FnOnce(&Batch) -> Option<&[T]>) -> *const T {
    batch.get_or_null().and_then(column).map_or(null(), <[T]>::as_ptr)
}

pub(crate) fn batch_len(batch: In<Batch>) -> usize {
    batch.get_or_null().map_or(0, |batch| batch.batch.len())
}

pub(crate) fn batch_ids(batch: In<Batch>) -> *const u32 {
    batch_column(&batch, |batch| Some(batch.batch.ids()))
}

pub(crate) fn batch_row_offsets(batch: In<Batch>) -> *const i64 {
    batch_column(&batch, |batch| Some(batch.batch.row_offsets()))
}

pub(crate) fn batch_type_ids(batch: In<Batch>) -> *const u8 {
    batch_column(&batch, |batch| batch.batch.type_ids())
}

pub(crate) fn batch_attention_mask(batch: In<Batch>) -> *const u8 {
    batch_column(&batch, |batch| batch.batch.attention_mask())
}

pub(crate) fn batch_offsets(batch: In<Batch>) -> *const Span {
    batch_column(&batch, |batch| batch.offsets.as_deref())
}

pub(crate) fn batch_samples(batch: In<Batch>) -> *const usize {
    batch_column(&batch, |batch| Some(&batch.samples))
}

pub(crate) fn batch_free(batch: Owned<Batch>) {
    batch.free();
}

pub(crate) fn error_kind(error: In<Error>) -> u32 {
    error.get_or_null().map_or(0, |error| error.kind)
}

pub(crate) fn error_message(error: In<Error>, len: Out<usize>) -> *const u8 {
    let message = error.get_or_null().map_or("\0", |error| error.message.as_str());
    len.set(message.len() - 1);
    message.as_ptr()
}

pub(crate) fn error_place(error: In<Error>, len: Out<usize>) -> *const u8 {
    let place = error.get_or_null().map_or("", |error| error.place.as_str());
    len.set(place.len());
    place.as_ptr()
}

pub(crate) fn error_position(error: In<Error>) -> usize {
    error.get_or_null().map_or(FAILED, |error| error.position)
}

pub(crate) fn error_free(error: Owned<Error>) {
    error.free();
}
