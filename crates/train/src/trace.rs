//! The steps of a run as data, for whoever shows them: one report for the command line, the playground and
//! WebAssembly.
//!
//! A learner asks [`Progress`](crate::progress::Progress) for the log once a step, never for each pair or word. Without
//! a log that is all it does. With one it computes what the step shows, in time proportional to the corpus for
//! merges, and to the entries for removals.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

/// Which steps of a run are reported, and how much of each.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceSpec {
    /// Ranges of step numbers from 1, both ends included; `None` stands for the last step.
    pub steps: Vec<(usize, Option<usize>)>,
    /// The most candidates and changed words of a step.
    pub top: usize,
    /// Unigram: the word whose lattice each step has.
    #[serde(default)]
    pub word: Option<String>,
}

/// Receives the steps of one run.
///
/// ```
/// use std::ops::ControlFlow;
/// use piecework_train::count::Counts;
/// use piecework_train::wordpiece::{resume, WordPieceTrainSpec};
/// use piecework_train::{Resume, StepLog, TraceSpec};
/// let counts = Counts::from_parts(&["hug", "hugs"].map(String::from), &[2, 1], None)?;
/// let log = StepLog::new(TraceSpec { steps: vec![(1, None)], top: 10, word: None });
/// let spec = WordPieceTrainSpec { vocab_size: 14, min_frequency: 1, ..WordPieceTrainSpec::default() };
/// let start = Resume { steps: Some(&log), ..Resume::default() };
/// resume(&counts, &spec, start, &mut |_, _| ControlFlow::Continue(()))?;
/// assert_eq!(log.take().step_count, 5);
/// # Ok::<(), piecework_core::error::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct StepLog {
    pub(crate) spec: TraceSpec,
    trace: Mutex<Trace>,
}

/// What a run started from, and its steps.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Trace {
    /// The entries of single characters.
    pub alphabet: Vec<String>,
    /// Merges: the entries of each word before the first one.
    pub splits: Vec<(Vec<String>, u64)>,
    /// The first pieces with their scores, or the entries that can be removed with their counts.
    pub seeds: Vec<(String, Score)>,
    /// The steps that are wanted.
    pub steps: Vec<Step>,
    /// The number of all steps.
    pub step_count: usize,
    /// Unigram: the lattice of the word with the final pieces.
    pub lattice: Option<TrainingLattice>,
}

/// One step; kinds and fields have the names of the Python package.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind")]
pub enum Step {
    /// A merge of a pair.
    #[serde(rename = "TrainingMerge")]
    Merge(MergeStep),
    /// A removal of an entry.
    #[serde(rename = "TrainingRemoval")]
    Removal(RemovalStep),
    /// A threshold of the top-down trainer.
    #[serde(rename = "TrainingThreshold")]
    Threshold(ThresholdStep),
    /// An EM step of Unigram: expected counts and new scores.
    #[serde(rename = "TrainingEstimate")]
    Estimate {
        /// The number of the step, from 1.
        number: usize,
        /// The round of EM steps and pruning, from 1.
        round: usize,
        /// The EM step of the round, from 1.
        iteration: usize,
        /// The number of pieces before the step.
        pieces: usize,
        /// The log-likelihood of the corpus by these pieces.
        log_likelihood: f64,
        /// The pieces with the largest expected counts.
        estimates: Vec<PieceEstimate>,
        /// The pieces that are dropped.
        dropped: Vec<String>,
        /// The lattice of the word before the step.
        lattice: Option<TrainingLattice>,
    },
    /// A round of pruning of Unigram.
    #[serde(rename = "TrainingPruning")]
    Pruning {
        /// The number of the step, from 1.
        number: usize,
        /// The round of EM steps and pruning, from 1.
        round: usize,
        /// The number of pieces before the step.
        pieces: usize,
        /// The first of the removed pieces, the least loss first.
        removed: Vec<PieceLoss>,
        /// The number of removed pieces.
        removed_count: usize,
        /// The first of the other pieces, the least loss first.
        kept: Vec<PieceLoss>,
        /// The lattice of the word before the step.
        lattice: Option<TrainingLattice>,
    },
}

/// A score, or a count.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Score {
    /// A number of occurrences.
    Count(u64),
    /// Another number.
    Real(f64),
}

/// A merge: the best pairs, and what changes.
#[derive(Clone, Debug, Serialize)]
pub struct MergeStep {
    /// The number of the step, from 1.
    pub number: usize,
    /// The pair that is merged.
    pub winner: ScoredPair,
    /// How it was chosen, as a sentence.
    pub reason: String,
    /// The best pairs, the winner first.
    pub candidates: Vec<ScoredPair>,
    /// As many of all pairs, those that occur first.
    pub first_pairs: Vec<ScoredPair>,
    /// The number of pairs that may be merged.
    pub pairs: usize,
    /// The pairs with the score of the winner, itself included.
    pub tied: usize,
    /// The first words that change.
    pub changes: Vec<SplitChange>,
    /// The number of words that change.
    pub changed_words: usize,
    /// The number of entries after the merge.
    pub vocab_size: usize,
    /// Whether the merged entry did not exist before.
    pub is_new: bool,
}

/// A pair that may be merged.
#[derive(Clone, Debug, Serialize)]
pub struct ScoredPair {
    /// The left entry.
    pub left: String,
    /// The right entry.
    pub right: String,
    /// The merged entry.
    pub token: String,
    /// Occurrences of the pair, of its left entry and of its right entry.
    pub count: u64,
    /// Occurrences of the left entry.
    pub left_count: u64,
    /// Occurrences of the right entry.
    pub right_count: u64,
    /// The score that is maximized.
    pub score: Score,
    /// The score in lowest terms, for `Pmi`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_fraction: Option<String>,
}

