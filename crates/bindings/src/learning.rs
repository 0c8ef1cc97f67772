//! Learning of vocabularies; every function reports progress and stops at Ctrl-C.
//!
//! Settings are dicts with the fields of the specification in `piecework-train`.

use std::ops::ControlFlow;
use std::time::Instant;

use piecework_catch_panics::python;
use piecework_core::error::Error;
use piecework_train::count::Counts;
use piecework_train::merges::{self, ExistingModel};
use piecework_train::sentencepiece::SentencePieceResume;
use piecework_train::unigram::EmStep;
use piecework_train::{bpe, check_available, sentencepiece, unigram, wordpiece, Learned, Merge};
use pyo3::prelude::*;

use crate::core::Core;
use crate::counting::RawCounts;
use crate::errors::raise;
use crate::input::{settings_of, thread_count};
use crate::learning_log::LearningLog;
use crate::release::ReleaseGil;
use crate::release::PULSE;

/// The result of a WordPiece or BPE trainer.
#[pyclass(frozen, module = "piecework._internal._core")]
pub struct LearnedEntries {
    learned: Learned,
}

#[python]
impl LearnedEntries {
    /// The entries in the order of their ids.
    #[getter]
    fn vocab(&self) -> &[String] {
        &self.learned.vocab
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
#[pyclass(frozen, get_all, module = "piecework._internal._core")]
pub(crate) struct LearnedPieces {
    /// The pieces with their scores in the order of their ids.
    pieces: Vec<(String, f64)>,
    /// The number of pieces and the log-likelihood of each EM step.
    steps: Vec<(usize, f64)>,
}

impl LearnedPieces {
    fn of(pieces: Vec<(String, f64)>, steps: &[EmStep]) -> Self {
        let steps = steps.iter().map(|step| (step.pieces, step.log_likelihood)).collect();
        Self { pieces, steps }
    }
}

/// Learn a WordPiece vocabulary, or by pruning one of each size.
#[python]
#[pyo3(signature = (counts, settings, *, progress, sizes=None, log=None))]
pub(crate) fn learn_wordpiece(
    py: Python<'_>,
    counts: &RawCounts,
    settings: &Bound<'_, PyAny>,
    progress: Option<Py<PyAny>>,
    sizes: Option<Vec<usize>>,
    log: Option<&LearningLog>,
) -> PyResult<Vec<LearnedEntries>> {
    let spec: wordpiece::WordPieceTrainSpec = settings_of(settings)?;
    let resume = LearningLog::resume(log);
    let learned = watched(py, progress, |pulse| match &sizes {
        Some(sizes) => wordpiece::learn_sizes(&counts.counts, &spec, sizes, resume, pulse),
        None => Ok(vec![wordpiece::resume(&counts.counts, &spec, resume, pulse)?]),
    })?;
    Ok(learned.into_iter().map(|learned| LearnedEntries { learned }).collect())
}

/// Learn a BPE vocabulary and its merges; after the transition to superwords from sequences of words.
#[python]
#[pyo3(signature = (counts, settings, *, progress, log=None, sequences=None))]
pub(crate) fn learn_bpe(
    py: Python<'_>,
    counts: &RawCounts,
    settings: &Bound<'_, PyAny>,
    progress: Option<Py<PyAny>>,
    log: Option<&LearningLog>,
    sequences: Option<&RawCounts>,
) -> PyResult<LearnedEntries> {
    let (spec, resume) = (settings_of(settings)?, LearningLog::resume(log));
    let sequences = sequences.map(|sequences| &sequences.counts);
    let learned =
        watched(py, progress, |pulse| bpe::resume(&counts.counts, sequences, &spec, resume, pulse))?;
    Ok(LearnedEntries { learned })
}

/// Learn a BPE vocabulary and its merges, each merge chosen by the source with the highest cost.
#[python]
#[pyo3(signature = (sources, settings, parity, *, parallel, progress, log=None))]
pub(crate) fn learn_bpe_by_source(
    py: Python<'_>,
    sources: Vec<Py<RawCounts>>,
    settings: &Bound<'_, PyAny>,
    parity: &Bound<'_, PyAny>,
    parallel: Vec<Py<RawCounts>>,
    progress: Option<Py<PyAny>>,
    log: Option<&LearningLog>,
) -> PyResult<LearnedEntries> {
    let (spec, resume) = (settings_of(settings)?, LearningLog::resume(log));
    let parity = settings_of(parity)?;
    let (sources, parallel) = (counts_of(&sources), counts_of(&parallel));
    let counts = bpe::SourceCounts { sources: &sources, parallel: &parallel };
    let learned =
        watched(py, progress, |pulse| bpe::learn_by_source(counts, &spec, &parity, resume, pulse))?;
    Ok(LearnedEntries { learned })
}

fn counts_of(raw: &[Py<RawCounts>]) -> Vec<&Counts> {
    raw.iter().map(|raw| &raw.get().counts).collect()
}

/// Learn WordPiece entries in addition to those of a tokenizer; tokens with ids in `barriers` are never merged.
#[python]
#[pyo3(signature = (core, counts, settings, *, continuing_subword_prefix, barriers, progress))]
pub(crate) fn continue_training(
    py: Python<'_>,
    core: &Core,
    counts: &RawCounts,
    settings: &Bound<'_, PyAny>,
    continuing_subword_prefix: &str,
    barriers: Vec<u32>,
    progress: Option<Py<PyAny>>,
) -> PyResult<LearnedEntries> {
    let settings = settings_of(settings)?;
    let tokenizer = core.tokenizer();
    let model = ExistingModel { model: tokenizer.model(), vocab: tokenizer.vocab(), barriers: &barriers };
    let prefix = continuing_subword_prefix;
    let learned = watched(py, progress, |pulse| {
        merges::continue_training(&counts.counts, model, prefix, settings, pulse)
    })?;
    Ok(LearnedEntries { learned })
}

/// Learn a Unigram vocabulary, from frequent substrings or from given seeds with their counts.
#[python]
#[pyo3(signature = (counts, settings, *, num_threads, progress, log=None))]
pub(crate) fn learn_unigram(
    py: Python<'_>,
    counts: &RawCounts,
    settings: &Bound<'_, PyAny>,
    num_threads: i64,
    progress: Option<Py<PyAny>>,
    log: Option<&LearningLog>,
) -> PyResult<LearnedPieces> {
    let (spec, resume) = (settings_of(settings)?, LearningLog::resume_rounds(log));
    let num_threads = thread_count(num_threads)?;
    let learned =
        watched(py, progress, |pulse| unigram::resume(&counts.counts, &spec, num_threads, resume, pulse))?;
    Ok(LearnedPieces::of(learned.pieces, &learned.steps))
}

/// Learn the pieces of a SentencePiece model; after the transition to superwords from sequences of words.
#[python]
#[pyo3(signature = (counts, settings, *, num_threads, progress, log=None, sequences=None))]
pub(crate) fn learn_sentencepiece(
    py: Python<'_>,
    counts: &RawCounts,
    settings: &Bound<'_, PyAny>,
    num_threads: i64,
    progress: Option<Py<PyAny>>,
    log: Option<&LearningLog>,
    sequences: Option<&RawCounts>,
) -> PyResult<LearnedPieces> {
    let spec = settings_of(settings)?;
    let sequences = sequences.map(|sequences| &sequences.counts);
    let num_threads = thread_count(num_threads)?;
    let (rounds, merges) = (LearningLog::resume_rounds(log), LearningLog::resume(log));
    let resume = SentencePieceResume { rounds, merges };
    let learned = watched(py, progress, |pulse| {
        sentencepiece::resume(&counts.counts, sequences, &spec, num_threads, resume, pulse)
    })?;
    let pieces = learned.pieces.into_iter().map(|(piece, score)| (piece, f64::from(score))).collect();
    Ok(LearnedPieces::of(pieces, &learned.steps))
}

/// Raise `MemoryLimitError` unless the system provides this many bytes, which are released at once.
#[python]
pub(crate) fn check_memory(bytes: usize) -> PyResult<()> {
    check_available(bytes).map_err(raise)
}

/// The callback that a trainer calls to report progress.
type Pulse<'p> = &'p mut dyn FnMut(usize, usize) -> ControlFlow<()>;

/// Run a trainer without the GIL; check for signals and report progress up to ten times a second, and at the end.
fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    learn: impl FnOnce(Pulse<'_>) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let (mut raised, mut unreported) = (None, None);
    let mut last = Instant::now();
    let learned = py.release(|| {
        learn(&mut |done, total| {
            if last.elapsed() < PULSE && done < total {
                unreported = Some((done, total));
                return ControlFlow::Continue(());
            }
            last = Instant::now();
            unreported = None;
            match Python::attach(|py| pulse(py, progress.as_ref(), done, total)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    raised = Some(error);
                    ControlFlow::Break(())
                }
            }
        })
    });
    if let Some(error) = raised {
        return Err(error);
    }
    let learned = learned.map_err(raise)?;
    if let Some((done, total)) = unreported {
        pulse(py, progress.as_ref(), done, total)?;
    }
    Ok(learned)
}

/// Check for signals and report progress.
fn pulse(py: Python<'_>, progress: Option<&Py<PyAny>>, done: usize, total: usize) -> PyResult<()> {
    py.check_signals()?;
    if let Some(progress) = progress {
        progress.call1(py, (done, total))?;
    }
    Ok(())
}
