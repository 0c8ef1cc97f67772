//! The trainer of BPE and of the WordPiece of `tokenizers`: the most frequent pair first, then by ties.
//!
//! The heap has the tracked pairs that reach the floor. Their counts mostly fall, so a heap entry is an upper
//! bound. The trainer compares the top of the heap with the current count and tie key and pushes it back if it
//! is out of date. A pair that gains occurrences gets a new heap entry at once. When the heap is empty, the floor
//! falls; as it falls by the factor `SPAN`, all pairs are counted O(log of the largest count) times.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::state::MergeState;
use super::ties::TieBreak;
use crate::progress::Progress;
use crate::Learned;
use piecework_core::error::Error;

/// The factor by which the floor of tracked pairs falls when no tracked pair reaches it; low in tests.
const SPAN: u64 = if cfg!(test) { 2 } else { 16 };

/// A heap entry: count, tie key and pair, ordered by higher count, then by lower tie key.
type FrequencyCandidate<T> = (u64, Reverse<<T as TieBreak>::Key>, u32);

/// Merge the most frequent pair until the vocabulary is full or no pair is frequent enough.
pub(super) fn learn<T: TieBreak>(
    mut state: MergeState,
    progress: &mut Progress<'_>,
) -> Result<Learned, Error> {
    let mut heap = PairHeap::<T>::new(&state, None);
    while !state.is_full() {
        if let Some((pair, count)) = heap.pop(&mut state, progress)? {
            state.merge(pair, count as f64, progress)?;
            state.gained.iter().for_each(|&pair| heap.add(&state, pair));
        } else if state.has_untracked() {
            drop(heap);
            state.lower_floor((state.floor() / SPAN).max(state.min_frequency()), progress)?;
            heap = PairHeap::new(&state, None);
        } else {
            break;
        }
    }
    Ok(state.finish(|state| format!("no pair occurs {} times any more", state.min_frequency())))
}

/// The tracked pairs that reach the floor in the corpus or in a source, the most frequent first.
pub(super) struct PairHeap<T: TieBreak> {
    source: Option<u32>,
    heap: BinaryHeap<FrequencyCandidate<T>>,
}

impl<T: TieBreak> PairHeap<T> {
    /// Begin with all tracked pairs, by their counts in a source or in the corpus.
    pub(super) fn new(state: &MergeState, source: Option<u32>) -> Self {
        let candidates =
            (0..state.pairs.len() as u32).filter_map(|pair| candidate::<T>(state, source, pair));
        Self { source, heap: candidates.collect() }
    }

    /// Remove and return the best pair and its count.
    pub(super) fn pop(
        &mut self,
        state: &mut MergeState,
        progress: &mut Progress<'_>,
    ) -> Result<Option<(u32, u64)>, Error> {
        while let Some((count, order, pair)) = self.heap.pop() {
            progress.advance(1)?;
            let current = state.count_in(self.source, pair);
            if current != count {
                // A pair that gained has a newer heap entry already.
                if current < count && current >= state.floor() {
                    self.heap.push((current, order, pair));
                }
                continue;
            }
            if state.is_excluded(pair) {
                continue;
            }
            let Some(key) = T::key(state, pair) else { continue };
            if key == order.0 {
                return Ok(Some((pair, count)));
            }
            self.heap.push((count, Reverse(key), pair));
        }
        Ok(None)
    }

    /// Add a pair that gained occurrences, if it reaches the floor.
    pub(super) fn add(&mut self, state: &MergeState, pair: u32) {
        self.heap.extend(candidate::<T>(state, self.source, pair));
    }
}

/// Return the heap entry of a pair that reaches the floor.
fn candidate<T: TieBreak>(
    state: &MergeState,
    source: Option<u32>,
    pair: u32,
) -> Option<FrequencyCandidate<T>> {
    let count = state.count_in(source, pair);
    (count >= state.floor()).then(|| (count, Reverse(T::bound(state, pair)), pair))
}