/// A word before and after a step.
#[derive(Clone, Debug, Serialize)]
pub struct SplitChange {
    /// The count of the word.
    pub count: u64,
    /// Its entries before the step.
    pub before: Vec<String>,
    /// Its entries after the step.
    pub after: Vec<String>,
}

/// A removal, or an exchange.
#[derive(Clone, Debug, Serialize)]
pub struct RemovalStep {
    /// The number of the step, from 1.
    pub number: usize,
    /// The entry that is removed.
    pub removed: EntryLoss,
    /// The entries with the least loss.
    pub candidates: Vec<EntryLoss>,
    /// The number of entries that can be removed.
    pub removable: usize,
    /// The entries with the loss of the removed one, itself included.
    pub tied: usize,
    /// The first words that change.
    pub changes: Vec<SplitChange>,
    /// The number of words that change.
    pub changed_words: usize,
    /// The number of entries after the step.
    pub vocab_size: usize,
    /// The entry that is put back in exchange, with what it saves.
    pub put_back: Option<EntryLoss>,
}

/// An entry that can be removed.
#[derive(Clone, Debug, Serialize)]
pub struct EntryLoss {
    /// The entry.
    pub entry: String,
    /// Its count as a substring.
    pub count: u64,
    /// What its removal adds to the cost of the corpus, in tokens.
    pub loss: f64,
}

/// A threshold that the top-down trainer tries.
#[derive(Clone, Debug, Serialize)]
pub struct ThresholdStep {
    /// The number of the step, from 1.
    pub number: usize,
    /// The least threshold that may fit.
    pub low: u64,
    /// The least threshold that is known to fit.
    pub high: u64,
    /// The threshold of this step, half way between them.
    pub threshold: u64,
    /// Whether its vocabulary fits.
    pub fits: bool,
    /// The entries of most count that the threshold selects, with their counts.
    pub entries: Vec<(String, u64)>,
    /// The number of entries that it selects besides special tokens and alphabet.
    pub selected: usize,
    /// The number of entries of its vocabulary.
    pub vocab_size: usize,
    /// The first words as this vocabulary splits them.
    pub splits: Vec<(Vec<String>, u64)>,
}

/// A piece in an EM step.
#[derive(Clone, Debug, Serialize)]
pub struct PieceEstimate {
    /// The piece.
    pub piece: String,
    /// Its expected count.
    pub expected: f64,
    /// Its new score; `None` if it is dropped.
    pub score: Option<f64>,
}

/// A piece in a round of pruning.
#[derive(Clone, Debug, Serialize)]
pub struct PieceLoss {
    /// The piece.
    pub piece: String,
    /// Its count in the best segmentations.
    pub count: Score,
    /// The log-likelihood that is lost without it; `None` for a piece with a reason.
    pub loss: Option<f64>,
    /// Why it is kept or removed whatever its loss.
    pub reason: &'static str,
}

/// A piece between two positions of a word, in characters, with its log probability.
#[derive(Clone, Debug, Serialize)]
pub struct LatticeEdge {
    /// The piece.
    pub piece: String,
    /// Where it starts.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// Its log probability.
    pub score: f64,
    /// Whether the piece is an entry, not an unknown character.
    pub is_known: bool,
    /// Whether the best segmentation has it.
    pub is_best: bool,
}

/// The pieces that occur in a word, and its best segmentations with the sums of their scores.
#[derive(Clone, Debug, Serialize)]
pub struct WordLattice {
    /// The pieces by their start, the longest first.
    pub edges: Vec<LatticeEdge>,
    /// The best segmentation.
    pub best: Vec<String>,
    /// The best segmentations with their scores.
    pub segmentations: Vec<(Vec<String>, f64)>,
}

/// The lattice of a word, and for each of its edges the probability that a segmentation has it.
#[derive(Clone, Debug, Serialize)]
pub struct TrainingLattice {
    /// The word.
    pub word: String,
    /// Its lattice.
    pub lattice: WordLattice,
    /// By edge.
    pub probabilities: Vec<f64>,
}

impl StepLog {
    /// Return a log without steps.
    #[must_use]
    pub fn new(spec: TraceSpec) -> Self {
        Self { spec, trace: Mutex::default() }
    }

    /// Remove and return the report.
    #[must_use]
    pub fn take(&self) -> Trace {
        std::mem::take(&mut *self.trace())
    }

    /// Forget the steps of an earlier run.
    pub(crate) fn begin(&self) {
        *self.trace() = Trace::default();
    }

    /// Return what is reported so far, to add to it.
    pub(crate) fn trace(&self) -> MutexGuard<'_, Trace> {
        self.trace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Count a step; return its number if it is wanted.
    pub(crate) fn next_step(&self) -> Option<usize> {
        let mut trace = self.trace();
        trace.step_count += 1;
        let number = trace.step_count;
        let is_in =
            |&(low, high): &(usize, Option<usize>)| low <= number && high.is_none_or(|high| number <= high);
        self.spec.steps.iter().any(is_in).then_some(number)
    }

    /// Report the entries of single characters, each once.
    pub(crate) fn set_alphabet(&self, alphabet: &[String]) {
        let mut seen = HashSet::new();
        let distinct = alphabet.iter().filter(|entry| seen.insert(entry.as_str()));
        self.trace().alphabet = distinct.cloned().collect();
    }

    pub(crate) fn push(&self, step: Step) {
        self.trace().steps.push(step);
    }
}
