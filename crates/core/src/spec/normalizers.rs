//! Normalizers, as in `tokenizer.json`.

use super::{CustomSpec, PatternSpec, SentencePieceNormalizerSpec};

/// The `normalizer` of a tokenizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NormalizerSpec {
    /// `BertNormalizer`: cleans, spaces out CJK, strips accents and lowercases.
    Bert(BertNormalizerSpec),
    /// `NFC`: canonical composition.
    Nfc,
    /// `NFD`: canonical decomposition.
    Nfd,
    /// `NFKC`: compatibility composition.
    Nfkc,
    /// `NFKD`: compatibility decomposition.
    Nfkd,
    /// `Lowercase`: lowercases each character, without context.
    Lowercase,
    /// `Strip`: removes whitespace at the ends.
    Strip {
        /// Removes whitespace at the beginning (`strip_left`).
        left: bool,
        /// Removes whitespace at the end (`strip_right`).
        right: bool,
    },
    /// `StripAccents`: removes combining marks (category M).
    StripAccents,
    /// `Replace`: replaces every match.
    Replace {
        /// The text or regular expression to replace.
        pattern: PatternSpec,
        /// The replacement.
        content: String,
    },
    /// `Prepend`: adds a prefix to a text that is not empty.
    Prepend {
        /// The prefix.
        prepend: String,
    },
    /// `Nmt`: cleans control and space characters by SentencePiece's `nmt` rules.
    Nmt,
    /// `Precompiled`: applies the compiled rules of a SentencePiece model to grapheme clusters.
    Precompiled {
        /// The `precompiled_charsmap`: a double-array trie and its replacements.
        charsmap: Vec<u8>,
    },
    /// The normalizer of a SentencePiece model; `tokenizer.json` has no such kind.
    SentencePiece(SentencePieceNormalizerSpec),
    /// `ByteLevel`: maps every byte to a printable character (GPT-2).
    ByteLevel,
    /// A function of the user.
    Custom(CustomSpec),
    /// `Sequence`: several normalizers, each on the text of the one before.
    Sequence(Vec<NormalizerSpec>),
}

/// Settings of BERT's normalizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BertNormalizerSpec {
    /// Removes control characters and replaces each whitespace character by a space.
    pub clean_text: bool,
    /// Puts spaces around CJK ideographs.
    pub handle_chinese_chars: bool,
    /// Decomposes characters and removes nonspacing marks; `None` means the value of `lowercase`.
    pub strip_accents: Option<bool>,
    /// Lowercases each character; only `Cleaning::Original` looks at its context.
    pub lowercase: bool,
    /// Whose character classes and lowercase letters apply.
    pub cleaning: Cleaning,
}

impl BertNormalizerSpec {
    /// Return the settings of `tokenizers` for a vocabulary that is lowercased, or for one that is not.
    #[must_use]
    pub fn with_lowercase(lowercase: bool) -> Self {
        Self {
            clean_text: true,
            handle_chinese_chars: true,
            strip_accents: None,
            lowercase,
            cleaning: Cleaning::Tokenizers,
        }
    }
}

/// The published code that BERT's normalizer follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cleaning {
    /// `tokenizers`: drops private-use characters too, and lowercases without context.
    #[default]
    Tokenizers,
    /// The code of Devlin et al. 2019: drops categories Cc and Cf only, lowercases the last Σ of a word to ς, and puts
    /// spaces around U+2B820 to U+2B91F too.
    Original,
}
