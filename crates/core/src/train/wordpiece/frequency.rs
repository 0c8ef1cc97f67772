//! The most frequent pair first; `Order` decides among equals.
//!
//! Counts of known pairs mostly fall, so a heap entry is an upper bound: the learner compares the top with
//! the count and the tie key of today and pushes it back when it is out of date. A pair that gains
//! occurrences gets a new entry at once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::merging::Joining;
use super::ties::Order;
use crate::error::Error;
use crate::train::progress::Progress;
use crate::train::Learned;

/// Ordered by count, then by lower tie key; the pair's number comes along.
type Candidate<T> = (u64, Reverse<<T as Order>::Key>, u32);

/// Merge the most frequent pair until the vocabulary is full or no pair is frequent enough.
pub(super) fn learn<T: Order>(
    mut joining: Joining<'_>,
    progress: &mut Progress<'_>,
) -> Result<Learned, Error> {
    let mut heap: BinaryHeap<Candidate<T>> =
        (0..joining.pairs.len() as u32).filter_map(|pair| candidate::<T>(&joining, pair)).collect();
    while !joining.is_full() {
        progress.advance(1)?;
        let Some((count, order, pair)) = heap.pop() else { break };
        if joining.pairs.count(pair) != count {
            heap.extend(recent::<T>(&joining, (count, order, pair)));
            continue;
        }
        let Some(key) = T::key(&mut joining, pair) else { continue };
        if key != order.0 {
            heap.push((count, Reverse(key), pair));
            continue;
        }
        joining.join(pair, count as f64, progress)?;
        heap.extend(joining.gained.iter().filter_map(|&pair| candidate::<T>(&joining, pair)));
    }
    Ok(joining.finish(|joining| format!("no pair occurs {} times any more", joining.min_frequency())))
}

/// Make the heap entry of a pair, if it may be joined.
fn candidate<T: Order>(joining: &Joining<'_>, pair: u32) -> Option<Candidate<T>> {
    let count = joining.pairs.count(pair);
    (count >= joining.min_frequency() && joining.fits(pair))
        .then(|| (count, Reverse(T::bound(joining, pair)), pair))
}

/// Bring a heap entry up to date; a pair that gained since has a younger entry in the heap already.
fn recent<T: Order>(joining: &Joining<'_>, (count, order, pair): Candidate<T>) -> Option<Candidate<T>> {
    let now = joining.pairs.count(pair);
    (now < count && now >= joining.min_frequency()).then_some((now, order, pair))
}
