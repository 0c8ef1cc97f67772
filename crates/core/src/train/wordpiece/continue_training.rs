//! Learning on from a vocabulary that is there: the corpus is segmented by its model, and state goes on
//! from the pieces. For BPE that is what training to the larger size would have done.
//!
//! Pieces that must not grow (unknown tokens, bytes, special tokens) end a run of pieces as a word does.

use std::ops::ControlFlow;

use rustc_hash::{FxHashMap, FxHashSet};

use super::merge_state::MergeState;
use super::segmented_words::SegmentedWords;
use super::{learn_by_merges, WordPieceTrainSpec};
use crate::error::Error;
use crate::model::{Model, ModelScratch};
use crate::train::entries::Entries;
use crate::train::learned::check_counts;
use crate::train::progress::Progress;
use crate::train::{Counts, Learned};
use crate::vocab::Vocab;

/// What is there already.
#[derive(Clone, Copy, Debug)]
pub struct ExistingModel<'p> {
    /// Segments the words.
    pub model: &'p Model,
    /// Its entries.
    pub vocab: &'p Vocab,
    /// Ids of entries that are never merged.
    pub barriers: &'p [u32],
}

/// Learn further entries until there are `spec.vocab_size`, those present included.
///
/// In the result the entries present come first, in the order of their ids, and ids are places in that
/// list. Of `spec`, alphabet and special tokens are of no effect; the score must be one that merges.
/// `progress` and errors are those of [`learn`](super::learn).
pub fn continue_training(
    counts: &Counts,
    existing: ExistingModel<'_>,
    spec: &WordPieceTrainSpec,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Learned, Error> {
    let mut progress = Progress::start(spec.vocab_size, progress)?;
    check_counts(counts, &mut progress)?;
    let mut entries = Entries::new(&spec.continuing_subword_prefix);
    for (token, _) in existing.vocab.iter() {
        entries.add(token);
    }
    spec.ties().check(counts)?;
    let corpus = segmented(counts, existing, &mut progress)?;
    let state = MergeState::of_corpus(corpus, spec, entries, &mut progress)?;
    let learned = learn_by_merges(state, &mut progress)?;
    progress.finish(learned.vocab.len())?;
    Ok(learned)
}

fn segmented(
    counts: &Counts,
    existing: ExistingModel<'_>,
    progress: &mut Progress<'_>,
) -> Result<SegmentedWords, Error> {
    let ExistingModel { model, vocab, barriers } = existing;
    let barriers: FxHashSet<u32> = barriers.iter().copied().collect();
    let joinable = |&(id, _): &(u32, u32)| !barriers.contains(&id);
    let ids = vocab.iter().map(|(_, id)| id);
    let place_of: FxHashMap<u32, u32> = ids.zip(0..).filter(joinable).collect();
    let (mut corpus, mut scratch, mut pieces) =
        (SegmentedWords::empty(), ModelScratch::default(), Vec::new());
    for (word, count) in counts.iter() {
        progress.advance(word.len())?;
        pieces.clear();
        model.run(word, vocab, &mut scratch, &mut pieces);
        scratch.check()?;
        for run in pieces.split(|id: &u32| !place_of.contains_key(id)) {
            corpus.push(run.iter().map(|id| place_of[id]), count)?;
        }
    }
    Ok(corpus)
}
