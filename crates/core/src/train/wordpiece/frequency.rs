//! The most frequent pair first; of equals, the lower pair of ids.
//!
//! Counts of known pairs mostly fall, so a heap entry is an upper bound: the top is compared with the
//! count of today and put back when it is out of date. A pair that gains gets a new entry at once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::joining::Joining;
use crate::error::Error;
use crate::train::progress::Progress;
use crate::train::Learned;

/// Ordered by count, then by lower (left, right); the pair's number comes along.
type Candidate = (u64, Reverse<(u32, u32)>, u32);

/// Join the most frequent pair until the vocabulary is full or no pair is frequent enough.
pub(super) fn learn(mut joining: Joining<'_>, progress: &mut Progress<'_>) -> Result<Learned, Error> {
    let mut heap: BinaryHeap<Candidate> =
        (0..joining.pairs.len() as u32).filter_map(|pair| candidate(&joining, pair)).collect();
    while !joining.is_full() {
        progress.advance(1)?;
        let Some((count, order, pair)) = heap.pop() else { break };
        if joining.pairs.count(pair) != count {
            heap.extend(recent(&joining, (count, order, pair)));
            continue;
        }
        joining.join(pair, count as f64, progress)?;
        heap.extend(joining.gained.iter().filter_map(|&pair| candidate(&joining, pair)));
    }
    Ok(joining.finish(|joining| format!("no pair occurs {} times any more", joining.min_frequency())))
}

/// Make the heap entry of a pair, if it may be joined.
fn candidate(joining: &Joining<'_>, pair: u32) -> Option<Candidate> {
    let count = joining.pairs.count(pair);
    (count >= joining.min_frequency() && joining.fits(pair))
        .then(|| (count, Reverse(joining.pairs.parts(pair)), pair))
}

/// Bring a heap entry up to date; one whose pair gained since has a younger entry in the heap already.
fn recent(joining: &Joining<'_>, (count, order, pair): Candidate) -> Option<Candidate> {
    let now = joining.pairs.count(pair);
    (now < count && now >= joining.min_frequency()).then_some((now, order, pair))
}
