//! The settings of BPE training.

use piecework_core::error::{Error, ErrorKind};
use serde::Deserialize;

use crate::alphabet::characters;
use crate::count::Counts;
use crate::{AlphabetOrder, PieceRules};

/// The order among the most frequent pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BpeTies {
    /// The pair with the lower left id, then the lower right id, as in `tokenizers`.
    #[default]
    LowestIds,
    /// The pair with the greater left string, then the greater right string, as in subword-nmt.
    GreatestStrings,
    /// The pair whose merged entry has fewer characters, then the smaller string, as in SentencePiece; then
    /// the pair with the shorter left entry.
    ShortestEntries,
    /// The pair that occurs first in the corpus; requires counts with first positions.
    FirstSeen,
}

/// The settings of a BPE trainer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BpeTrainSpec {
    /// The number of entries to learn, special tokens and alphabet included.
    pub vocab_size: usize,
    /// The least count of a pair that is merged; 0 means 1.
    pub min_frequency: u64,
    /// The most characters of the alphabet; the most frequent ones are kept.
    pub limit_alphabet: Option<usize>,
    /// Characters that the alphabet includes even if the corpus does not contain them.
    #[serde(deserialize_with = "characters")]
    pub initial_alphabet: Vec<char>,
    /// Entries that come first. A character or a merge with the same text has the same id.
    pub special_tokens: Vec<String>,
    /// The prefix of entries that do not begin a word; often empty.
    pub continuing_subword_prefix: String,
    /// The suffix of entries that end a word; often empty.
    pub end_of_word_suffix: String,
    /// The order of the entries of single characters.
    pub alphabet_order: AlphabetOrder,
    /// The most characters of an entry, prefix and suffix not counted.
    pub max_token_length: Option<usize>,
    /// The order among the most frequent pairs.
    pub ties: BpeTies,
    /// The rules for merged entries; `None` allows all.
    #[serde(default)]
    pub piece_rules: Option<PieceRules>,
    /// Whether pairs whose merged string is already an entry are skipped.
    #[serde(default)]
    pub distinct: bool,
}

impl BpeTrainSpec {
    /// Reject counts without the positions that the ties or the alphabet need.
    pub(super) fn check_positions(&self, counts: &Counts) -> Result<(), Error> {
        self.alphabet_order.check(counts)?;
        if self.ties != BpeTies::FirstSeen || counts.first().is_some() {
            return Ok(());
        }
        let found = "\"first-seen\" with counts that have no first positions";
        let expected =
            "counts of one run, shards counted with distinct source numbers (first_source=, source= or \
                        `piecework count --first-source`), Counts(..., first=...), or ties=\"lowest-ids\"";
        Err(Error::new(ErrorKind::Argument, "ties", found, expected))
    }
}
