//! Learning of vocabularies; every function reports progress and stops at Ctrl-C.
//!
//! Settings are dicts with the fields of the specification in `piecework-train`.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use numpy::PyReadonlyArray1;
use piecework_catch_panics::catch_panics;
use piecework_core::error::Error;
use piecework_train::merges::{self, ExistingModel};
use piecework_train::sentencepiece::SentencePieceResume;
use piecework_train::unigram::{EmStep, UnigramResume};
use piecework_train::{bpe, check_available, sentencepiece, unigram, wordpiece, Learned, Merge, Resume};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pythonize::depythonize;
use serde::de::DeserializeOwned;

use crate::core::Core;
use crate::counting::RawCounts;
use crate::errors::{bad_argument, raise};
use crate::learning_log::{merges_of, round_of, GivenMerges, LearnedRound, LearningLog};
use crate::release::ReleaseGil;
use crate::threads::thread_count;

/// The interval between checks for signals.
const PULSE: Duration = Duration::from_millis(100);

/// The result of a WordPiece or BPE trainer.
#[pyclass(frozen, module = "piecework._core")]
pub struct LearnedEntries {
    learned: Learned,
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

/// The result of a Unigram or SentencePiece trainer.
#[pyclass(frozen, module = "piecework._core")]
pub struct LearnedPieces {
    pieces: Vec<(String, f64)>,
    steps: Vec<EmStep>,
}

#[catch_panics]
#[pymethods]
impl LearnedPieces {
    /// The pieces with their scores in the order of their ids.
    #[getter]
    fn pieces(&self) -> Vec<(&str, f64)> {
        self.pieces.iter().map(|(piece, score)| (piece.as_str(), *score)).collect()
    }

