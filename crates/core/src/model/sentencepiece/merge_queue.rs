//! The merges_in_batches that wait, the best first: those that are known at first, or pile up, sorted at once; others in a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Two neighbours that may be merged. In order: by the rank of what they are merged to, then by place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MergeCandidate {
    pub(super) rank: u32,
    /// The number of the left one.
    pub(super) left: u32,
    /// The length of both.
    pub(super) byte_len: u32,
}

/// A heap of more merges_in_batches than this is sorted when nothing else waits.
const FEW: usize = 64;

/// The merges_in_batches of one text.
#[derive(Clone, Debug, Default)]
pub(super) struct MergeQueue {
    /// In order, up to `taken` taken.
    sorted: Vec<MergeCandidate>,
    taken: usize,
    heap: BinaryHeap<Reverse<MergeCandidate>>,
}

impl MergeQueue {
    /// Forget all merges_in_batches.
    pub(super) fn clear(&mut self) {
        self.sorted.clear();
        self.heap.clear();
        self.taken = 0;
    }

    /// Add a join.
    pub(super) fn push(&mut self, join: MergeCandidate) {
        self.heap.push(Reverse(join));
    }

    /// Add a join before any is taken.
    pub(super) fn push_first(&mut self, join: MergeCandidate) {
        self.sorted.push(join);
    }

    /// Begin to take merges_in_batches.
    pub(super) fn begin(&mut self) {
        self.sorted.sort_unstable();
    }

    /// Take the best join.
    pub(super) fn pop(&mut self) -> Option<MergeCandidate> {
        if self.taken == self.sorted.len() && self.heap.len() > FEW {
            self.sorted.clear();
            self.sorted.extend(self.heap.drain().map(|Reverse(join)| join));
            self.taken = 0;
            self.begin();
        }
        match (self.sorted.get(self.taken), self.heap.peek()) {
            (Some(&join), top) if top.is_none_or(|Reverse(top)| join <= *top) => {
                self.taken += 1;
                Some(join)
            }
            _ => self.heap.pop().map(|Reverse(join)| join),
        }
    }
}
