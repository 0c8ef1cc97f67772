//! The router: the only place that chooses how a text is encoded.
//!
//! The route is computed when a tokenizer is compiled. [`Route::for_call`] narrows it for each call: drawn
//! segmentations are encoded by `plain`, and so are added tokens of normalized text that may match at some positions
//! only. A route appends the ids of a span of raw text; those of cache misses stay
//! pending until a flush.

use super::bert::Bert;
use super::byte_level::ByteLevel;
use super::generic::Generic;
use super::metaspace::Metaspace;
use super::offsets::Aligner;
use super::stages::Stages;
use super::{Input, Options, Scratch};
use crate::error::Error;
use crate::stages::added_tokens::Segment;

/// How a compiled tokenizer encodes.
#[derive(Clone, Debug)]
pub(super) enum Route {
    ByteLevel(ByteLevel),
    Bert(Bert),
    Metaspace(Box<Metaspace>),
    Generic(Generic),
}

/// The number of short words that a cache has room for at first, as a power of two: 4 MB, about the words of 10 MB of
/// English.
const INITIAL_BITS: u32 = 17;
/// The same for byte-level words: 1 MB.
const INITIAL_BYTE_LEVEL_BITS: u32 = 15;

impl Route {
    /// Choose the route of compiled stages.
    pub(super) fn compile(stages: &Stages) -> Self {
        if stages.splitter.is_byte_level() {
            return Self::ByteLevel(ByteLevel::of(stages));
        }
        if stages.added_tokens.has_normalized() {
            return Self::Generic(Generic);
        }
        if let Some(splitter) = stages.splitter.bert() {
            return Self::Bert(Bert::of(splitter));
        }
        Metaspace::of(stages).map_or(Self::Generic(Generic), |route| Self::Metaspace(Box::new(route)))
    }

    /// Returns the number of short words that a cache has room for at first, as a power of two.
    pub(super) fn initial_cache_bits(&self) -> u32 {
        match self {
            Self::ByteLevel(_) => INITIAL_BYTE_LEVEL_BITS,
            _ => INITIAL_BITS,
        }
    }

    /// Returns the route of a call; `None` if it is encoded by `plain`.
    ///
    /// `plain` alone knows which bytes of the original a token in normalized text comes from.
    pub(super) fn for_call(&self, stages: &Stages, options: Options<'_>) -> Option<&Self> {
        let needs_sources = options.parse_special.is_positional() && stages.added_tokens.has_normalized();
        (options.sampling.is_none() && !needs_sources).then_some(self)
    }

    /// Returns the name of the route.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::ByteLevel(_) => "byte-level",
            Self::Bert(_) => "bert",
            Self::Metaspace(_) => "metaspace",
            Self::Generic(_) => "generic",
        }
    }

    /// Whether [`Self::align`] can align ids with their text.
    pub(super) fn aligns(&self) -> bool {
        match self {
            Self::ByteLevel(route) => route.aligns(),
            Self::Bert(_) => true,
            Self::Metaspace(_) | Self::Generic(_) => false,
        }
    }

    /// Append the ids of an input, except those of pending words.
    #[inline]
    pub(super) fn ids(
        &self,
        stages: &Stages,
        input: Input<'_>,
        options: Options<'_>,
        scratch: &mut Scratch,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let mut result = Ok(());
        for text in input.texts() {
            stages.added_tokens.split_raw(text, options.parse_special, |segment| match segment {
                _ if result.is_err() => {}
                Segment::Token(id, ..) => out.push(id),
                Segment::Text(start, end) => {
                    result = self.span_ids(stages, (&text[start..end], start), options, scratch, out);
                }
            });
        }
        result
    }

    /// Append the ids of a span of raw text that begins at byte `start` of the original.
    fn span_ids(
        &self,
        stages: &Stages,
        (span, start): (&str, usize),
        options: Options<'_>,
        scratch: &mut Scratch,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        match self {
            Self::ByteLevel(route) => route.ids(stages, span, options, scratch, out),
            Self::Bert(route) => route.ids(stages, span, scratch, out),
            Self::Generic(route) => route.ids(stages, span, start, options, scratch, out),
            Self::Metaspace(route) => {
                if route.ids(stages, (span, start), scratch, out)? {
                    return Ok(());
                }
                self.flush(stages, scratch, out);
                let result = Generic.ids(stages, span, start, options, scratch, out);
                Generic.flush(stages, scratch, out);
                result
            }
        }
    }

    /// Segment all pending words and splice their ids into the output.
    #[inline]
    pub(super) fn flush(&self, stages: &Stages, scratch: &mut Scratch, out: &mut Vec<u32>) {
        if scratch.lookup.pending.is_empty() {
            scratch.lookup.pending.keep_rows();
            return;
        }
        match self {
            Self::ByteLevel(route) => route.flush(stages, scratch, out),
            Self::Bert(route) => route.flush(stages, scratch, out),
            Self::Metaspace(route) => route.flush(stages, scratch, out),
            Self::Generic(route) => route.flush(stages, scratch, out),
        }
    }

    /// Align ids with a span of raw text that begins at byte `start` of the original; returns `false` if the ids do not
    /// say how they cover it.
    pub(super) fn align(
        &self,
        stages: &Stages,
        (span, start): (&str, usize),
        options: Options<'_>,
        scratch: &mut Scratch,
        aligner: &mut Aligner<'_>,
    ) -> Result<bool, Error> {
        match self {
            Self::ByteLevel(route) => route.align(stages, (span, start), options, scratch, aligner),
            Self::Bert(route) => route.align(stages, (span, start), scratch, aligner),
            Self::Metaspace(_) | Self::Generic(_) => Ok(false),
        }
    }
}