    /// The number of pieces and the log-likelihood of each EM step.
    #[getter]
    fn steps(&self) -> Vec<(usize, f64)> {
        self.steps.iter().map(|step| (step.pieces, step.log_likelihood)).collect()
    }
}

/// Learn a WordPiece vocabulary, or by pruning one of each size.
#[catch_panics]
#[pyfunction]
#[pyo3(signature = (counts, settings, *, progress, sizes=None, earlier=None, earlier_choices=None, log=None))]
#[expect(clippy::too_many_arguments, reason = "the keyword arguments of the Python function")]
pub(crate) fn learn_wordpiece(
    py: Python<'_>,
    counts: &RawCounts,
    settings: &Bound<'_, PyDict>,
    progress: Option<Py<PyAny>>,
    sizes: Option<Vec<usize>>,
    earlier: Option<GivenMerges<'_>>,
    earlier_choices: Option<PyReadonlyArray1<'_, u64>>,
    log: Option<&LearningLog>,
) -> PyResult<Vec<LearnedEntries>> {
    let spec: wordpiece::WordPieceTrainSpec = spec_of(settings)?;
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
#[pyo3(signature = (counts, settings, *, progress, earlier=None, log=None))]
pub(crate) fn learn_bpe(
    py: Python<'_>,
    counts: &RawCounts,
    settings: &Bound<'_, PyDict>,
    progress: Option<Py<PyAny>>,
    earlier: Option<GivenMerges<'_>>,
    log: Option<&LearningLog>,
) -> PyResult<LearnedEntries> {
    let spec: bpe::BpeTrainSpec = spec_of(settings)?;
    let earlier = merges_of(earlier)?;
    let resume = Resume { earlier: &earlier, log: log.map(|log| &log.merges), ..Resume::default() };
    let learned = watched(py, progress, |pulse| bpe::resume(&counts.counts, &spec, resume, pulse))?;
    Ok(LearnedEntries { learned })
}

/// Learn WordPiece entries in addition to those of a tokenizer; tokens with ids in `barriers` are never merged.
#[catch_panics]
#[pyfunction]
#[pyo3(signature = (core, counts, settings, *, continuing_subword_prefix, barriers, progress))]
pub(crate) fn continue_training(
    py: Python<'_>,
    core: &Core,
    counts: &RawCounts,
    settings: &Bound<'_, PyDict>,
    continuing_subword_prefix: &str,
    barriers: Vec<u32>,
    progress: Option<Py<PyAny>>,
) -> PyResult<LearnedEntries> {
    let settings = spec_of(settings)?;
    let tokenizer = core.encoder.tokenizer();
    let model = ExistingModel { model: tokenizer.model(), vocab: tokenizer.vocab(), barriers: &barriers };
    let prefix = continuing_subword_prefix;
    let learned = watched(py, progress, |pulse| {
        merges::continue_training(&counts.counts, model, prefix, settings, pulse)
    })?;
    Ok(LearnedEntries { learned })
}

/// Learn a Unigram vocabulary, from frequent substrings or from given seeds with their counts.
#[catch_panics]
#[pyfunction]
#[pyo3(signature = (counts, settings, *, num_threads, progress, earlier=None, log=None))]
pub(crate) fn learn_unigram(
    py: Python<'_>,
    counts: &RawCounts,
    settings: &Bound<'_, PyDict>,
    num_threads: i64,
    progress: Option<Py<PyAny>>,
    earlier: Option<LearnedRound>,
    log: Option<&LearningLog>,
) -> PyResult<LearnedPieces> {
    let spec: unigram::UnigramTrainSpec = spec_of(settings)?;
    let num_threads = thread_count(num_threads)?;
    let earlier = earlier.map(round_of);
    let state = UnigramResume { earlier: earlier.as_ref(), log: log.map(|log| &log.rounds) };
    let learned =
        watched(py, progress, |pulse| unigram::resume(&counts.counts, &spec, num_threads, state, pulse))?;
    Ok(LearnedPieces { pieces: learned.pieces, steps: learned.steps })
}

/// Learn the pieces of a SentencePiece model.
#[catch_panics]
#[pyfunction]
#[pyo3(signature = (counts, settings, *, num_threads, progress, earlier=None, earlier_merges=None, log=None))]
#[expect(clippy::too_many_arguments, reason = "the keyword arguments of the Python function")]
pub(crate) fn learn_sentencepiece(
    py: Python<'_>,
    counts: &RawCounts,
    settings: &Bound<'_, PyDict>,
    num_threads: i64,
    progress: Option<Py<PyAny>>,
    earlier: Option<LearnedRound>,
    earlier_merges: Option<GivenMerges<'_>>,
    log: Option<&LearningLog>,
) -> PyResult<LearnedPieces> {
    let spec: sentencepiece::SentencePieceTrainSpec = spec_of(settings)?;
    let num_threads = thread_count(num_threads)?;
    let round = earlier.map(round_of);
    let merges = merges_of(earlier_merges)?;
    let state = SentencePieceResume {
        rounds: UnigramResume { earlier: round.as_ref(), log: log.map(|log| &log.rounds) },
        merges: Resume { earlier: &merges, log: log.map(|log| &log.merges), ..Resume::default() },
    };
    let learned = watched(py, progress, |pulse| {
        sentencepiece::resume(&counts.counts, &spec, num_threads, state, pulse)
    })?;
    let pieces = learned.pieces.into_iter().map(|(piece, score)| (piece, f64::from(score))).collect();
    Ok(LearnedPieces { pieces, steps: learned.steps })
}

/// Raise `MemoryLimitError` unless the system provides this many bytes, which are released at once.
#[catch_panics]
#[pyfunction]
pub(crate) fn check_memory(bytes: usize) -> PyResult<()> {
    check_available(bytes).map_err(raise)
}

/// Convert a dict of settings; a field that is missing, unknown or of another type is an error.
fn spec_of<T: DeserializeOwned>(settings: &Bound<'_, PyDict>) -> PyResult<T> {
    let wrong = |error: pythonize::PythonizeError| {
        bad_argument("settings", format!("a dict: {error}"), "the settings of the trainer")
    };
    depythonize(settings).map_err(wrong)
}

/// The callback that a trainer calls to report progress.
type Pulse<'p> = &'p mut dyn FnMut(usize, usize) -> ControlFlow<()>;

/// Run a trainer without the GIL; check for signals and report progress up to ten times a second.
fn watched<T: Send>(
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
