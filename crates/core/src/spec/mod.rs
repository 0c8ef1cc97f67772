//! The specification of a tokenizer as plain data: one struct or enum for each stage, named as in `tokenizer.json`.

mod custom;
mod decoders;
mod merge_list;
mod models;
mod normalizers;
mod parse_special;
mod patterns;
mod post_processors;
mod pre_tokenizers;
mod sentencepiece;

use serde::Deserialize;

use crate::error::{Error, ErrorKind};

pub use custom::{CharSpan, CustomSpec, CustomWords, Rewritten, TextFunction};
pub use decoders::DecoderSpec;
pub use merge_list::MergeList;
pub use models::{
    BpeSpec, CharSpec, ModelSpec, Segmentation, UnigramSpec, UnknownUnit, VocabSpec, WordPieceSpec,
    WordSpec,
};
pub use normalizers::{BertNormalizerSpec, Cleaning, NormalizerSpec};
pub use parse_special::ParseSpecial;
pub use patterns::{ByteLevelSpec, MetaspaceSpec, PatternSpec, PrependScheme, SplitBehavior};
pub use post_processors::{PostProcessorSpec, TemplatePiece, TemplateSpec, TemplateToken};
pub use pre_tokenizers::PreTokenizerSpec;
pub use sentencepiece::{
    PieceType, ScoredPiece, SentencePieceDecoderSpec, SentencePieceKind, SentencePieceNormalizerSpec,
    SentencePieceSpec,
};

/// The most steps of one stage, including the steps of nested sequences.
pub(crate) const MAX_STEPS: usize = 1024;

/// Return an error for a stage at `place` that has more than [`MAX_STEPS`] steps.
pub(crate) fn check_steps(count: usize, place: &str) -> Result<(), Error> {
    if count <= MAX_STEPS {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Format, place, format!("{count} steps"), format!("at most {MAX_STEPS}")))
}

/// A whole tokenizer. A stage that is `None` passes its input on.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenizerSpec {
    /// `truncation`: how encodings are shortened to a length.
    pub truncation: Option<Truncation>,
    /// `padding`: how encodings are padded to a length.
    pub padding: Option<Padding>,
    /// `added_tokens`: tokens that are matched before the model runs.
    pub added_tokens: Vec<AddedToken>,
    /// `normalizer`: rewrites the text.
    pub normalizer: Option<NormalizerSpec>,
    /// `pre_tokenizer`: splits the normalized text into words.
    pub pre_tokenizer: Option<PreTokenizerSpec>,
    /// `post_processor`: adds special tokens and type ids.
    pub post_processor: Option<PostProcessorSpec>,
    /// `decoder`: turns tokens into text.
    pub decoder: Option<DecoderSpec>,
    /// `model`: segments words into tokens of the vocabulary.
    pub model: ModelSpec,
}

impl TokenizerSpec {
    /// Return a specification of a model alone, without other stages.
    #[must_use]
    pub fn of(model: ModelSpec) -> Self {
        Self {
            truncation: None,
            padding: None,
            added_tokens: Vec::new(),
            normalizer: None,
            pre_tokenizer: None,
            post_processor: None,
            decoder: None,
            model,
        }
    }
}

/// Copies a borrowed specification.
impl From<&TokenizerSpec> for TokenizerSpec {
    fn from(spec: &TokenizerSpec) -> Self {
        spec.clone()
    }
}

/// The end of a sequence that truncation shortens or padding extends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The beginning of the sequence.
    Left,
    /// The end of the sequence.
    Right,
}

impl Direction {
    /// Return the name of the end: `left` or `right`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
        }
    }
}

/// The sequence of a pair that truncation shortens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TruncationStrategy {
    /// The longer sequence, down to the length of the other, then both.
    LongestFirst,
    /// Only the first sequence.
    OnlyFirst,
    /// Only the second sequence.
    OnlySecond,
}

/// Settings of truncation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Truncation {
    /// The end that loses tokens.
    pub direction: Direction,
    /// The most tokens of an encoding, special tokens included.
    pub max_length: usize,
    /// The sequence of a pair that truncation shortens.
    pub strategy: TruncationStrategy,
    /// The number of tokens that an overflowing window shares with the one before.
    pub stride: usize,
}

impl Truncation {
    /// Return the settings that keep the first `max_length` tokens, of a pair first those of the shorter sequence.
    #[must_use]
    pub fn to(max_length: usize) -> Self {
        Self {
            direction: Direction::Right,
            max_length,
            strategy: TruncationStrategy::LongestFirst,
            stride: 0,
        }
    }
}

/// Settings of padding.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Padding {
    /// The length in tokens (`Fixed`); `None` is the longest encoding of the batch (`BatchLongest`).
    pub length: Option<usize>,
    /// The end that is padded.
    pub direction: Direction,
    /// Rounds the length up to a multiple of this number.
    pub pad_to_multiple_of: Option<usize>,
    /// The id of the padding token.
    pub pad_id: u32,
    /// The type id of the padding.
    pub pad_type_id: u32,
    /// The padding token.
    pub pad_token: String,
}

impl Padding {
    /// Return the settings that pad at the end, to the longest encoding of a batch.
    #[must_use]
    pub fn with(pad_token: &str, pad_id: u32) -> Self {
        Self {
            length: None,
            direction: Direction::Right,
            pad_to_multiple_of: None,
            pad_id,
            pad_type_id: 0,
            pad_token: pad_token.to_owned(),
        }
    }
}

/// A token that is matched whole, before the model segments the text around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedToken {
    /// The id, in the vocabulary of the model or beyond it.
    pub id: u32,
    /// The text of the token.
    pub content: String,
    /// The token matches only where no word character (`\w`) is beside it.
    pub single_word: bool,
    /// The match includes the whitespace before it.
    pub lstrip: bool,
    /// The match includes the whitespace after it.
    pub rstrip: bool,
    /// The token is matched in the normalized text instead of the raw text.
    pub normalized: bool,
    /// The token is special: decoding skips it if `skip_special_tokens` is set.
    pub special: bool,
}

impl AddedToken {
    /// Return a special token that is matched in the raw text.
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
