//! The router: the only place that chooses how a text is encoded.
//!
//! The route is computed when a tokenizer is compiled. [`Route::for_call`] narrows it for each call: drawn
//! segmentations are encoded by `plain`, and so are added tokens of normalized text that may match at some positions
//! only. A route appends the ids of a span of raw text; those of cache misses stay
//! pending until a flush.

use std::sync::Arc;

use super::excerpts::{Cuts, RestStart};
use super::stages::Stages;
use super::words::WordRules;
use super::Options;
use crate::model::Model;
use crate::spec::ModelSpec;
use crate::stages::split::bert::BertSplitter;

/// How a compiled tokenizer encodes.
#[derive(Clone, Debug)]
pub(super) enum Route {
    /// Byte-level pipelines. Ids can be aligned with their text if the tokens of a text are its bytes in their order.
    ByteLevel { aligns: bool },
    /// Pipelines that decide character by character, as BERT's: the normalizer is BERT's or none, and the pre-tokenizer
    /// is BERT's or splits at whitespace.
    Bert(Arc<BertSplitter>),
    /// Pipelines whose model sees a `▁` for each space, if no piece crosses a word boundary.
    Metaspace(Box<WordRules>),
    /// The same for SentencePiece's Unigram, whose rounding depends on the text before a word.
    SentencePieceUnigram(Box<WordRules>),
    /// All other pipelines.
    Generic,
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
            return Self::ByteLevel { aligns: has_bytes_in_order(stages) };
        }
        if stages.added_tokens.has_normalized() {
            return Self::Generic;
        }
        if let Some(splitter) = stages.splitter.bert() {
            return Self::Bert(Arc::clone(splitter));
        }
        match WordRules::of(stages).map(Box::new) {
            None => Self::Generic,
            Some(rules) if matches!(&*stages.model, Model::UnigramF32(_)) => {
                Self::SentencePieceUnigram(rules)
            }
            Some(rules) => Self::Metaspace(rules),
        }
    }

    /// Return the number of short words that a cache has room for at first, as a power of two.
    pub(super) fn initial_cache_bits(&self) -> u32 {
        match self {
            Self::ByteLevel { .. } => INITIAL_BYTE_LEVEL_BITS,
            _ => INITIAL_BITS,
        }
    }

    /// Return the route of a call; `None` if it is encoded by `plain`.
    ///
    /// `plain` alone knows which bytes of the original a token in normalized text comes from.
    pub(super) fn for_call(&self, stages: &Stages, options: Options<'_>) -> Option<&Self> {
        let needs_sources = options.parse_special.is_positional() && stages.added_tokens.has_normalized();
        (options.sampling.is_none() && !needs_sources).then_some(self)
    }

    /// Return the route that a span of raw text takes instead: one with a `▁` is ambiguous to the rules of metaspace.
    #[inline]
    pub(super) fn instead_for(&self, span: &str) -> Option<&'static Self> {
        match self {
            Self::Metaspace(rules) | Self::SentencePieceUnigram(rules) => {
                (!rules.supports(span)).then_some(&Self::Generic)
            }
            Self::ByteLevel { .. } | Self::Bert(_) | Self::Generic => None,
        }
    }

    /// Make every table that is made late.
    pub(super) fn warm_up(&self) {
        match self {
            Self::Metaspace(rules) | Self::SentencePieceUnigram(rules) => rules.warm_up(),
            Self::ByteLevel { .. } | Self::Bert(_) | Self::Generic => {}
        }
    }

    /// Return the name of the route.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::ByteLevel { .. } => "byte-level",
            Self::Bert(_) => "bert",
            Self::Metaspace(_) => "metaspace",
            Self::SentencePieceUnigram(_) => "sentencepiece-unigram",
            Self::Generic => "generic",
        }
    }

    /// Return where texts can be cut; `None` if they cannot.
    pub(super) fn cuts(&self, stages: &Stages) -> Option<Cuts> {
        let rest = match self {
            Self::Metaspace(rules) => Some(match rules.adds_metaspace() {
                true => RestStart::AfterSpace,
                false => RestStart::AtSpace,
            }),
            // Rounding depends on the text before a word.
            Self::SentencePieceUnigram(_) => None,
            Self::ByteLevel { .. } | Self::Bert(_) | Self::Generic => {
                let divides = stages.splitter.divides_at_spaces() && stages.model.pieces().is_none();
                Some(divides.then_some(RestStart::AtSpace)?)
            }
        };
        let beside_any = stages.splitter.divides_at_spaces_after_any();
        Cuts::of(rest, beside_any, stages.splitter.normalizer().keeps_spaces(), &stages.added_tokens)
    }

    /// Return whether `offsets` can align ids with their text.
    pub(super) fn aligns(&self) -> bool {
        match self {
            Self::ByteLevel { aligns } => *aligns,
            Self::Bert(_) => true,
            Self::Metaspace(_) | Self::SentencePieceUnigram(_) | Self::Generic => false,
        }
    }
}

/// Return whether the tokens of a byte-level text are its bytes in their order.
fn has_bytes_in_order(stages: &Stages) -> bool {
    let ModelSpec::Bpe(spec) = stages.model_spec.settings() else { return false };
    stages.splitter.splits_raw() && !spec.has_affixes() && !spec.byte_fallback
}
