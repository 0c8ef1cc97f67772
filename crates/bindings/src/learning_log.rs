//! The state of running trainers, which Python writes to checkpoints.

use numpy::{PyArray1, PyReadonlyArray1};
use piecework_catch_panics::catch_panics;
use piecework_train::unigram::{EmStep, RoundLog, UnigramRound};
use piecework_train::{ChoiceLog, Merge, MergeLog};
use pyo3::prelude::*;

use crate::arrays::array;
use crate::errors::bad_argument;

/// A column of merges as Python receives it.
type Column<'py, T> = Bound<'py, PyArray1<T>>;

/// Columns of merges: left, right and merged token, count and score.
type MergeColumns<'py> =
    (Column<'py, u32>, Column<'py, u32>, Column<'py, u32>, Column<'py, u64>, Column<'py, f64>);

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
    fn take_round(&self) -> Option<LearnedRound> {
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

/// The pieces with their scores after a round, and (pieces, log-likelihood) of its steps.
pub(crate) type LearnedRound = (Vec<(String, f64)>, Vec<(usize, f64)>);

/// Return the round of pieces and EM steps.
pub(crate) fn round_of((pieces, steps): LearnedRound) -> UnigramRound {
    let step = |(pieces, log_likelihood)| EmStep { pieces, log_likelihood };
    UnigramRound { pieces, steps: steps.into_iter().map(step).collect() }
}
