//! Training that starts from an existing model: the model segments the words, and merging continues from its
//! tokens. For BPE the result equals a training to the larger size.
//!
//! Tokens that must not be merged (unknown tokens, bytes, special tokens) separate tokens as the edges of a
//! word do.

use std::ops::ControlFlow;

use foldhash::{HashMap, HashSet};

use super::learn;
use super::packed_words::{PackedWords, SegmentedParts};
use super::settings::{EntryLimits, MergeSettings};
use crate::count::Counts;
use crate::entries::Entries;
use crate::learned::check_counts;
use crate::progress::Progress;
use crate::resume::EarlierMerges;
use crate::thread_team::ThreadTeam;
use crate::Learned;
use piecework_core::error::Error;
use piecework_core::model::{Model, ModelScratch};
use piecework_core::vocab::Vocab;

/// The model that training starts from.
#[derive(Clone, Copy, Debug)]
pub struct ExistingModel<'p> {
    /// The model that segments the words.
    pub model: &'p Model,
    /// The entries of the model.
    pub vocab: &'p Vocab,
    /// The ids of entries that are never merged.
    pub barriers: &'p [u32],
}

/// Learn further entries until the vocabulary has `settings.vocab_size`, those of the model included.
///
/// The result begins with the entries of the model in the order of their ids; ids in the result are indices
/// into its vocabulary. `prefix` is the continuation prefix. `progress` and errors are those of
/// [`resume`](crate::wordpiece::resume).
pub fn continue_training(
    counts: &Counts,
    base: ExistingModel<'_>,
    prefix: &str,
    settings: MergeSettings,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Learned, Error> {
    let mut progress = Progress::start(settings.vocab_size, progress)?;
    counts.check_unbounded("an existing model")?;
    let chars = check_counts(counts, &mut progress)?;
    let entries = Entries::of(prefix, base.vocab.iter().map(|(token, _)| token));
    settings.ties.check(counts, "smallest-strings")?;
    let words = segmented(counts, chars, base, settings.num_threads, &mut progress)?;
    let (limits, earlier) = (EntryLimits::default(), EarlierMerges::default());
    let learned = learn(words, entries, settings, limits, None, earlier, &mut progress)?;
    progress.finish(learned.vocab.len())?;
    Ok(learned)
}

/// Segment the words with a model; tokens that are never merged separate the others.
pub(crate) fn segmented(
    counts: &Counts,
    chars: usize,
    base: ExistingModel<'_>,
    num_threads: usize,
    progress: &mut Progress<'_>,
) -> Result<PackedWords, Error> {
    let ExistingModel { model, vocab, barriers } = base;
    let barriers: HashSet<u32> = barriers.iter().copied().collect();
    let mergeable = |&(id, _): &(u32, u32)| !barriers.contains(&id);
    let vocab_ids = vocab.iter().map(|(_, id)| id);
    let index_of: HashMap<u32, u32> = vocab_ids.zip(0..).filter(mergeable).collect();
    let state = || (ModelScratch::default(), Vec::new());
    let segment =
        |(scratch, ids): &mut (ModelScratch, Vec<u32>), word: &str, parts: &mut SegmentedParts| {
            ids.clear();
            model.run(word, vocab, scratch, ids);
            for run in ids.split(|id: &u32| !index_of.contains_key(id)) {
                parts.push(run.iter().map(|id| index_of[id]));
            }
            scratch.check()
        };
    PackedWords::segmented(counts, chars, state, segment, &mut ThreadTeam::new(num_threads, progress))
}
