//! The steps of a run as data, for whoever shows them.

use std::sync::{Mutex, PoisonError};

use super::piece_set::PieceSet;
use super::segment_text::SegmentText;

/// One step of a Unigram trainer.
#[derive(Clone, Debug, PartialEq)]
pub struct UnigramStep {
    /// The pieces before the step, by code points, with their scores.
    pub before: Vec<(String, f64)>,
    /// What the step computed for each of them.
    pub values: StepValues,
    /// The pieces after the step with their scores.
    pub after: Vec<(String, f64)>,
}

/// What a step computes for each piece.
#[derive(Clone, Debug, PartialEq)]
pub enum StepValues {
    /// An EM step: the expected counts.
    Expected(Vec<f64>),
    /// Pruning: the count in the best segmentations, and the loss without the piece, which is infinite for a single
    /// character in use and minus infinity for a piece that is not needed.
    Losses(Vec<(f64, f64)>),
}

/// All steps of a run. Each takes memory for every piece, so this is for small corpora.
///
/// ```
/// use piecework_train::unigram::StepLog;
/// assert_eq!(StepLog::default().into_steps(), []);
/// ```
#[derive(Debug, Default)]
pub struct StepLog(Mutex<Vec<UnigramStep>>);

impl StepLog {
    /// Return the steps in order.
    #[must_use]
    pub fn into_steps(self) -> Vec<UnigramStep> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Append a step without its result.
    pub(super) fn begin(&self, pieces: &PieceSet, corpus: &SegmentText, values: StepValues) {
        let step = UnigramStep { before: pieces.named(corpus), values, after: Vec::new() };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(step);
    }

    /// Set the result of the last step.
    pub(super) fn end(&self, pieces: &PieceSet, corpus: &SegmentText) {
        if let Some(step) = self.0.lock().unwrap_or_else(PoisonError::into_inner).last_mut() {
            step.after = pieces.named(corpus);
        }
    }
}
