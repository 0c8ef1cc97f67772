//! The settings of WordPiece training, and what a learner is.

use serde::Deserialize;

use crate::alphabet::{characters, Affixes, Alphabet};
use crate::count::Counts;
use crate::entries::Entries;
use crate::merges::{PairScore, Ties};
use crate::progress::Progress;
use crate::{AlphabetForms, AlphabetOrder, Learned, Resume};
use piecework_core::error::{Error, ErrorKind};
use piecework_core::spec::Segmentation;

/// Seeds of the pruning trainer for each entry of the vocabulary.
const SEEDS_PER_ENTRY: usize = 8;
/// The largest `balance`.
const MAX_BALANCE: f64 = 1000.0;
/// The largest `max_use_cost`.
const MAX_USE_COST: f64 = 1e6;

/// Declare the settings of each learner, which implement [`Learn`] in a file or folder of their name, and the enum of them.
macro_rules! learners {
    ($($(#[$about:meta])* $Name:ident { $($settings:tt)* })*) => {
        $(
            $(#[$about])*
            #[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
            #[serde(deny_unknown_fields)]
            pub struct $Name { $($settings)* }
        )*

        /// How the entries besides special tokens and alphabet are learned.
        #[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
        #[serde(tag = "name", rename_all = "kebab-case")]
        pub enum Learner {
            $($(#[$about])* $Name($Name),)*
        }

        impl Learner {
            /// Return the learner of this variant.
            pub(crate) fn as_learn(&self) -> &dyn Learn {
                match self {
                    $(Self::$Name(learner) => learner,)*
                }
            }
        }
    };
}

learners! {
    /// Merge the pair with the best score, again and again; the ties select among equal scores.
    Merges {
        /// The score of a pair.
        pub score: PairScore,
        /// The order among pairs of equal score.
        pub ties: Ties,
    }

    /// Start from many substrings and remove the one whose removal costs least, again and again.
    Pruning {
        /// The segmentation of the model, for which the vocabulary is chosen.
        pub segmentation: Segmentation,
        /// The weight of surprisal: a token costs 1 + balance x -ln(its share of all tokens).
        pub balance: f64,
        /// The most that one use of an entry counts for in its loss; no limit if `None`.
        pub max_use_cost: Option<f64>,
        /// The number of seeds, at least `vocab_size`; eight for each entry if `None`.
        pub seed_vocab_size: Option<usize>,
        /// Whether the result lists the removals.
        #[serde(default)]
        pub record_removals: bool,
    }

    /// Keep frequent substrings, longest first, as in TensorFlow Text (Song et al. 2021).
    TopDown {}
}

/// What a learner does.
pub(crate) trait Learn {
    /// Learn a vocabulary of `spec.vocab_size` entries.
    fn learn(&self, start: Start<'_>, progress: &mut Progress<'_>) -> Result<Learned, Error>;

    /// Learn a vocabulary of each size in one run, in the order of the sizes.
    ///
    /// Errors: `Argument` for a learner that learns one size.
    fn learn_sizes(
        &self,
        _start: &Start<'_>,
        _sizes: &[usize],
        _progress: &mut Progress<'_>,
    ) -> Result<Vec<Learned>, Error> {
        let expected = "one size, or the pruning learner";
        Err(Error::new(ErrorKind::Argument, "sizes", "several sizes of another learner", expected))
    }

    /// Reject counts that lack what the learner needs.
    fn check(&self, _counts: &Counts) -> Result<(), Error> {
        Ok(())
    }

    /// Return whether the trainer of `tokenizers` is followed: the entries without the prefix precede those with it,
    /// and characters outside the alphabet are skipped.
    fn has_tokenizers_alphabet(&self) -> bool {
        false
    }
}

/// What a learner starts from; it has been checked.
pub(crate) struct Start<'a> {
    pub(crate) counts: &'a Counts,
    pub(crate) spec: &'a WordPieceTrainSpec,
    /// The merges or choices of an earlier run, and where those of this run go.
    pub(crate) resume: Resume<'a>,
    /// The number of characters in distinct words.
    pub(crate) chars: usize,
    pub(crate) alphabet: Alphabet,
    /// The special tokens and the alphabet.
    pub(crate) entries: Entries,
}

impl Start<'_> {
    /// Return the least count of a substring that is learned.
    pub(crate) fn min_count(&self) -> u64 {
        self.spec.min_frequency.max(1)
    }
}

/// The settings of a WordPiece trainer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WordPieceTrainSpec {
    /// The number of entries to learn, special tokens and alphabet included.
    pub vocab_size: usize,
    /// How the entries besides special tokens and alphabet are learned.
    pub learner: Learner,
    /// The least count of a pair or substring that is learned; 0 means 1.
    pub min_frequency: u64,
    /// The most characters of the alphabet; the most frequent ones are kept.
    pub limit_alphabet: Option<usize>,
    /// Characters that the alphabet includes even if the corpus does not contain them.
    #[serde(deserialize_with = "characters")]
    pub initial_alphabet: Vec<char>,
    /// Entries that come first. A character or a merge with the same text has the same id.
    pub special_tokens: Vec<String>,
    /// The continuation prefix: the prefix of entries that do not begin a word.
    pub continuing_subword_prefix: String,
    /// The order of the entries of single characters.
    pub alphabet_order: AlphabetOrder,
    /// The positions in words for which characters have entries.
    pub alphabet_forms: AlphabetForms,
    /// The characters that the pipeline makes words of their own, so that no word has one inside
    /// ([`crate::count::Counts::isolated_characters`]).
    #[serde(deserialize_with = "characters")]
    pub isolated_characters: Vec<char>,
    /// The most characters of an entry, the prefix not counted.
    pub max_token_length: Option<usize>,
    /// The number of threads, which changes no result; `Pruning` and `TopDown` use more than one.
    pub num_threads: usize,
}

impl Default for WordPieceTrainSpec {
    fn default() -> Self {
        Self {
            vocab_size: 30_000,
            learner: Learner::default(),
            min_frequency: 2,
            limit_alphabet: None,
            initial_alphabet: Vec::new(),
            special_tokens: ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"].map(String::from).to_vec(),
            continuing_subword_prefix: "##".to_owned(),
            alphabet_order: AlphabetOrder::default(),
            alphabet_forms: AlphabetForms::default(),
            isolated_characters: Vec::new(),
            max_token_length: None,
            num_threads: 1,
        }
    }
}

impl WordPieceTrainSpec {
    pub(crate) fn affixes(&self) -> Affixes<'_> {
        Affixes { prefix: &self.continuing_subword_prefix, suffix: "" }
    }
}

impl Default for Learner {
    fn default() -> Self {
        Self::Pruning(Pruning::default())
    }
}

impl Default for Pruning {
    fn default() -> Self {
        Self {
            segmentation: Segmentation::Greedy,
            balance: 0.0,
            max_use_cost: None,
            seed_vocab_size: None,
            record_removals: false,
        }
    }
}

impl Pruning {
    /// Return the number of seeds for a vocabulary of `vocab_size` entries.
    pub(crate) fn seeds(&self, vocab_size: usize) -> usize {
        self.seed_vocab_size.unwrap_or_else(|| vocab_size.saturating_mul(SEEDS_PER_ENTRY)).max(vocab_size)
    }

    /// Reject weights that are not finite or too large.
    pub(crate) fn check_weights(&self) -> Result<(), Error> {
        let reject = |name: &str, found: f64, expected: String| {
            Err(Error::new(ErrorKind::Argument, name, found.to_string(), expected))
        };
        if !(0.0..=MAX_BALANCE).contains(&self.balance) {
            return reject("balance", self.balance, format!("a number from 0 to {MAX_BALANCE}"));
        }
        match self.max_use_cost {
            Some(cost) if !(cost > 0.0 && cost <= MAX_USE_COST) => {
                reject("max_use_cost", cost, format!("a number above 0, up to {MAX_USE_COST}"))
            }
            _ => Ok(()),
        }
    }
}
