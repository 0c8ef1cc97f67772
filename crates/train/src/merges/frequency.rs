//! The trainer of `tokenizers`: the most frequent pair first, ordered by `TieBreak` among equals.
//!
//! Counts of known pairs mostly fall, so a heap entry is an upper bound. The trainer compares the top of the
//! heap with the current count and tie key and pushes it back if it is out of date. A pair that gains
//! occurrences gets a new heap entry at once.

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
    let mut heap = candidates::<T>(&state);
    while !state.is_full() {
        progress.advance(1)?;
        let best = heap.pop();
        if state.has_untracked() && best.as_ref().is_none_or(|&(count, ..)| count < state.floor()) {
            drop(heap);
            let floor = (state.floor() / SPAN).max(state.min_frequency());
            state.lower_floor(floor, progress)?;
            heap = candidates::<T>(&state);
            continue;
        }
        let Some((count, order, pair)) = best else { break };
        if state.pairs.count(pair) != count {
            heap.extend(refreshed::<T>(&state, (count, order, pair)));
            continue;
        }
        let Some(key) = T::key(&mut state, pair) else { continue };
        if key != order.0 {
            heap.push((count, Reverse(key), pair));
            continue;
        }
        state.merge(pair, count as f64, progress)?;
        heap.extend(state.gained.iter().filter_map(|&pair| candidate::<T>(&state, pair)));
    }
    Ok(state.finish(|state| format!("no pair occurs {} times any more", state.min_frequency())))
}

/// Return the heap entries of all tracked pairs that may be merged.
fn candidates<T: TieBreak>(state: &MergeState) -> BinaryHeap<FrequencyCandidate<T>> {
    (0..state.pairs.len() as u32).filter_map(|pair| candidate::<T>(state, pair)).collect()
}

/// Return the heap entry of a pair, if it may be merged.
fn candidate<T: TieBreak>(state: &MergeState, pair: u32) -> Option<FrequencyCandidate<T>> {
    let count = state.pairs.count(pair);
    state.is_frequent(pair).then(|| (count, Reverse(T::bound(state, pair)), pair))
}

/// Return a heap entry with the current count; `None` if the pair gained, because then the heap already has
/// a newer entry.
fn refreshed<T: TieBreak>(
    state: &MergeState,
    (count, order, pair): FrequencyCandidate<T>,
) -> Option<FrequencyCandidate<T>> {
    let current = state.pairs.count(pair);
    (current < count && current >= state.min_frequency()).then_some((current, order, pair))
}
