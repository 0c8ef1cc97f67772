//! The learners: how entries besides special tokens and alphabet are learned.
//!
//! A learner is a variant of [`Learner`] in `spec`, and here a file or folder of its name and an arm of
//! `Learner::learn`. It gets a [`Start`] and returns its entries by `start::fill`; `resume::Choices` records what
//! it decides, so that a checkpoint can repeat it. `seeds` has the frequent substrings of a corpus.

mod merges;
mod pruning;
mod top_down;

use super::spec::Learner;
use super::start::Start;
use crate::progress::Progress;
use crate::Learned;
use piecework_core::error::Error;

impl Learner {
    /// Learn a vocabulary of `spec.vocab_size` entries.
    pub(super) fn learn(self, start: Start<'_>, progress: &mut Progress<'_>) -> Result<Learned, Error> {
        match self {
            Self::Merges(score, ties) => merges::learn(start, score, ties, progress),
            Self::Pruning(settings) => pruning::learn(&start, &settings, progress),
            Self::TopDown => top_down::learn(start, progress),
        }
    }

    /// Learn a vocabulary of each size in one run, in the order of the sizes.
    ///
    /// Errors: `Argument` for another learner than `Pruning`.
    pub(super) fn learn_sizes(
        self,
        start: &Start<'_>,
        sizes: &[usize],
        progress: &mut Progress<'_>,
    ) -> Result<Vec<Learned>, Error> {
        pruning::learn_sizes(start, &self.pruning()?, sizes, progress)
    }
}
