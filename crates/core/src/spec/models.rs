//! Models and vocabularies, as in `tokenizer.json`.

use std::borrow::Cow;

use serde::Deserialize;

use super::{MergeList, SentencePieceSpec};

/// A vocabulary: (token, id) pairs in file order.
pub type VocabSpec = Vec<(String, u32)>;

/// The `model` of a tokenizer, with its vocabulary.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelSpec {
    /// `WordPiece`: the longest match from the left, with a continuation prefix.
    WordPiece(WordPieceSpec),
    /// `WordLevel`: whole words.
    Word(WordSpec),
    /// Single characters; `tokenizer.json` has no such kind.
    Char(CharSpec),
    /// `BPE`: characters or bytes, merged by rank.
    Bpe(BpeSpec),
    /// `Unigram`: the segmentation with the highest score.
    Unigram(UnigramSpec),
    /// One of the four models of SentencePiece, which segment whole texts.
    SentencePiece(SentencePieceSpec),
}

/// Settings of a BPE model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BpeSpec {
    /// The tokens and their ids.
    pub vocab: VocabSpec,
    /// The pairs of tokens to merge, by merge rank.
    pub merges: MergeList,
    /// The share of merges that are skipped at random where segmentations are drawn (BPE-dropout).
    pub dropout: Option<f64>,
    /// The token for unknown characters.
    pub unk_token: Option<String>,
    /// The prefix of tokens inside a word.
    pub continuing_subword_prefix: Option<String>,
    /// The suffix of tokens at the end of a word, such as `</w>`.
    pub end_of_word_suffix: Option<String>,
    /// Adjacent unknown characters become one unknown token.
    pub fuse_unk: bool,
    /// Unknown characters become byte tokens such as `<0x0A>`.
    pub byte_fallback: bool,
    /// A word in the vocabulary becomes its token without merging.
    pub ignore_merges: bool,
}

impl BpeSpec {
    /// Return whether tokens inside a word or at its end have a prefix or suffix that is not text.
    pub(crate) fn has_affixes(&self) -> bool {
        let affixes = [&self.continuing_subword_prefix, &self.end_of_word_suffix];
        affixes.into_iter().flatten().any(|affix| !affix.is_empty())
    }
}

/// Settings of a Unigram model; the id of a token is its position.
#[derive(Clone, Debug, PartialEq)]
pub struct UnigramSpec {
    /// The tokens and their scores (log probabilities).
    pub vocab: Vec<(String, f64)>,
    /// The id of the token for unknown characters.
    pub unk_id: Option<usize>,
    /// Unknown characters become byte tokens such as `<0x0A>`.
    pub byte_fallback: bool,
}

/// The unit that becomes an unknown token where no token matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownUnit {
    /// The whole word.
    #[default]
    Word,
    /// Only the unmatched character.
    Char,
}

/// The segmentation that a WordPiece model selects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Segmentation {
    /// The longest match from the left, repeated.
    #[default]
    Greedy,
    /// The fewest tokens; among those, the longest first token.
    Shortest,
}

/// Settings of a WordPiece model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordPieceSpec {
    /// The tokens and their ids.
    pub vocab: VocabSpec,
    /// The token for words or characters that no token matches.
    pub unk_token: String,
    /// The prefix of tokens inside a word, such as `##`.
    pub continuing_subword_prefix: String,
    /// The most characters of a word; a longer word is unknown.
    pub max_input_chars_per_word: usize,
    /// The unit that becomes an unknown token; `tokenizer.json` always means the word.
    pub unk: UnknownUnit,
    /// The segmentation to select; `tokenizer.json` always means the greedy one.
    pub segmentation: Segmentation,
}

/// Settings of a word model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordSpec {
    /// The words and their ids.
    pub vocab: VocabSpec,
    /// The token for all other words.
    pub unk_token: String,
}

/// Settings of a character model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CharSpec {
    /// The characters and their ids, and special tokens.
    pub vocab: VocabSpec,
    /// The token for all other characters.
    pub unk_token: String,
}

impl ModelSpec {
    /// Return a model without entries, for a specification whose model is not used.
    #[must_use]
    pub fn empty() -> Self {
        Self::Word(WordSpec { vocab: Vec::new(), unk_token: String::new() })
    }

    /// Return the tokens and ids of the model.
    #[must_use]
    pub fn vocab(&self) -> Cow<'_, VocabSpec> {
        match self {
            Self::WordPiece(spec) => Cow::Borrowed(&spec.vocab),
            Self::Word(spec) => Cow::Borrowed(&spec.vocab),
            Self::Char(spec) => Cow::Borrowed(&spec.vocab),
            Self::Bpe(spec) => Cow::Borrowed(&spec.vocab),
            Self::Unigram(spec) => {
                let numbered = spec.vocab.iter().zip(0..).map(|((token, _), id)| (token.clone(), id));
                Cow::Owned(numbered.collect())
            }
            Self::SentencePiece(spec) => {
                let numbered = spec.pieces.iter().zip(0..).map(|(piece, id)| (piece.text.clone(), id));
                Cow::Owned(numbered.collect())
            }
        }
    }
}
