//! SentencePiece: its normalizer, its four models and its decoder.

/// Settings of the normalizer of SentencePiece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentencePieceNormalizerSpec {
    /// The compiled rules, empty for none: a double-array trie and the replacements it points to.
    pub charsmap: Vec<u8>,
    /// Put a space before the text, or after it with `treat_whitespace_as_suffix`.
    pub add_dummy_prefix: bool,
    /// Remove spaces at the ends and all but one of several.
    pub remove_extra_whitespaces: bool,
    /// Write a space as `▁`.
    pub escape_whitespaces: bool,
    /// Spaces belong to the word before them.
    pub treat_whitespace_as_suffix: bool,
    /// Texts that no rule touches.
    pub user_defined_symbols: Vec<String>,
}

/// What a piece is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PieceType {
    /// Found in text.
    #[default]
    Normal,
    /// Stands for what no piece covers; there is one.
    Unknown,
    /// Never found in text, never shown.
    Control,
    /// Always found in text, never split.
    UserDefined,
    /// Not given out.
    Unused,
    /// A byte, such as `<0x0A>`.
    Byte,
}

/// One entry of the vocabulary; its id is its place.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredPiece {
    /// Its text, spaces as `▁`.
    pub text: String,
    /// Its log probability, or for BPE its rank below zero.
    pub score: f32,
    /// What it is.
    pub kind: PieceType,
}

/// How SentencePiece segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SentencePieceKind {
    /// The likeliest segmentation.
    #[default]
    Unigram,
    /// Neighbours joined, the best score first.
    Bpe,
    /// Whole words.
    Word,
    /// Single characters.
    Char,
}

/// Settings of a model of SentencePiece.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SentencePieceSpec {
    /// Which model.
    pub kind: SentencePieceKind,
    /// The vocabulary.
    pub pieces: Vec<ScoredPiece>,
    /// Unknown characters are spelled by byte pieces.
    pub byte_fallback: bool,
    /// The piece that begins a text, where it is among the pieces.
    pub bos_piece: String,
    /// The piece that ends a text, where it is among the pieces.
    pub eos_piece: String,
    /// The piece that fills, where it is among the pieces.
    pub pad_piece: String,
    /// The score that unknown characters are measured by, where it is not the lowest of the normal pieces: a
    /// restricted vocabulary keeps that of the whole.
    pub lowest_score: Option<f32>,
    /// Texts and the pieces expected of them, joined by spaces; checked by SentencePiece when it loads.
    pub self_test: Vec<(String, String)>,
    /// The rest of the file, as its bytes: settings of the training, names, fields of others.
    pub rest: Vec<u8>,
}

/// Settings of the decoder of SentencePiece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentencePieceDecoderSpec {
    /// The text had a space put before it.
    pub add_dummy_prefix: bool,
    /// The text had no spaces at the beginning.
    pub remove_extra_whitespaces: bool,
    /// The piece of the unknown.
    pub unk_piece: String,
    /// What is shown for it.
    pub unk_surface: String,
    /// Pieces that are not shown.
    pub control_symbols: Vec<String>,
    /// Pieces such as `<0x0A>` are bytes.
    pub byte_fallback: bool,
    /// What is done to the text at the end.
    pub denormalizer: Option<SentencePieceNormalizerSpec>,
}
