//! Extension of the vocabulary of a compiled tokenizer by training.

use piecework_catch_panics::catch_panics;
use piecework_train::wordpiece::{self, ExistingModel, MergeSettings};
use pyo3::prelude::*;

use crate::core::Core;
use crate::counting::RawCounts;
use crate::learning::{score_named, ties_named, watched, LearnedEntries};

/// Learn WordPiece entries in addition to those of a tokenizer.
#[catch_panics]
#[pyfunction]
#[pyo3(signature = (
    core, counts, *, vocab_size, score, ties, min_frequency, continuing_subword_prefix, max_token_length,
    barriers, progress
))]
#[expect(clippy::too_many_arguments, reason = "the keyword arguments of the Python function")]
pub(crate) fn continue_training(
    py: Python<'_>,
    core: &Core,
    counts: &RawCounts,
    vocab_size: usize,
    score: &str,
    ties: &str,
    min_frequency: u64,
    continuing_subword_prefix: &str,
    max_token_length: Option<usize>,
    barriers: Vec<u32>,
    progress: Option<Py<PyAny>>,
) -> PyResult<LearnedEntries> {
    let score = score_named(score)?;
    let ties = ties_named(ties)?;
    let settings = MergeSettings { vocab_size, score, ties, min_frequency, max_token_length };
    let tokenizer = core.encoder.tokenizer();
    let model = ExistingModel { model: tokenizer.model(), vocab: tokenizer.vocab(), barriers: &barriers };
    let prefix = continuing_subword_prefix;
    let learned = watched(py, progress, |pulse| {
        wordpiece::continue_training(&counts.counts, model, prefix, settings, pulse)
    })?;
    Ok(LearnedEntries { learned })
}
