//! The settings of WordPiece training.

use crate::count::Counts;
use crate::error::{Error, ErrorKind};
use crate::spec::Segmentation;
use crate::train::AlphabetOrder;

/// Seeds of the pruning trainer for each entry of the vocabulary.
const SEEDS_PER_ENTRY: usize = 8;
/// The largest `balance`.
const MAX_BALANCE: f64 = 1000.0;
/// The largest `use_cap`.
const MAX_USE_CAP: f64 = 1e6;

/// The criterion by which a trainer chooses the next entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PairScore {
    /// The exact gain of the unigram log-likelihood of the corpus, after Schuster and Nakajima 2012,
    /// section 3.
    Likelihood,
    /// f(ab) / (f(a) f(b)), the formula published for WordPiece.
    Pmi,
    /// The pair count, as in `tokenizers`.
    Frequency,
    /// Frequent substrings, longest first, as in TensorFlow Text (Song et al. 2021).
    TopDown,
    /// Many substrings, of which the one whose removal costs least is removed.
    #[default]
    Pruning,
}

/// The order among pairs of equal score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordPieceTies {
    /// The pair with the lower left id, then the lower right id, as in `tokenizers`.
    LowestIds,
    /// The pair with the smaller left string, then the smaller right string, by code points. Strings
    /// include the continuation prefix.
    SmallestStrings,
    /// The pair that occurs first in the corpus; requires counts with first positions.
    FirstSeen,
}

/// The settings of a WordPiece trainer.
#[derive(Clone, Debug, PartialEq)]
pub struct WordPieceTrainSpec {
    /// The number of entries to learn, special tokens and alphabet included.
    pub vocab_size: usize,
    /// The criterion by which the next entry is chosen.
    pub score: PairScore,
    /// The order among pairs of equal score; `None` selects the default of the score.
    pub ties: Option<WordPieceTies>,
    /// The least count of a pair or substring that is learned; 0 means 1.
    pub min_frequency: u64,
    /// The most characters of the alphabet; the most frequent ones are kept.
    pub limit_alphabet: Option<usize>,
    /// Characters that the alphabet includes even if the corpus does not contain them.
    pub initial_alphabet: Vec<char>,
    /// Entries that come first. A character or a merge with the same text has the same id.
    pub special_tokens: Vec<String>,
    /// The continuation prefix: the prefix of entries that do not begin a word.
    pub continuing_subword_prefix: String,
    /// The order of the entries of single characters.
    pub alphabet_order: AlphabetOrder,
    /// The most characters of an entry, the prefix not counted.
    pub max_token_length: Option<usize>,
    /// The settings of `PairScore::Pruning`.
    pub pruning: PruningSpec,
    /// The number of threads, which changes no result; `Pruning` and `TopDown` use more than one.
    pub num_threads: usize,
}

impl Default for WordPieceTrainSpec {
    fn default() -> Self {
        Self {
            vocab_size: 30_000,
            score: PairScore::default(),
            ties: None,
            min_frequency: 2,
            limit_alphabet: None,
            initial_alphabet: Vec::new(),
            special_tokens: ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"].map(String::from).to_vec(),
            continuing_subword_prefix: "##".to_owned(),
            alphabet_order: AlphabetOrder::default(),
            max_token_length: None,
            pruning: PruningSpec::default(),
            num_threads: 1,
        }
    }
}

impl WordPieceTrainSpec {
    /// The order among pairs of equal score: the setting, or the default of the score.
    pub(super) fn ties(&self) -> WordPieceTies {
        self.ties.unwrap_or(self.score.default_ties())
    }

    /// Reject counts without the positions that the ties need, and ties where no pairs are merged.
    pub(super) fn check_ties(&self, counts: &Counts) -> Result<(), Error> {
        let (found, expected) = if self.score == PairScore::TopDown && self.ties.is_some() {
            ("an order of pairs", "none: score=\"top-down\" ranks substrings by count, then by code points")
        } else if self.score == PairScore::Pruning && self.ties.is_some() {
            ("an order of pairs", "none: algorithm=\"pruning\" merges no pairs")
        } else if self.ties() == WordPieceTies::FirstSeen && counts.first().is_none() {
            (
                "\"first-seen\" with counts that have no first positions",
                "counts of one run, shards counted with distinct source numbers (first_source=, source= or \
                 `piecework count --first-source`), Counts(..., first=...), or ties=\"smallest-strings\"",
            )
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::Argument, "ties", found, expected))
    }
}

impl PairScore {
    /// The ties of this score when the settings do not name them; `TopDown` and `Pruning` merge no
    /// pairs.
    #[must_use]
    pub fn default_ties(self) -> WordPieceTies {
        match self {
            Self::Likelihood => WordPieceTies::SmallestStrings,
            Self::Pmi => WordPieceTies::FirstSeen,
            Self::Frequency | Self::TopDown | Self::Pruning => WordPieceTies::LowestIds,
        }
    }
}

/// The settings of the pruning trainer only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PruningSpec {
    /// The segmentation of the model, for which the vocabulary is chosen.
    pub segmentation: Segmentation,
    /// The weight of surprisal: a token costs 1 + balance x -ln(its share of all tokens).
    pub balance: f64,
    /// The most that one use of an entry counts for in its loss; no limit if `None`.
    pub use_cap: Option<f64>,
    /// The number of seeds, at least `vocab_size`; eight for each entry if `None`.
    pub seed_size: Option<usize>,
    /// Whether the result lists the removals.
    pub record_removals: bool,
}

impl Default for PruningSpec {
    fn default() -> Self {
        Self {
            segmentation: Segmentation::Greedy,
            balance: 0.0,
            use_cap: None,
            seed_size: None,
            record_removals: false,
        }
    }
}

impl PruningSpec {
    /// The number of seeds for a vocabulary of `vocab_size` entries.
    pub(super) fn seeds(&self, vocab_size: usize) -> usize {
        self.seed_size.unwrap_or_else(|| vocab_size.saturating_mul(SEEDS_PER_ENTRY)).max(vocab_size)
    }

    /// Reject weights that are not finite or too large.
    pub(super) fn check(&self) -> Result<(), Error> {
        let reject = |name: &str, found: f64, expected: String| {
            Err(Error::new(ErrorKind::Argument, name, found.to_string(), expected))
        };
        if !(0.0..=MAX_BALANCE).contains(&self.balance) {
            return reject("balance", self.balance, format!("a number from 0 to {MAX_BALANCE}"));
        }
        match self.use_cap {
            Some(cap) if !(cap > 0.0 && cap <= MAX_USE_CAP) => {
                reject("use_cap", cap, format!("a number above 0, up to {MAX_USE_CAP}"))
            }
            _ => Ok(()),
        }
    }
}
