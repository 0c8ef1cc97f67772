//! What a tokenizer can be, as plain data: one struct or enum for each stage.

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
    /// Words to vocabulary entries.
    pub model: ModelSpec,
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

/// Normalizers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NormalizerSpec {
    /// BERT's cleaning, CJK spacing, accent stripping and lowercasing.
    Bert(BertNormalizerSpec),
}

/// Settings of BERT's normalizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BertNormalizerSpec {
    /// Remove control characters, make all whitespace a space.
    pub clean_text: bool,
    /// Put spaces around CJK ideographs.
    pub handle_chinese_chars: bool,
    /// Decompose and drop nonspacing marks; `None` follows `lowercase`.
    pub strip_accents: Option<bool>,
    /// Lowercase without context.
    pub lowercase: bool,
}

/// Pre-tokenizers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreTokenizerSpec {
    /// Whitespace removed, every punctuation character alone.
    Bert,
    /// Whitespace removed.
    WhitespaceSplit,
    /// Every punctuation character alone.
    Punctuation,
}

/// A vocabulary as (token, id) in file order.
pub type VocabSpec = Vec<(String, u32)>;

/// Models, each with its vocabulary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelSpec {
    /// Longest match from the left with marked continuations.
    WordPiece(WordPieceSpec),
    /// Whole words only.
    Word(WordSpec),
    /// Single characters only.
    Char(CharSpec),
}

/// What becomes of text that no entry matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownUnit {
    /// The whole word is one unknown token.
    #[default]
    Word,
    /// Only the unmatched character is.
    Char,
}

/// Which of the possible segmentations of a word is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Segmentation {
    /// The longest entry from the left, again and again.
    #[default]
    Greedy,
    /// The fewest pieces; among these the longest first piece.
    Shortest,
}

/// Settings of a WordPiece model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordPieceSpec {
    /// The entries.
    pub vocab: VocabSpec,
    /// The entry for what cannot be matched.
    pub unk_token: String,
    /// What marks an entry inside a word.
    pub continuing_subword_prefix: String,
    /// Longer words, in characters, are unknown.
    pub max_input_chars_per_word: usize,
    /// What becomes unknown.
    pub unk: UnknownUnit,
    /// Which segmentation is taken.
    pub segmentation: Segmentation,
}

/// Settings of a word model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordSpec {
    /// The entries.
    pub vocab: VocabSpec,
    /// The entry for all other words.
    pub unk_token: String,
}

/// Settings of a character model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CharSpec {
    /// The entries, one character each (special tokens aside).
    pub vocab: VocabSpec,
    /// The entry for all other characters.
    pub unk_token: String,
}

impl ModelSpec {
    /// The entries of whichever model this is.
    #[must_use]
    pub fn vocab(&self) -> &VocabSpec {
        match self {
            Self::WordPiece(spec) => &spec.vocab,
            Self::Word(spec) => &spec.vocab,
            Self::Char(spec) => &spec.vocab,
        }
    }
}

/// Post-processors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostProcessorSpec {
    /// `cls A sep` and `cls A sep B sep`, B and its sep of type 1.
    Bert {
        /// Token and id that end a sequence.
        sep: (String, u32),
        /// Token and id that begin the encoding.
        cls: (String, u32),
    },
    /// Any arrangement of sequences and special tokens.
    Template(TemplateSpec),
}

/// A template for one sequence and one for a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateSpec {
    /// Arrangement of one sequence.
    pub single: Vec<TemplatePiece>,
    /// Arrangement of a pair.
    pub pair: Vec<TemplatePiece>,
    /// What each special token of the template stands for, in file order.
    pub special_tokens: Vec<TemplateToken>,
}

/// One place in a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplatePiece {
    /// The first (0) or second (1) sequence, with its type id.
    Sequence(u8, u32),
    /// A special token by name, with its type id.
    Special(String, u32),
}

/// A named special token and its ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateToken {
    /// Its name in the template.
    pub name: String,
    /// The ids it puts in.
    pub ids: Vec<u32>,
    /// Their tokens.
    pub tokens: Vec<String>,
}

/// Decoders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecoderSpec {
    /// Spaces between tokens, none before continuations.
    WordPiece {
        /// What marks a continuation.
        prefix: String,
        /// Tidy the spaces around punctuation.
        cleanup: bool,
    },
    /// Nothing between tokens.
    Fuse,
}
