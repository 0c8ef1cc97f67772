//! The counts of tracked pairs by source, and the turn of each source to choose a merge.
//!
//! Most pairs occur in few sources, so the counts are in one table by pair and source. The pairs of the words
//! after those of the sources, the parallel texts, have no counts.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::packed_words::{PackedWords, PART_CELLS};
use super::pair_table::PairTable;
use super::turns::Turns;
use crate::memory::out_of_memory;
use crate::progress::Progress;
use piecework_core::error::Error;

/// What the state of training by merges knows of the sources.
pub(super) struct Sources {
    pub(super) counts: CountsBySource,
    pub(super) turns: Turns,
    /// The pairs that the last merge gave new positions, and the sources of these.
    pub(super) gained: Vec<(u32, u32)>,
}

impl Sources {
    pub(super) fn new(turns: Turns) -> Self {
        let counts = CountsBySource { sources: turns.sources() as u32, counts: HashMap::default() };
        Self { counts, turns, gained: Vec::new() }
    }

    /// Record which source chooses the merge of a pair, and remove the counts of the pair.
    ///
    /// It is the first source, in the order of turns, in which the pair is frequent: those before it have no
    /// frequent pair. So the merges of an earlier run restore the turns.
    pub(super) fn take_turn(&mut self, pair: u32, merges: usize, min_frequency: u64) {
        let Self { counts, turns, .. } = self;
        turns.take(merges, |source| counts.count(pair, source) >= min_frequency);
        counts.remove(pair);
    }

    /// Count the tokens that a merge removed from a source; return whether the pairs of the source count.
    pub(super) fn shorten(&mut self, source: usize, tokens: u64) -> bool {
        self.turns.shorten(source, tokens);
        source < self.counts.sources as usize
    }

    /// Add the counts of a pair that is tracked from now on.
    pub(super) fn track(&mut self, pair: u32, positions: &[u32], words: &PackedWords) {
        for &position in positions {
            let source = words.source_at(position);
            self.counts.gain(pair, source, words.count_at(position), 0);
            self.gained.push((pair, source));
        }
    }
}

/// The count of each tracked pair in each source.
pub(super) struct CountsBySource {
    sources: u32,
    /// By pair (upper half of the key) and source.
    counts: HashMap<u64, u64, RandomState>,
}

impl CountsBySource {
    #[inline]
    pub(super) fn count(&self, pair: u32, source: u32) -> u64 {
        self.counts.get(&key(pair, source)).copied().unwrap_or(0)
    }

    /// Subtract occurrences that a pair had in a source.
    pub(super) fn lose(&mut self, pair: u32, source: u32, lost: u64) {
        if let Some(count) = self.counts.get_mut(&key(pair, source)) {
            *count -= lost;
        }
    }

    /// Add the occurrences that a pair gained in a source, but for those that were merged again.
    pub(super) fn gain(&mut self, pair: u32, source: u32, gained: u64, remerged: u64) {
        if gained > 0 || remerged > 0 {
            let count = self.counts.entry(key(pair, source)).or_insert(0);
            *count = *count + gained - remerged;
        }
    }

    /// Count the tracked pairs of all words.
    pub(super) fn recount(
        &mut self,
        words: &PackedWords,
        pairs: &PairTable,
        progress: &mut Progress<'_>,
    ) -> Result<(), Error> {
        self.counts = HashMap::default();
        let bytes = 2 * size_of::<(u64, u64)>() * pairs.len();
        self.counts.try_reserve(pairs.len()).map_err(|_| out_of_memory(bytes))?;
        for start in (0..words.len()).step_by(PART_CELLS) {
            let cells = start..words.len().min(start + PART_CELLS);
            progress.advance(cells.len())?;
            words.visit_pairs(cells, |left, right, position, count| {
                if let Some(pair) = pairs.find(left, right).filter(|_| count > 0) {
                    *self.counts.entry(key(pair, words.source_at(position))).or_insert(0) += count;
                }
            });
        }
        Ok(())
    }

    fn remove(&mut self, pair: u32) {
        (0..self.sources).for_each(|source| {
            self.counts.remove(&key(pair, source));
        });
    }
}

#[inline]
fn key(pair: u32, source: u32) -> u64 {
    (u64::from(pair) << 32) | u64::from(source)
}
