//! What a tokenizer can be, as plain data: one struct or enum for each stage.

mod custom;
mod decoders;
mod models;
mod normalizers;
mod patterns;
mod post_processors;
mod pre_tokenizers;
mod sentencepiece;

use crate::error::{Error, ErrorKind};

pub use custom::{CharSpan, CustomSpec, CustomWords, Rewritten, TextFunction};
pub use decoders::DecoderSpec;
pub use models::{
    BpeSpec, CharSpec, ModelSpec, Segmentation, UnigramSpec, UnknownUnit, VocabSpec, WordPieceSpec,
    WordSpec,
};
pub use normalizers::{BertNormalizerSpec, NormalizerSpec};
pub use patterns::{ByteLevelSpec, MetaspaceSpec, PatternSpec, PrependScheme, SplitBehavior};
pub use post_processors::{PostProcessorSpec, TemplatePiece, TemplateSpec, TemplateToken};
pub use pre_tokenizers::PreTokenizerSpec;
pub use sentencepiece::{
    PieceType, ScoredPiece, SentencePieceDecoderSpec, SentencePieceKind, SentencePieceNormalizerSpec,
    SentencePieceSpec,
};

/// The most steps of one stage, those of sequences within sequences included.
pub const MAX_STEPS: usize = 1024;

/// Refuse a stage at `place` with more than [`MAX_STEPS`] steps.
pub(crate) fn check_steps(count: usize, place: &str) -> Result<(), Error> {
    if count <= MAX_STEPS {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Format, place, format!("{count} steps"), format!("at most {MAX_STEPS}")))
}

/// A whole tokenizer. Stages that are `None` pass their input on.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenizerSpec {
    /// How encodings are cut to a length.
    pub truncation: Option<Truncation>,
    /// How encodings are filled to a length.
    pub padding: Option<Padding>,
    /// Tokens found in the raw text before any other stage.
    pub added_tokens: Vec<AddedToken>,
    /// Text to cleaned text.
    pub normalizer: Option<NormalizerSpec>,
    /// Cleaned text to words.
    pub pre_tokenizer: Option<PreTokenizerSpec>,
    /// Ids to ids framed by special tokens.
    pub post_processor: Option<PostProcessorSpec>,
    /// Tokens back to text.
    pub decoder: Option<DecoderSpec>,
    /// CustomWords to vocabulary entries.
    pub model: ModelSpec,
}

/// What is only lent is copied.
impl From<&TokenizerSpec> for TokenizerSpec {
    fn from(spec: &TokenizerSpec) -> Self {
        spec.clone()
    }
}

/// Which end of a sequence is cut or filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The beginning.
    Left,
    /// The end.
    Right,
}

/// Which sequence of a pair is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TruncationStrategy {
    /// The longer one, down to the length of the other, then both.
    LongestFirst,
    /// The first alone.
    OnlyFirst,
    /// The second alone.
    OnlySecond,
}

/// Cut encodings to `max_length` tokens, special tokens included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// Which end loses tokens.
    pub direction: Direction,
    /// Most tokens kept.
    pub max_length: usize,
    /// Which sequence of a pair is cut.
    pub strategy: TruncationStrategy,
    /// Tokens that an overflowing window shares with the one before.
    pub stride: usize,
}

/// Fill encodings to a length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Padding {
    /// A fixed number of tokens, or the longest of the batch.
    pub length: Option<usize>,
    /// Which end is filled.
    pub direction: Direction,
    /// Round the length up to a multiple of this.
    pub pad_to_multiple_of: Option<usize>,
    /// Id that fills.
    pub pad_id: u32,
    /// Type id of the filling.
    pub pad_type_id: u32,
    /// Token of `pad_id`.
    pub pad_token: String,
}

/// A token matched whole in the raw text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedToken {
    /// Its id, in the vocabulary or beyond it.
    pub id: u32,
    /// Its text.
    pub content: String,
    /// Refuse matches inside a word.
    pub single_word: bool,
    /// Swallow whitespace on the left.
    pub lstrip: bool,
    /// Swallow whitespace on the right.
    pub rstrip: bool,
    /// Match in normalized text instead of raw text.
    pub normalized: bool,
    /// Skipped by decoding unless asked for.
    pub special: bool,
}

impl AddedToken {
    /// A special token, sought in the text as it was given.
    #[must_use]
    pub fn special(content: &str, id: u32) -> Self {
        Self {
            id,
            content: content.to_owned(),
            single_word: false,
            lstrip: false,
            rstrip: false,
            normalized: false,
            special: true,
        }
    }
}
