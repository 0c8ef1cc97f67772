//! The most frequent pair first, in rounds.
//!
//! A round counts all pairs and tracks those that occur at least a `SPAN`-th as often as the best. Only
//! tracked pairs have an entry in the table, a list of positions and an entry in the heap. A merge creates
//! new pairs, whose counts are complete when the merge is done; the frequent ones are tracked. Untracked
//! pairs only become rarer. When no tracked pair reaches the threshold, the next round begins.
//!
//! A merge may yield an existing entry (`a bc` and `ab c`). Then untracked pairs may gain. `slack` bounds
//! their counts. If a gain could lift one to the threshold, a round with a lower threshold begins.
//!
//! A merge costs time linear in the positions of the pair, plus one table lookup for each distinct
//! neighbour. A round costs time linear in the corpus of distinct words; counts fall by the factor `SPAN` from
//! round to round, so there are O(log of the largest count) rounds.

use super::pair_priority::PairPriority;
use super::round::Round;
use super::spec::BpeTrainSpec;
use super::vocabulary::GrowingVocabulary;
use crate::entries::Entries;
use crate::memory::check_available;
use crate::merges::neighbour_changes::NeighbourChanges;
use crate::merges::packed_words::PackedWords;
use crate::merges::pair_merge::PairMerge;
use crate::progress::Progress;
use crate::{Learned, Merge};
use piecework_core::error::Error;

/// The factor by which the threshold falls when a gain forces a new round.
const FORCED_STEP: u64 = 4;

/// The merges between two checks of the available memory, and the memory that must be available, in bytes for
/// each cell of the words.
const CHECK_EVERY: usize = 64;
const HEADROOM: usize = 8;

/// The state of training.
pub(super) struct BpeTrainer<'a, O: PairPriority> {
    vocabulary: GrowingVocabulary<'a>,
    words: PackedWords,
    round: Round<O>,
    changes: NeighbourChanges,
    merges: Vec<Merge>,
}

/// Where a trainer begins: special tokens, alphabet and words segmented into characters, and the merges that
/// have been applied to them.
pub(super) struct BpeStart<'a, 'm> {
    pub(super) spec: &'a BpeTrainSpec,
    pub(super) entries: Entries,
    /// The lengths of the entries before the first merge.
    pub(super) lengths: Vec<usize>,
    pub(super) words: PackedWords,
    pub(super) earlier: &'m [Merge],
}

impl<'a, O: PairPriority> BpeTrainer<'a, O> {
    pub(super) fn new(start: BpeStart<'a, '_>) -> Self {
        let BpeStart { spec, entries, lengths, words, earlier } = start;
        Self {
            vocabulary: GrowingVocabulary::new(spec, entries, lengths, earlier),
            words,
            round: Round::default(),
            changes: NeighbourChanges::default(),
            merges: earlier.to_vec(),
        }
    }

    /// Merge the most frequent pair until the vocabulary is full or no pair is frequent enough.
    pub(super) fn run(mut self, progress: &mut Progress<'_>) -> Result<Learned, Error> {
        while !self.vocabulary.is_full() {
            progress.advance(1)?;
            match self.round.pop_best(&self.vocabulary, &self.words) {
                Some(pair) => self.merge(pair, progress)?,
                None if self.round.threshold() <= self.vocabulary.min_frequency() => break,
                None => self.begin_round(u64::MAX, progress)?,
            }
        }
        Ok(self.finish())
    }

    fn finish(self) -> Learned {
        let GrowingVocabulary { spec, entries, .. } = &self.vocabulary;
        let stopped_early = (!self.vocabulary.is_full()).then(|| {
            format!(
                "no pair occurs {} times any more: {} of {} entries learned",
                self.vocabulary.min_frequency(),
                entries.len(),
                spec.vocab_size
            )
        });
        Learned {
            vocab: self.vocabulary.entries.into_names(),
            merges: self.merges,
            stopped_early,
            ..Learned::default()
        }
    }

    fn begin_round(&mut self, limit: u64, progress: &mut Progress<'_>) -> Result<(), Error> {
        self.round = Round::default();
        check_available(HEADROOM * self.words.len())?;
        self.round = Round::begin(&self.vocabulary, &self.words, limit, progress)?;
        self.changes.grow(self.vocabulary.entries.len());
        Ok(())
    }

    /// Merge a pair at all of its positions.
    fn merge(&mut self, pair: u32, progress: &mut Progress<'_>) -> Result<(), Error> {
        if self.merges.len().is_multiple_of(CHECK_EVERY) {
            check_available(HEADROOM * self.words.len())?;
        }
        let ((left, right), positions, count) = self.round.take(pair);
        let merged = self.vocabulary.add_merged(left, right);
        if merged.is_new {
            self.round.add_entry();
            self.changes.grow(self.vocabulary.entries.len());
            progress.reach(self.vocabulary.entries.len());
        }
        let made = Merge { left, right, merged: merged.entry, count, score: count as f64 };
        self.merges.push(made);
        progress.log_merge(made);
        let pair = PairMerge { left, right, merged: merged.entry, overlapping: true };
        pair.apply(&mut self.words, &positions, &mut self.changes, progress)?;
        let must_restart = self.round.apply(&self.vocabulary, &self.changes, (left, right), merged)?;
        self.changes.clear();
        if must_restart {
            self.begin_round((self.round.threshold() / FORCED_STEP).max(1), progress)?;
        }
        Ok(())
    }
}
