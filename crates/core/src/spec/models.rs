//! Models and vocabularies.

use std::borrow::Cow;

use super::SentencePieceSpec;

/// A vocabulary as (token, id) in file order.
pub type VocabSpec = Vec<(String, u32)>;

/// Models, each with its vocabulary.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelSpec {
    /// Longest match from the left with marked continuations.
    WordPiece(WordPieceSpec),
    /// Whole words only.
    Word(WordSpec),
    /// Single characters only.
    Char(CharSpec),
    /// Characters joined by ranked merges.
    Bpe(BpeSpec),
    /// The likeliest segmentation.
    Unigram(UnigramSpec),
    /// One of the four models of SentencePiece, over a whole text.
    SentencePiece(SentencePieceSpec),
}

/// Settings of a BPE model.
#[derive(Clone, Debug, PartialEq)]
pub struct BpeSpec {
    /// The entries.
    pub vocab: VocabSpec,
    /// Pairs of entries, the first joined first.
    pub merges: Vec<(String, String)>,
    /// The share of merges left out at random in training; encoding here never does.
    pub dropout: Option<f64>,
    /// The entry for characters without one.
    pub unk_token: Option<String>,
    /// What marks an entry inside a word.
    pub continuing_subword_prefix: Option<String>,
    /// What marks an entry at the end of a word.
    pub end_of_word_suffix: Option<String>,
    /// Neighbouring unknown characters are one token.
    pub fuse_unk: bool,
    /// Unknown characters are spelled by byte entries such as `<0x0A>`.
    pub byte_fallback: bool,
    /// A word that is an entry is that entry, whatever the merges make of it.
    pub ignore_merges: bool,
}

impl BpeSpec {
    /// Whether entries inside a word or at its end are written otherwise than what they stand for.
    #[must_use]
    pub fn has_affixes(&self) -> bool {
        let affixes = [&self.continuing_subword_prefix, &self.end_of_word_suffix];
        affixes.into_iter().flatten().any(|affix| !affix.is_empty())
    }
}

/// Settings of a Unigram model; ids are positions.
#[derive(Clone, Debug, PartialEq)]
pub struct UnigramSpec {
    /// Entries and their log probabilities.
    pub vocab: Vec<(String, f64)>,
    /// The entry for characters without one.
    pub unk_id: Option<usize>,
    /// Unknown characters are spelled by byte entries such as `<0x0A>`.
    pub byte_fallback: bool,
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
