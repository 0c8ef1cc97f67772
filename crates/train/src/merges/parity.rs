//! The trainer of parity-aware BPE: the most frequent pair of the source whose turn it is, merged in all sources.
//!
//! Source: Foroutan et al. 2026, "Parity-Aware Byte-Pair Encoding". Each source has a heap as in `frequency`.

use super::frequency::PairHeap;
use super::state::MergeState;
use super::ties::TieBreak;
use super::turns::Turns;
use crate::progress::Progress;
use crate::Learned;
use piecework_core::error::Error;

/// The factor by which the floor of tracked pairs falls when no tracked pair of a source reaches it; low in tests.
const SPAN: u64 = if cfg!(test) { 2 } else { 16 };

/// Merge until the vocabulary is full or no pair of any source is frequent enough.
pub(super) fn learn<T: TieBreak>(
    mut state: MergeState,
    progress: &mut Progress<'_>,
) -> Result<Learned, Error> {
    let mut heaps = Heaps::<T>::new(&state);
    while !state.is_full() {
        progress.advance(1)?;
        match heaps.next(&mut state, progress)? {
            Next::Pair(pair, count) => {
                state.merge(pair, count as f64, progress)?;
                heaps.add_gained(&state);
            }
            Next::Untracked => {
                drop(heaps);
                state.lower_floor((state.floor() / SPAN).max(state.min_frequency()), progress)?;
                heaps = Heaps::new(&state);
            }
            Next::Nothing => break,
        }
    }
    Ok(state.finish(|state| format!("no pair occurs {} times in a source any more", state.min_frequency())))
}

/// What is merged next.
enum Next {
    /// A pair, and its count where it was chosen.
    Pair(u32, u64),
    /// Perhaps a pair that is not tracked.
    Untracked,
    Nothing,
}

/// The candidates of the whole corpus, while that chooses, and of each source.
struct Heaps<T: TieBreak> {
    corpus: Option<PairHeap<T>>,
    sources: Vec<PairHeap<T>>,
}

impl<T: TieBreak> Heaps<T> {
    fn new(state: &MergeState) -> Self {
        let turns = state.sources.as_ref().map(|sources| &sources.turns);
        let is_global = turns.is_some_and(|turns| turns.are_global(state.merges.len()));
        let sources = 0..turns.map_or(0, Turns::sources) as u32;
        Self {
            corpus: is_global.then(|| PairHeap::new(state, None)),
            sources: sources.map(|source| PairHeap::new(state, Some(source))).collect(),
        }
    }

    /// Remove and return the best pair of the corpus, or of the first source in the order of turns that has one.
    fn next(&mut self, state: &mut MergeState, progress: &mut Progress<'_>) -> Result<Next, Error> {
        let turns = state.sources.as_ref().map(|sources| &sources.turns);
        if !turns.is_some_and(|turns| turns.are_global(state.merges.len())) {
            self.corpus = None;
        }
        let order = turns.map_or_else(Vec::new, Turns::order);
        if let Some(corpus) = &mut self.corpus {
            return Ok(Self::found(corpus.pop(state, progress)?, state));
        }
        for source in order {
            let best = self.sources[source as usize].pop(state, progress)?;
            if best.is_some() || state.has_untracked() {
                return Ok(Self::found(best, state));
            }
        }
        Ok(Next::Nothing)
    }

    fn found(best: Option<(u32, u64)>, state: &MergeState) -> Next {
        match best {
            Some((pair, count)) => Next::Pair(pair, count),
            None if state.has_untracked() => Next::Untracked,
            None => Next::Nothing,
        }
    }

    /// Add the pairs that the last merge gave new positions to the heaps where their rank may have risen.
    fn add_gained(&mut self, state: &MergeState) {
        if let Some(corpus) = &mut self.corpus {
            state.gained.iter().for_each(|&pair| corpus.add(state, pair));
        }
        if T::DEPENDS_ON_POSITIONS {
            for heap in &mut self.sources {
                state.gained.iter().for_each(|&pair| heap.add(state, pair));
            }
            return;
        }
        let gained = state.sources.iter().flat_map(|sources| &sources.gained);
        for &(pair, source) in gained {
            if let Some(heap) = self.sources.get_mut(source as usize) {
                heap.add(state, pair);
            }
        }
    }
}
