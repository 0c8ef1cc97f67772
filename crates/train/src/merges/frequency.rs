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
    let mut heap = candidates::<T>(&state);
    while !state.is_full() {
        progress.advance(1)?;
        let Some((count, order, pair)) = heap.pop() else {
            if !state.has_untracked() {
                break;
            }
            drop(heap);
            state.lower_floor((state.floor() / SPAN).max(state.min_frequency()), progress)?;
            heap = candidates::<T>(&state);
            continue;
        };
        if state.pairs.count(pair) != count {
            heap.extend(refreshed::<T>(&state, (count, order, pair)));
            continue;
        }
        if state.is_excluded(pair) {
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

/// Return the heap entries of all tracked pairs that reach the floor.
fn candidates<T: TieBreak>(state: &MergeState) -> BinaryHeap<FrequencyCandidate<T>> {
    (0..state.pairs.len() as u32).filter_map(|pair| candidate::<T>(state, pair)).collect()
}

/// Return the heap entry of a pair that reaches the floor.
fn candidate<T: TieBreak>(state: &MergeState, pair: u32) -> Option<FrequencyCandidate<T>> {
    let count = state.pairs.count(pair);
    (count >= state.floor()).then(|| (count, Reverse(T::bound(state, pair)), pair))
}

/// Return a heap entry with the current count; `None` if the pair gained, because then the heap already has
/// a newer entry.
fn refreshed<T: TieBreak>(
    state: &MergeState,
    (count, order, pair): FrequencyCandidate<T>,
) -> Option<FrequencyCandidate<T>> {
    let current = state.pairs.count(pair);
    (current < count && current >= state.floor()).then_some((current, order, pair))
}
