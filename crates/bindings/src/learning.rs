//! Training of WordPiece and BPE; every trainer reports progress and stops at Ctrl-C.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use numpy::PyReadonlyArray1;
use piecework_catch_panics::catch_panics;
use piecework_core::error::Error;
use piecework_train::wordpiece::{PairScore, Ties};
use piecework_train::{bpe, wordpiece, AlphabetOrder, Learned, Merge, Resume};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pythonize::depythonize;

use crate::counting::RawCounts;
use crate::errors::{bad_argument, raise};
use crate::learning_checkpoints::{merges_of, GivenMerges, LearningLog};
use crate::release::ReleaseGil;
use crate::threads::thread_count;

/// The interval between checks for signals.
const PULSE: Duration = Duration::from_millis(100);

/// The result of a WordPiece or BPE trainer.
#[pyclass(frozen, module = "piecework._core")]
pub struct LearnedEntries {
    pub(crate) learned: Learned,
}

#[catch_panics]
#[pymethods]
impl LearnedEntries {
    /// The entries in the order of their ids.
    #[getter]
    fn vocab(&self) -> Vec<&str> {
        self.learned.vocab.iter().map(String::as_str).collect()
    }

    /// The merges in order: left, right and merged token, count and score.
    #[getter]
    fn merges(&self) -> Vec<(&str, &str, &str, u64, f64)> {
        let token = |id: u32| self.learned.vocab[id as usize].as_str();
        let merge = |merge: &Merge| {
            (token(merge.left), token(merge.right), token(merge.merged), merge.count, merge.score)
        };
        self.learned.merges.iter().map(merge).collect()
    }

    /// The removals of the pruning trainer: entry, loss in tokens, and the entry put back in exchange.
    #[getter]
    fn removals(&self) -> Vec<(&str, f64, Option<&str>)> {
        let removals = self.learned.removals.iter();
        removals.map(|removal| (&*removal.entry, removal.loss, removal.put_back.as_deref())).collect()
    }

    /// Why training stopped below `vocab_size`; None if it did not.
    #[getter]
    fn stopped_early(&self) -> Option<&str> {
        self.learned.stopped_early.as_deref()
    }
}

/// How WordPiece entries are learned.
#[pyclass(frozen, module = "piecework._core")]
pub struct Learner {
    learner: wordpiece::Learner,
}

#[catch_panics]
#[pymethods]
impl Learner {
    /// Return the learner with the settings of a dict; its "name" is that of the variant.
    #[new]
    fn new(settings: &Bound<'_, PyDict>) -> PyResult<Self> {
        let learner = depythonize(settings)
            .map_err(|error| bad_argument("learner", settings.to_string(), &error.to_string()))?;
        Ok(Self { learner })
    }
}

/// Learn a WordPiece vocabulary, or by pruning one of each size.
#[catch_panics]
#[pyfunction]
#[pyo3(signature = (
    counts, *, vocab_size, learner, min_frequency, limit_alphabet, initial_alphabet, special_tokens,
    continuing_subword_prefix, max_token_length, alphabet_order, num_threads, progress, sizes=None, earlier=None,
    earlier_choices=None, log=None
))]
#[expect(clippy::too_many_arguments, reason = "the keyword arguments of the Python function")]
pub(crate) fn learn_wordpiece(
    py: Python<'_>,
    counts: &RawCounts,
    vocab_size: usize,
    learner: &Learner,
    min_frequency: u64,
    limit_alphabet: Option<usize>,
    initial_alphabet: Vec<char>,
    special_tokens: Vec<String>,
    continuing_subword_prefix: String,
    max_token_length: Option<usize>,
    alphabet_order: &str,
    num_threads: i64,
    progress: Option<Py<PyAny>>,
    sizes: Option<Vec<usize>>,
    earlier: Option<GivenMerges<'_>>,
    earlier_choices: Option<PyReadonlyArray1<'_, u64>>,
    log: Option<&LearningLog>,
) -> PyResult<Vec<LearnedEntries>> {
    let spec = wordpiece::WordPieceTrainSpec {
        vocab_size,
        learner: learner.learner,
        min_frequency,
        limit_alphabet,
        initial_alphabet,
        special_tokens,
        continuing_subword_prefix,
        alphabet_order: alphabet_order_named(alphabet_order)?,
        max_token_length,
        num_threads: thread_count(num_threads)?,
    };
    let earlier = merges_of(earlier)?;
    let choices = earlier_choices.map(|choices| choices.as_slice().map(<[u64]>::to_vec)).transpose()?;
    let resume = Resume {
        earlier: &earlier,
        log: log.map(|log| &log.merges),
        earlier_choices: choices.as_deref().unwrap_or_default(),
        choice_log: log.map(|log| &log.choices),
    };
    let learned = watched(py, progress, |pulse| match &sizes {
        Some(sizes) => wordpiece::learn_sizes(&counts.counts, &spec, sizes, resume, pulse),
        None => Ok(vec![wordpiece::resume(&counts.counts, &spec, resume, pulse)?]),
    })?;
    Ok(learned.into_iter().map(|learned| LearnedEntries { learned }).collect())
}

