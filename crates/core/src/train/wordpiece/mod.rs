//! Learning a WordPiece vocabulary from word counts: special tokens, alphabet, then learned entries.
//!
//! ```text
//! forms       the entries of single characters, and their order
//! corpus      the distinct words as sequences of entries, in fixed coordinates
//! pairs       adjacent pairs: counts and where they occur
//! further     learning on from a vocabulary that is there
//! state     corpus + pairs + entries, and what one merge changes in them
//! ties        which of equally scored pairs is merged
//! frequency   most frequent pair first
//! greedy      best pair first for scores that rise when their parts become rarer: rounds, classes
//! objective   what such a score offers
//! classes     candidates of equal score, so that ties are cheap
//! pmi         f(ab) / (f(a) f(b)), exactly
//! likelihood  the gain of the unigram corpus log-likelihood
//! top_down    substrings, longest first, under a searched threshold (TensorFlow Text's learner)
//! substrings  the trie of frequent substrings that top_down works on
//! ```
//!
//! Each learner is deterministic; `tests` holds a naive twin that counts everything anew at each merge.

mod char_entries;
mod continue_training;
mod frequency;
mod greedy;
mod likelihood;
mod merge_state;
mod objective;
mod pair_table;
mod pmi;
mod score_classes;
mod segmented_words;
mod substring_trie;
#[cfg(test)]
mod tests;
mod tie_break;
mod top_down;

use std::ops::ControlFlow;

use crate::error::{Error, ErrorKind};
use crate::train::alphabet::Alphabet;
use crate::train::learned::{check_counts, first_entries};
use crate::train::progress::Progress;
use crate::train::{Counts, Learned};

use merge_state::MergeState;
use tie_break::{FirstSeen, LowestIds, SmallestStrings, TieBreak};

pub use continue_training::{continue_training, ExistingModel};
pub use tie_break::WordPieceTies;

/// By what a learner chooses the next entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PairScore {
    /// The exact gain of the unigram corpus log-likelihood.
    #[default]
    Likelihood,
    /// f(ab) / (f(a) f(b)), the formula published for WordPiece.
    Pmi,
    /// The most frequent pair.
    Frequency,
    /// Frequent substrings, longest first (the learner of TensorFlow Text).
    TopDown,
}

/// What to learn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordPieceTrainSpec {
    /// Entries wanted, special tokens and alphabet included.
    pub vocab_size: usize,
    /// By what the next entry is chosen.
    pub score: PairScore,
    /// Which of equally scored pairs is merged; `None` is the default of the score.
    pub ties: Option<WordPieceTies>,
    /// Pairs (or substrings) that occur fewer times are never learned; 0 is taken as 1.
    pub min_frequency: u64,
    /// At most this many characters, the most frequent ones.
    pub limit_alphabet: Option<usize>,
    /// Characters that are in the alphabet even when unseen.
    pub initial_alphabet: Vec<char>,
    /// Entries that come first and are never merged.
    pub special_tokens: Vec<String>,
    /// What marks an entry that continues a word.
    pub continuing_subword_prefix: String,
    /// The longest entry in characters, the prefix not counted.
    pub max_token_length: Option<usize>,
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
            max_token_length: None,
        }
    }
}

/// Learn a WordPiece vocabulary from word counts.
///
/// `progress(entries, vocab_size)` is called at least every 50 ms or so and stops the learner by
/// `ControlFlow::Break`.
///
/// ```
/// use std::ops::ControlFlow;
/// use piecework_core::train::wordpiece::{learn, PairScore, WordPieceTrainSpec};
/// use piecework_core::train::Counts;
/// let words = ["hug", "pug", "pun", "bun", "hugs"].map(String::from);
/// let counts = Counts::from_parts(&words, &[10, 5, 12, 4, 5], Some(&[0, 1, 2, 3, 4]))?;
/// let spec = WordPieceTrainSpec { vocab_size: 15, score: PairScore::Pmi, ..WordPieceTrainSpec::default() };
/// let learned = learn(&counts, &spec, &mut |_, _| ControlFlow::Continue(()))?;
/// assert_eq!(learned.vocab[12..], ["##gs", "hu", "hugs"]);
/// # Ok::<(), piecework_core::error::Error>(())
/// ```
///
/// Errors: `Argument` for ties that need first positions where the counts have none, `Corpus` without any
/// word, `Training` when `vocab_size` cannot hold the special tokens and
/// the alphabet or the corpus is beyond 64-bit counts, `Interrupted` when `progress` says so.
pub fn learn(
    counts: &Counts,
    spec: &WordPieceTrainSpec,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Learned, Error> {
    let mut progress = Progress::start(spec.vocab_size, progress)?;
    check_counts(counts, &mut progress)?;
    if spec.score == PairScore::TopDown && spec.ties.is_some() {
        let expected = "none: score=\"top-down\" ranks substrings by count, then by code points";
        return Err(Error::new(ErrorKind::Argument, "ties", "an order of pairs", expected));
    }
    let alphabet = Alphabet::choose(counts, &spec.initial_alphabet, spec.limit_alphabet, &mut progress)?;
    let entries = first_entries(
        &spec.continuing_subword_prefix,
        &spec.special_tokens,
        char_entries::alphabet_entries(&alphabet, spec),
        spec.vocab_size,
    )?;
    let learned = match spec.score {
        PairScore::TopDown => top_down::learn(counts, spec, &alphabet, entries, &mut progress)?,
        _ => {
            spec.ties().check(counts)?;
            learn_by_merges(
                MergeState::new(counts, spec, &alphabet, entries, &mut progress)?,
                &mut progress,
            )?
        }
    };
    progress.finish(learned.vocab.len())?;
    Ok(learned)
}

impl WordPieceTrainSpec {
    fn ties(&self) -> WordPieceTies {
        self.ties.unwrap_or(self.score.default_ties())
    }
}

fn learn_by_merges(state: MergeState<'_>, progress: &mut Progress<'_>) -> Result<Learned, Error> {
    match state.spec.ties() {
        WordPieceTies::LowestIds => learn_with_ties::<LowestIds>(state, progress),
        WordPieceTies::SmallestStrings => learn_with_ties::<SmallestStrings>(state, progress),
        WordPieceTies::FirstSeen => learn_with_ties::<FirstSeen>(state, progress),
    }
}

fn learn_with_ties<T: TieBreak>(
    state: MergeState<'_>,
    progress: &mut Progress<'_>,
) -> Result<Learned, Error> {
    match state.spec.score {
        PairScore::Pmi => greedy::learn::<_, T>(pmi::Pmi, state, progress),
        PairScore::Likelihood => {
            let objective = likelihood::Likelihood::new(state.total);
            greedy::learn::<_, T>(objective, state, progress)
        }
        PairScore::Frequency | PairScore::TopDown => frequency::learn::<T>(state, progress),
    }
}
