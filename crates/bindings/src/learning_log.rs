//! The state of running trainers, which Python writes to checkpoints.

use numpy::{PyArray1, PyReadonlyArray1};
use piecework_catch_panics::python;
use piecework_train::unigram::{EmStep, LearnedUnigram, RoundLog, UnigramResume};
use piecework_train::{ChoiceLog, Merge, MergeLog, Resume, StepLog};
use pyo3::prelude::*;
use pythonize::pythonize;

use crate::batch::array;
use crate::errors::bad_argument;
use crate::input::settings_of;

/// A column of merges as Python receives it.
type Column<'py, T> = Bound<'py, PyArray1<T>>;

/// Columns of merges: left, right and merged token, count and score.
type MergeColumns<'py> =
    (Column<'py, u32>, Column<'py, u32>, Column<'py, u32>, Column<'py, u64>, Column<'py, f64>);

/// Columns of merges, as Python passes them.
type GivenMerges<'py> = (
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, u64>,
    PyReadonlyArray1<'py, f64>,
);

/// What a trainer has learned so far, readable while it runs, after what an earlier run had learned.
#[pyclass(frozen, module = "piecework._internal._core")]
pub struct LearningLog {
    earlier_merges: Vec<Merge>,
    earlier_choices: Vec<u64>,
    earlier_round: Option<LearnedUnigram>,
    merges: MergeLog,
    choices: ChoiceLog,
    rounds: RoundLog,
    steps: Option<StepLog>,
}

impl LearningLog {
    /// Return how a trainer that merges or chooses begins, and where it records.
    pub(crate) fn resume(log: Option<&Self>) -> Resume<'_> {
        log.map_or_else(Resume::default, |log| Resume {
            earlier: &log.earlier_merges,
            log: Some(&log.merges),
            earlier_choices: &log.earlier_choices,
            choice_log: Some(&log.choices),
            steps: log.steps.as_ref(),
        })
    }

    /// Return how a Unigram trainer begins, and where it records.
    pub(crate) fn resume_rounds(log: Option<&Self>) -> UnigramResume<'_> {
        UnigramResume {
            earlier: log.and_then(|log| log.earlier_round.as_ref()),
            log: log.map(|log| &log.rounds),
            pruning: Self::resume(log),
        }
    }
}

#[python]
impl LearningLog {
    /// Begin with what an earlier run with the same counts and settings had learned; `trace` says which steps to report.
    #[new]
    #[pyo3(signature = (*, merges=None, choices=None, round=None, trace=None))]
    fn new(
        merges: Option<GivenMerges<'_>>,
        choices: Option<PyReadonlyArray1<'_, u64>>,
        round: Option<LearnedRound>,
        trace: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let choices = choices.map(|choices| choices.as_slice().map(<[u64]>::to_vec)).transpose()?;
        Ok(Self {
            earlier_merges: merges.map(merges_of).transpose()?.unwrap_or_default(),
            earlier_choices: choices.unwrap_or_default(),
            earlier_round: round.map(round_of),
            merges: MergeLog::default(),
            choices: ChoiceLog::default(),
            rounds: RoundLog::default(),
            steps: trace.map(|trace| settings_of(trace).map(StepLog::new)).transpose()?,
        })
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

    /// Remove and return the steps of the run, as data.
    fn take_trace<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize(py, &self.steps.as_ref().map(StepLog::take))?)
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
fn merges_of((left, right, merged, counts, scores): GivenMerges<'_>) -> PyResult<Vec<Merge>> {
    let (left, right, merged) = (left.as_slice()?, right.as_slice()?, merged.as_slice()?);
    let (counts, scores) = (counts.as_slice()?, scores.as_slice()?);
    let length = left.len();
    if [right.len(), merged.len(), counts.len(), scores.len()] != [length; 4] {
        return Err(bad_argument("merges", "columns of different lengths", "columns of one length"));
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
type LearnedRound = (Vec<(String, f64)>, Vec<(usize, f64)>);

/// Return the round of pieces and EM steps.
fn round_of((pieces, steps): LearnedRound) -> LearnedUnigram {
    let step = |(pieces, log_likelihood)| EmStep { pieces, log_likelihood };
    LearnedUnigram { pieces, steps: steps.into_iter().map(step).collect() }
}
