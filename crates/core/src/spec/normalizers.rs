//! Normalizers.

use super::{CustomSpec, PatternSpec, SentencePieceNormalizerSpec};

/// Normalizers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NormalizerSpec {
    /// BERT's cleaning, CJK spacing, accent stripping and lowercasing.
    Bert(BertNormalizerSpec),
    /// Canonical composition.
    Nfc,
    /// Canonical decomposition.
    Nfd,
    /// Compatibility composition.
    Nfkc,
    /// Compatibility decomposition.
    Nfkd,
    /// Lowercase without context.
    Lowercase,
    /// Remove whitespace at the ends.
    Strip {
        /// At the beginning.
        left: bool,
        /// At the end.
        right: bool,
    },
    /// Remove combining marks of every kind.
    StripAccents,
    /// Replace every match.
    Replace {
        /// What is replaced.
        pattern: PatternSpec,
        /// What stands there instead.
        content: String,
    },
    /// Put text before a text that is not empty.
    Prepend {
        /// The text.
        prepend: String,
    },
    /// Clean control and space characters as the SentencePiece `nmt` rules do.
    Nmt,
    /// The compiled rules of a SentencePiece model.
    Precompiled {
        /// The charsmap: a double-array trie and the replacements it points to.
        charsmap: Vec<u8>,
    },
    /// All that SentencePiece does to a text before it segments it.
    SentencePiece(SentencePieceNormalizerSpec),
    /// Write every byte as a printable character (GPT-2's mapping).
    ByteLevel,
    /// A function of somebody else's.
    Custom(CustomSpec),
    /// One after the other.
    Sequence(Vec<NormalizerSpec>),
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
