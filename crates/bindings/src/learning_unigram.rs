//! Training of Unigram.

use piecework_catch_panics::catch_panics;
use piecework_train::unigram::{resume, EmStep, UnigramResume, UnigramTrainSpec};
use pyo3::prelude::*;

use crate::counting::RawCounts;
use crate::learning::{watched, Pulse};
use crate::learning_checkpoints::{round_of, LearningLog};
use crate::threads::thread_count;

/// The result of a Unigram or SentencePiece trainer.
#[pyclass(frozen, module = "piecework._core")]
pub struct LearnedPieces {
    pub(crate) pieces: Vec<(String, f64)>,
    pub(crate) steps: Vec<EmStep>,
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

/// The pieces with their scores after a round of an earlier run, and (pieces, log-likelihood) of its steps.
pub(crate) type GivenRound = (Vec<(String, f64)>, Vec<(usize, f64)>);

/// Learn a Unigram vocabulary, from frequent substrings or from given `seeds` with their counts.
///
/// With seeds, `vocab_size` is the most entries, pieces that are expected less than 0.5 times are dropped, and a
/// character that is no seed is no piece.
#[catch_panics]
#[pyfunction]
#[pyo3(signature = (
    counts, *, vocab_size, special_tokens, user_defined_symbols, byte_fallback, character_coverage,
    initial_alphabet, seed_size, count_exponent, max_piece_length, shrinking_factor, num_sub_iterations, num_threads, progress,
    seeds=None, earlier=None, log=None
))]
#[expect(clippy::too_many_arguments, reason = "the keyword arguments of the Python function")]
pub(crate) fn learn_unigram(
    py: Python<'_>,
    counts: &RawCounts,
    vocab_size: usize,
    special_tokens: Vec<String>,
    user_defined_symbols: Vec<String>,
    byte_fallback: bool,
    character_coverage: f64,
    initial_alphabet: Vec<char>,
    seed_size: usize,
    count_exponent: f64,
    max_piece_length: usize,
    shrinking_factor: f64,
    num_sub_iterations: usize,
    num_threads: i64,
    progress: Option<Py<PyAny>>,
    seeds: Option<Vec<(String, u64)>>,
    earlier: Option<GivenRound>,
    log: Option<&LearningLog>,
) -> PyResult<LearnedPieces> {
    let spec = UnigramTrainSpec {
        vocab_size,
        special_tokens,
        user_defined_symbols,
        byte_fallback,
        character_coverage,
        initial_alphabet,
        seed_size,
        count_exponent,
        max_piece_length,
        shrinking_factor,
        num_sub_iterations,
        hard_limit: seeds.is_none(),
        only_given_characters: seeds.is_some(),
        seeds,
        ..UnigramTrainSpec::default()
    };
    let num_threads = thread_count(num_threads)?;
    let earlier = earlier.map(|(pieces, steps)| round_of(pieces, steps));
    let state = UnigramResume { earlier: earlier.as_ref(), log: log.map(|log| &log.rounds) };
    let learn = |pulse: Pulse<'_>| resume(&counts.counts, &spec, num_threads, state, pulse);
    let learned = watched(py, progress, learn)?;
    Ok(LearnedPieces { pieces: learned.pieces, steps: learned.steps })
}
