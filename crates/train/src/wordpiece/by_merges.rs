//! Dispatch to the trainer of a score and an order of ties, for the scores that merge pairs.

use super::best_first;
use super::frequency;
use super::likelihood::Likelihood;
use super::merge_state::MergeState;
use super::pmi::Pmi;
use super::spec::{PairScore, Ties};
use super::tie_break::{FirstSeen, LowestIds, SmallestStrings, TieBreak};
use crate::progress::Progress;
use crate::Learned;
use piecework_core::error::Error;

/// Merge pairs until the vocabulary is full or no pair qualifies.
pub(super) fn learn(state: MergeState, progress: &mut Progress<'_>) -> Result<Learned, Error> {
    match state.settings.ties {
        Ties::LowestIds => learn_with_ties::<LowestIds>(state, progress),
        Ties::SmallestStrings => learn_with_ties::<SmallestStrings>(state, progress),
        Ties::FirstSeen => learn_with_ties::<FirstSeen>(state, progress),
    }
}

fn learn_with_ties<T: TieBreak>(state: MergeState, progress: &mut Progress<'_>) -> Result<Learned, Error> {
    match state.settings.score {
        PairScore::Pmi => best_first::learn::<_, T>(Pmi, state, progress),
        PairScore::Likelihood => {
            let objective = Likelihood::new(state.total_chars);
            best_first::learn::<_, T>(objective, state, progress)
        }
        PairScore::Frequency => frequency::learn::<T>(state, progress),
    }
}
