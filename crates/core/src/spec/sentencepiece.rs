//! The normalizer, the four models and the decoder of SentencePiece, with the field names of its `.model` files.

use serde::Deserialize;

/// Settings of the normalizer (`NormalizerSpec`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentencePieceNormalizerSpec {
    /// The `precompiled_charsmap`: a double-array trie and its replacements; empty for no rules.
    pub charsmap: Vec<u8>,
    /// Adds a space before the text, or after it with `treat_whitespace_as_suffix`.
    pub add_dummy_prefix: bool,
    /// Removes spaces at both ends and repeated spaces.
    pub remove_extra_whitespaces: bool,
    /// Replaces spaces by the metaspace `▁`.
    pub escape_whitespaces: bool,
    /// Spaces end the word before them instead of beginning the next one.
    pub treat_whitespace_as_suffix: bool,
    /// The user-defined symbols, which no rule changes.
    pub user_defined_symbols: Vec<String>,
}

/// The type of a piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PieceType {
    /// `NORMAL`: segmentation uses it.
    #[default]
    Normal,
    /// `UNKNOWN`: the one piece for unknown characters.
    Unknown,
    /// `CONTROL`: never matches text; decoding drops it.
    Control,
    /// `USER_DEFINED`: always matches, and is never split.
    UserDefined,
    /// `UNUSED`: segmentation does not emit it.
    Unused,
    /// `BYTE`: a byte of byte fallback, such as `<0x0A>`.
    Byte,
}

impl PieceType {
    /// All types, in the order of their numbers.
    pub const ALL: [Self; 6] =
        [Self::Normal, Self::Unknown, Self::Control, Self::UserDefined, Self::Unused, Self::Byte];
}

/// One piece of the vocabulary; its id is its position.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredPiece {
    /// The text of the piece, with `▁` for spaces.
    pub text: String,
    /// The log probability (Unigram), or the negated merge rank (BPE).
    pub score: f32,
    /// The type of the piece.
    pub kind: PieceType,
}

/// The `model_type` of a SentencePiece model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SentencePieceKind {
    /// `UNIGRAM`: the segmentation with the highest score.
    #[default]
    Unigram,
    /// `BPE`: adjacent pieces are merged, the best score first.
    Bpe,
    /// `WORD`: whole words.
    Word,
    /// `CHAR`: single characters.
    Char,
}

/// Settings of a model of SentencePiece.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SentencePieceSpec {
    /// The `model_type`.
    pub kind: SentencePieceKind,
    /// The pieces, by id.
    pub pieces: Vec<ScoredPiece>,
    /// Unknown characters become byte pieces.
    pub byte_fallback: bool,
    /// The beginning-of-text piece, if it is in the vocabulary.
    pub bos_piece: String,
    /// The end-of-text piece, if it is in the vocabulary.
    pub eos_piece: String,
    /// The padding piece, if it is in the vocabulary.
    pub pad_piece: String,
    /// The lowest score of the full vocabulary, which sets the unknown penalty; `None` takes the lowest score of
    /// the normal pieces.
    pub lowest_score: Option<f32>,
    /// The `self_test_data`: inputs and their expected pieces, joined by spaces.
    pub self_test: Vec<(String, String)>,
    /// All other fields of the file, as bytes: trainer settings, names and unknown fields.
    pub rest: Vec<u8>,
}

/// Settings of the decoder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentencePieceDecoderSpec {
    /// The normalizer added a space before the text, which decoding removes.
    pub add_dummy_prefix: bool,
    /// The normalizer removed spaces at the beginning of the text, so decoding does as well.
    pub remove_extra_whitespaces: bool,
    /// The unknown piece.
    pub unk_piece: String,
    /// The text that decoding writes for the unknown piece.
    pub unk_surface: String,
    /// The control symbols, which decoding drops.
    pub control_symbols: Vec<String>,
    /// Decodes pieces such as `<0x0A>` as bytes.
    pub byte_fallback: bool,
    /// The `denormalizer_spec`: normalizes the decoded text.
    pub denormalizer: Option<SentencePieceNormalizerSpec>,
}
