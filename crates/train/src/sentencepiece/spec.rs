//! The settings of SentencePiece training.

use piecework_core::spec::SentencePieceKind;
use serde::Deserialize;

use crate::alphabet::characters;
use crate::wordpiece::Pruning;
use crate::PieceRules;

/// The settings of a SentencePiece trainer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SentencePieceTrainSpec {
    /// The kind of model.
    pub kind: SentencePieceKind,
    /// The number of pieces, symbols included; `None` takes all words or characters.
    pub vocab_size: Option<usize>,
    /// Whether fewer pieces are an error.
    pub hard_vocab_limit: bool,
    /// The pieces that are not learned; learned pieces never cross them.
    pub symbols: Vec<String>,
    /// The share of the text that the characters among the pieces cover.
    pub character_coverage: f64,
    /// Characters that are always pieces.
    #[serde(deserialize_with = "characters")]
    pub required_chars: Vec<char>,
    /// The rules for pieces.
    pub piece_rules: PieceRules,
    /// Pieces never cross this string; empty for none.
    pub pretokenization_delimiter: String,
    /// Unigram: the most initial pieces.
    pub seed_size: usize,
    /// Unigram: the initial pieces with their counts; `None` selects frequent substrings of the corpus.
    pub seeds: Option<Vec<(String, u64)>>,
    /// Unigram: choose the initial pieces by pruning, as many as the model has; `None` prunes them by likelihood.
    #[serde(default)]
    pub pruning: Option<Pruning>,
    /// Unigram: the share of the pieces that a round keeps.
    pub shrinking_factor: f64,
    /// Unigram: EM steps in a round.
    pub num_sub_iterations: usize,
    /// BPE: when pieces begin to cross spaces; only for counts of sequences of words.
    pub superwords: Option<SuperwordPieces>,
}

/// When pieces begin to cross spaces, and the rules for them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuperwordPieces {
    /// The number of pieces of single words, symbols and characters included; the following ones may cross spaces.
    pub transition: usize,
    /// Whether fewer pieces of single words are an error; otherwise those that may cross spaces follow them.
    pub is_exact: bool,
    /// The rules for the following pieces, which may contain spaces.
    pub piece_rules: PieceRules,
}

impl SuperwordPieces {
    /// Return whether a vocabulary of this size may have pieces that cross spaces.
    pub(super) fn crosses_spaces(&self, vocab_size: Option<usize>) -> bool {
        !self.is_exact || vocab_size.is_none_or(|size| self.transition < size)
    }
}

impl Default for SentencePieceTrainSpec {
    fn default() -> Self {
        Self {
            kind: SentencePieceKind::Unigram,
            vocab_size: Some(8_000),
            hard_vocab_limit: true,
            symbols: ["<unk>", "<s>", "</s>"].map(String::from).to_vec(),
            character_coverage: 0.9995,
            required_chars: Vec::new(),
            piece_rules: PieceRules::default(),
            pretokenization_delimiter: String::new(),
            seed_size: 1_000_000,
            seeds: None,
            pruning: None,
            shrinking_factor: 0.75,
            num_sub_iterations: 2,
            superwords: None,
        }
    }
}

impl SentencePieceTrainSpec {
    /// Return whether all words or characters are taken.
    pub(super) fn takes_all(&self) -> bool {
        self.vocab_size.is_none()
    }

    /// Return the number of pieces to learn.
    pub(super) fn learned(&self) -> usize {
        self.vocab_size.unwrap_or(usize::MAX).saturating_sub(self.symbols.len())
    }

    /// Return whether pieces are whole words or characters, ranked by count.
    pub(super) fn is_counted(&self) -> bool {
        matches!(self.kind, SentencePieceKind::Word | SentencePieceKind::Char)
    }
}
