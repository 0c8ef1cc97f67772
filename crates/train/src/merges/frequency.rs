//! The trainer of BPE and of the WordPiece of `tokenizers`: the most frequent pair first, then by ties.
//!
//! The heap has the tracked pairs that reach a level. Their counts mostly fall, so a heap entry is an upper
//! bound. The trainer compares the top of the heap with the current count and tie key and pushes it back if it
//! is out of date. A pair that gains occurrences gets a new heap entry at once. When the heap is empty, the level falls
//! to its half: so the heap is small, and pairs that never become frequent enough get no tie key. Below the floor of
//! tracked pairs, the floor falls; as it falls by the factor `SPAN`, all pairs are counted O(log of the largest count)
//! times.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::state::MergeState;
use super::ties::TieBreak;
use crate::progress::Progress;
use crate::Learned;
use piecework_core::error::Error;

/// The factor by which the floor of tracked pairs falls when no tracked pair reaches it; low in tests.
const SPAN: u64 = if cfg!(test) { 4 } else { 16 };

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
            state.track_needed(SPAN, progress)?;
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
    /// The least count of pairs in the heap.
    level: u64,
    /// The pairs from the floor to the level, some of them twice or with another count by now.
    rarer: Vec<u32>,
}

impl<T: TieBreak> PairHeap<T> {
    /// Begin with all tracked pairs, by their counts in a source or in the corpus.
    pub(super) fn new(state: &MergeState, source: Option<u32>) -> Self {
        let mut all = Self { source, heap: BinaryHeap::new(), level: u64::MAX, rarer: Vec::new() };
        (0..state.pairs.len() as u32).for_each(|pair| all.add(state, pair));
        let largest = all.rarer.iter().map(|&pair| state.count_in(source, pair)).max();
        Self { level: largest.map_or(state.floor(), |largest| largest.saturating_add(1)), ..all }
    }

    /// Remove and return the best pair and its count.
    pub(super) fn pop(
        &mut self,
        state: &mut MergeState,
        progress: &mut Progress<'_>,
    ) -> Result<Option<(u32, u64)>, Error> {
        loop {
            let Some((count, order, pair)) = self.heap.pop() else {
                if self.level <= state.floor() {
                    return Ok(None);
                }
                self.level = (self.level / 2).max(state.floor());
                let rarer = std::mem::take(&mut self.rarer);
                progress.advance(rarer.len())?;
                rarer.into_iter().for_each(|pair| self.add(state, pair));
                continue;
            };
            progress.advance(1)?;
            let current = state.count_in(self.source, pair);
            if current != count {
                // A pair that gained has a newer heap entry already.
                if current < count && current >= self.level {
                    self.heap.push((current, order, pair));
                } else if current < count && current >= state.floor() {
                    self.rarer.push(pair);
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
    }

    /// Add a pair that gained occurrences, if it reaches the floor.
    pub(super) fn add(&mut self, state: &MergeState, pair: u32) {
        let count = state.count_in(self.source, pair);
        if count >= self.level {
            self.heap.push((count, Reverse(T::bound(state, pair)), pair));
        } else if count >= state.floor() {
            self.rarer.push(pair);
        }
    }
}
