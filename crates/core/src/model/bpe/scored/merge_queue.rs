//! A priority queue of merges. The first candidates, and those that pile up, are sorted at once; others are in a
//! heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Two adjacent symbols that may be merged, ordered by rank, then by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MergeCandidate {
    pub(super) rank: u32,
    /// The index of the left symbol.
    pub(super) left: u32,
    /// The byte length of both.
    pub(super) byte_len: u32,
}

/// A heap of more candidates is sorted once all sorted ones are popped.
const MAX_HEAP: usize = 64;

/// The candidates of one text.
#[derive(Clone, Debug, Default)]
pub(super) struct MergeQueue {
    /// In order; those before `popped` are popped.
    sorted: Vec<MergeCandidate>,
    popped: usize,
    heap: BinaryHeap<Reverse<MergeCandidate>>,
}

impl MergeQueue {
    /// Remove all candidates.
    pub(super) fn clear(&mut self) {
        self.sorted.clear();
        self.heap.clear();
        self.popped = 0;
    }

    /// Add a candidate.
    pub(super) fn push(&mut self, candidate: MergeCandidate) {
        self.heap.push(Reverse(candidate));
    }

    /// Add a candidate before the first one is popped.
    pub(super) fn push_first(&mut self, candidate: MergeCandidate) {
        self.sorted.push(candidate);
    }

    /// Sort the first candidates.
    pub(super) fn begin(&mut self) {
        self.sorted.sort_unstable();
    }

    /// Pop the best candidate.
    pub(super) fn pop(&mut self) -> Option<MergeCandidate> {
        if self.popped == self.sorted.len() && self.heap.len() > MAX_HEAP {
            self.sorted.clear();
            self.sorted.extend(self.heap.drain().map(|Reverse(candidate)| candidate));
            self.popped = 0;
            self.begin();
        }
        match (self.sorted.get(self.popped), self.heap.peek()) {
            (Some(&candidate), top) if top.is_none_or(|Reverse(top)| candidate <= *top) => {
                self.popped += 1;
                Some(candidate)
            }
            _ => self.heap.pop().map(|Reverse(candidate)| candidate),
        }
    }
}
