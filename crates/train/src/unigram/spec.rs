//! The settings of Unigram training.

use serde::Deserialize;

use crate::alphabet::characters;
use crate::wordpiece::Pruning;
use crate::PieceRules;

/// The settings of a Unigram trainer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnigramTrainSpec {
    /// The number of entries to learn, all others included.
    pub vocab_size: usize,
    /// Entries that come first and never occur in a segmentation.
    pub special_tokens: Vec<String>,
    /// Entries that come next; words are split around them.
    pub user_defined_symbols: Vec<String>,
    /// Whether the entries `<0x00>` to `<0xFF>` come next.
    pub byte_fallback: bool,
    /// The share of the characters of the corpus that the alphabet covers; the rarest are not entries.
    pub character_coverage: f64,
    /// Characters that are entries even if they are rare or do not occur.
    #[serde(deserialize_with = "characters")]
    pub initial_alphabet: Vec<char>,
    /// The most initial pieces.
    pub seed_size: usize,
    /// The initial pieces with their counts; `None` selects frequent substrings of the corpus.
    pub seeds: Option<Vec<(String, u64)>>,
    /// Choose the initial pieces by pruning, as many as the vocabulary has; `None` prunes them by likelihood.
    #[serde(default)]
    pub pruning: Option<Pruning>,
    /// Whether only characters that are given as seeds are pieces; otherwise all characters of the alphabet are.
    pub only_given_characters: bool,
    /// The exponent of word counts in EM and pruning; above 0, at most 1. Lower ones weight frequent words less.
    pub count_exponent: f64,
    /// The most characters of a piece.
    pub max_piece_length: usize,
    /// The share of the pieces that a round keeps; above 0 and below 1.
    pub shrinking_factor: f64,
    /// EM steps in a round.
    pub num_sub_iterations: usize,
    /// The rules for pieces; `None` allows all of at most `max_piece_length` characters.
    #[serde(default)]
    pub piece_rules: Option<PieceRules>,
    /// Whether to learn exactly `vocab_size` entries; otherwise pruning may leave fewer.
    pub hard_limit: bool,
}

impl Default for UnigramTrainSpec {
    fn default() -> Self {
        Self {
            vocab_size: 8_000,
            special_tokens: ["<unk>", "<s>", "</s>"].map(String::from).to_vec(),
            user_defined_symbols: Vec::new(),
            byte_fallback: false,
            character_coverage: 0.9995,
            initial_alphabet: Vec::new(),
            seed_size: 1_000_000,
            seeds: None,
            pruning: None,
            only_given_characters: false,
            count_exponent: 1.0,
            max_piece_length: 16,
            shrinking_factor: 0.75,
            num_sub_iterations: 2,
            piece_rules: None,
            hard_limit: true,
        }
    }
}
