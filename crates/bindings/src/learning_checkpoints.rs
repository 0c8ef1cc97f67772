//! The state of running trainers, which Python writes to checkpoints, and memory checks.

use numpy::{PyArray1, PyReadonlyArray1};
use piecework_catch_panics::catch_panics;
use piecework_train::unigram::{EmStep, RoundLog, UnigramRound};
use piecework_train::{check_available, ChoiceLog, Merge, MergeLog};
use pyo3::prelude::*;

use crate::arrays::array;
use crate::errors::{bad_argument, raise};

/// Columns of merges: left, right and merged token, count and score.
type MergeColumns<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<f64>>,
);

/// Columns of merges, as Python passes them.
pub(crate) type GivenMerges<'py> = (
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, u64>,
    PyReadonlyArray1<'py, f64>,
);

/// The merges, choices or rounds of a trainer, readable while it runs.
#[pyclass(frozen, module = "piecework._core")]
#[derive(Default)]
pub struct LearningLog {
    pub(crate) merges: MergeLog,
    pub(crate) choices: ChoiceLog,
    pub(crate) rounds: RoundLog,
}

#[catch_panics]
#[pymethods]
impl LearningLog {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Return the merges so far: left, right and merged ids, counts and scores.
    fn merges<'py>(&self, py: Python<'py>) -> PyResult<MergeColumns<'py>> {
        let merges = self.merges.merges();
        Ok((
            array(py, merges.iter().map(|merge| merge.left).collect())?,
            array(py, merges.iter().map(|merge| merge.right).collect())?,
            array(py, merges.iter().map(|merge| merge.merged).collect())?,
            array(py, merges.iter().map(|merge| merge.count).collect())?,
            array(py, merges.iter().map(|merge| merge.score).collect())?,
        ))
    }

    /// Return the choices so far of a trainer that merges no pairs.
    fn choices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        array(py, self.choices.choices())
    }

    /// Remove and return the last round of a Unigram trainer: pieces with scores, and EM steps.
    #[expect(clippy::type_complexity, reason = "the columns of one round")]
    fn take_round(&self) -> Option<(Vec<(String, f64)>, Vec<(usize, f64)>)> {
        self.rounds.take().map(|round| {
            let steps = round.steps.iter().map(|step| (step.pieces, step.log_likelihood)).collect();
            (round.pieces, steps)
        })
    }
}

/// Return the merges of columns of equal length.
pub(crate) fn merges_of(columns: Option<GivenMerges<'_>>) -> PyResult<Vec<Merge>> {
    let Some((left, right, merged, counts, scores)) = columns else { return Ok(Vec::new()) };
    let (left, right, merged) = (left.as_slice()?, right.as_slice()?, merged.as_slice()?);
    let (counts, scores) = (counts.as_slice()?, scores.as_slice()?);
    let length = left.len();
    if [right.len(), merged.len(), counts.len(), scores.len()] != [length; 4] {
        return Err(bad_argument("earlier", "columns of different lengths", "columns of one length"));
    }
    let merge = |row: usize| Merge {
        left: left[row],
        right: right[row],
        merged: merged[row],
        count: counts[row],
        score: scores[row],
    };
    Ok((0..length).map(merge).collect())
}

/// The round of pieces and EM steps.
pub(crate) fn round_of(pieces: Vec<(String, f64)>, steps: Vec<(usize, f64)>) -> UnigramRound {
    let step = |(pieces, log_likelihood)| EmStep { pieces, log_likelihood };
    UnigramRound { pieces, steps: steps.into_iter().map(step).collect() }
}

/// Raise `MemoryLimitError` unless the system provides this many bytes, which are released at once.
#[catch_panics]
#[pyfunction]
pub(crate) fn check_memory(bytes: usize) -> PyResult<()> {
    check_available(bytes).map_err(raise)
}