/// Learn a BPE vocabulary and its merges.
#[catch_panics]
#[pyfunction]
#[pyo3(signature = (
    counts, *, vocab_size, min_frequency, limit_alphabet, initial_alphabet, special_tokens,
    continuing_subword_prefix, end_of_word_suffix, max_token_length, alphabet_order, ties, progress, earlier=None,
    log=None
))]
#[expect(clippy::too_many_arguments, reason = "the keyword arguments of the Python function")]
pub(crate) fn learn_bpe(
    py: Python<'_>,
    counts: &RawCounts,
    vocab_size: usize,
    min_frequency: u64,
    limit_alphabet: Option<usize>,
    initial_alphabet: Vec<char>,
    special_tokens: Vec<String>,
    continuing_subword_prefix: String,
    end_of_word_suffix: String,
    max_token_length: Option<usize>,
    alphabet_order: &str,
    ties: &str,
    progress: Option<Py<PyAny>>,
    earlier: Option<GivenMerges<'_>>,
    log: Option<&LearningLog>,
) -> PyResult<LearnedEntries> {
    let spec = bpe::BpeTrainSpec {
        vocab_size,
        min_frequency,
        limit_alphabet,
        initial_alphabet,
        special_tokens,
        continuing_subword_prefix,
        end_of_word_suffix,
        alphabet_order: alphabet_order_named(alphabet_order)?,
        max_token_length,
        ties: bpe_ties_named(ties)?,
        ..bpe::BpeTrainSpec::default()
    };
    let earlier = merges_of(earlier)?;
    let resume = Resume { earlier: &earlier, log: log.map(|log| &log.merges), ..Resume::default() };
    let learned = watched(py, progress, |pulse| bpe::resume(&counts.counts, &spec, resume, pulse))?;
    Ok(LearnedEntries { learned })
}

/// The callback that a trainer calls to report progress.
pub(crate) type Pulse<'p> = &'p mut dyn FnMut(usize, usize) -> ControlFlow<()>;

/// Run a trainer without the GIL; check for signals and report progress up to ten times a second.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    learn: impl FnOnce(Pulse<'_>) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let mut raised = None;
    let mut last = Instant::now();
    let learned = py.release(|| {
        learn(&mut |done, total| {
            if last.elapsed() < PULSE && done < total {
                return ControlFlow::Continue(());
            }
            last = Instant::now();
            match Python::attach(|py| pulse(py, progress.as_ref(), done, total)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    raised = Some(error);
                    ControlFlow::Break(())
                }
            }
        })
    });
    match (raised, learned) {
        (Some(error), _) => Err(error),
        (None, learned) => learned.map_err(raise),
    }
}

/// Check for signals and report progress.
fn pulse(py: Python<'_>, progress: Option<&Py<PyAny>>, done: usize, total: usize) -> PyResult<()> {
    py.check_signals()?;
    if let Some(progress) = progress {
        progress.call1(py, (done, total))?;
    }
    Ok(())
}

/// Return the pair score of a name.
pub(crate) fn score_named(name: &str) -> PyResult<PairScore> {
    match name {
        "likelihood" => Ok(PairScore::Likelihood),
        "pmi" => Ok(PairScore::Pmi),
        "frequency" => Ok(PairScore::Frequency),
        _ => Err(bad_argument("score", format!("{name:?}"), "likelihood, pmi or frequency")),
    }
}

/// Return the WordPiece tie-breaking rule of a name.
pub(crate) fn ties_named(name: &str) -> PyResult<Ties> {
    match name {
        "lowest-ids" => Ok(Ties::LowestIds),
        "smallest-strings" => Ok(Ties::SmallestStrings),
        "first-seen" => Ok(Ties::FirstSeen),
        _ => Err(bad_argument("ties", format!("{name:?}"), "lowest-ids, smallest-strings or first-seen")),
    }
}

/// Return the BPE tie-breaking rule of a name.
fn bpe_ties_named(name: &str) -> PyResult<bpe::BpeTies> {
    match name {
        "lowest-ids" => Ok(bpe::BpeTies::LowestIds),
        "greatest-strings" => Ok(bpe::BpeTies::GreatestStrings),
        "first-seen" => Ok(bpe::BpeTies::FirstSeen),
        _ => Err(bad_argument("ties", format!("{name:?}"), "lowest-ids, greatest-strings or first-seen")),
    }
}

/// Return the order of the alphabet of a name.
fn alphabet_order_named(name: &str) -> PyResult<AlphabetOrder> {
    match name {
        "sorted" => Ok(AlphabetOrder::Sorted),
        "first-seen" => Ok(AlphabetOrder::FirstSeen),
        "given" => Ok(AlphabetOrder::Given),
        "word-starts-first" => Ok(AlphabetOrder::WordStartsFirst),
        _ => {
            let expected = "sorted, first-seen, given or word-starts-first";
            Err(bad_argument("alphabet_order", format!("{name:?}"), expected))
        }
    }
}
