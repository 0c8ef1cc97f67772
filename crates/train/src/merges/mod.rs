//! Training by merges: the pair with the best score becomes one entry, again and again.

mod active_pairs;
mod best_first;
mod candidate_pairs;
mod extend;
mod frequency;
pub(crate) mod frequent_pairs;
mod likelihood;
pub(crate) mod neighbour_changes;
mod objective;
pub(crate) mod packed_words;
mod pair_counts;
pub(crate) mod pair_merge;
pub(crate) mod pair_table;
mod pmi;
mod score_classes;
pub(crate) mod state;
mod ties;

use crate::progress::Progress;
use crate::wordpiece::{PairScore, Ties};
use crate::Learned;
use piecework_core::error::Error;

use likelihood::Likelihood;
use pmi::Pmi;
use state::MergeState;
use ties::{FirstSeen, LowestIds, SmallestStrings, TieBreak};

pub use extend::{continue_training, ExistingModel};

/// Merge pairs until the vocabulary is full or no pair qualifies.
pub(crate) fn learn(state: MergeState, progress: &mut Progress<'_>) -> Result<Learned, Error> {
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
