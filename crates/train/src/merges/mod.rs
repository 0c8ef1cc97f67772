//! Training by merges: the pair with the best score becomes one entry, again and again.
//!
//! ```text
//! settings         scores, ties, and the limits of merged entries
//! packed_words     the words as sequences of entries, four bytes a character
//! frequent_pairs   the pairs that occur at least a given number of times
//! pair_table       the tracked pairs: counts and positions
//! pair_merge       the merge of a pair at all of its positions, and the changes around them
//! state            words, pairs and entries, updated by each merge; the merges of an earlier run
//! ties             the order among pairs of equal score
//! frequency        trainer: the most frequent pair first
//! sources          the counts of pairs by source
//! turns            the source that chooses the next merge: the one whose text takes the most tokens
//! parity           trainer: the most frequent pair of the source whose turn it is
//! scores           PMI and likelihood: exact comparison, and the counts that they need
//! best_first       trainer: the pair with the best score first
//! extend           training that starts from an existing model
//! word_limit       the most words that an entry spans
//! steps            merges as data, for whoever shows them
//! ```
//!
//! This is the only code that merges. WordPiece, BPE and SentencePiece differ in settings, and in how their words are
//! segmented at the start.

mod best_first;
mod extend;
mod frequency;
mod frequent_pairs;
mod packed_words;
mod pair_merge;
mod pair_table;
mod parity;
mod scores;
mod settings;
mod sources;
mod state;
mod steps;
#[cfg(test)]
mod tests;
mod ties;
mod turns;
mod word_limit;

use crate::entries::Entries;
use crate::progress::Progress;
use crate::resume::EarlierMerges;
use crate::Learned;
use piecework_core::error::Error;

use scores::{Likelihood, Pmi};
use sources::Sources;
use state::MergeState;
use ties::{FirstSeen, GreatestStrings, LowestIds, ShortestEntries, SmallestStrings, TieBreak};

pub(crate) use extend::segmented;
pub use extend::{continue_training, ExistingModel};
pub(crate) use packed_words::{PackedWords, SegmentedParts};
pub(crate) use settings::EntryLimits;
pub use settings::{MergeSettings, PairScore, Ties};
pub(crate) use turns::Turns;
pub(crate) use word_limit::WordLimit;

/// Merge pairs of segmented words until the vocabulary is full or no pair qualifies.
///
/// With `turns`, each merge is that of the most frequent pair of the source whose turn it is. The merges of an earlier run
/// are applied, not chosen again.
pub(crate) fn learn(
    words: PackedWords,
    entries: Entries,
    settings: MergeSettings,
    limits: EntryLimits,
    turns: Option<Turns>,
    earlier: EarlierMerges<'_>,
    progress: &mut Progress<'_>,
) -> Result<Learned, Error> {
    let sources = turns.map(Sources::new);
    let state = MergeState::start(words, entries, settings, limits, sources, earlier, progress)?;
    match state.settings.ties {
        Ties::LowestIds => learn_with_ties::<LowestIds>(state, progress),
        Ties::SmallestStrings => learn_with_ties::<SmallestStrings>(state, progress),
        Ties::GreatestStrings => learn_with_ties::<GreatestStrings>(state, progress),
        Ties::ShortestEntries => learn_with_ties::<ShortestEntries>(state, progress),
        Ties::FirstSeen => learn_with_ties::<FirstSeen>(state, progress),
    }
}

fn learn_with_ties<T: TieBreak>(
    mut state: MergeState,
    progress: &mut Progress<'_>,
) -> Result<Learned, Error> {
    if let Some(log) = progress.steps() {
        state.report = steps::log_merge::<T>;
        steps::log_splits(&state, log);
    }
    match state.settings.score {
        PairScore::Pmi => best_first::learn::<_, T>(Pmi, state, progress),
        PairScore::Likelihood => {
            let objective = Likelihood::new(state.total_chars);
            best_first::learn::<_, T>(objective, state, progress)
        }
        PairScore::Frequency if state.sources.is_some() => parity::learn::<T>(state, progress),
        PairScore::Frequency => frequency::learn::<T>(state, progress),
    }
}
