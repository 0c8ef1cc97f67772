//! The entries in the order of their losses.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::candidates::Candidates;

/// The removable entries, the cheapest first; of equal losses, the lowest rank first.
///
/// An item holds the loss of its entry or a lower one. Most losses only grow, and such an item is corrected when
/// it comes first.
pub(super) struct LossQueue<'a> {
    candidates: &'a Candidates,
    items: BinaryHeap<Reverse<QueuedLoss>>,
    /// By candidate: the loss of its least item; `i128::MAX` if no item counts.
    queued: Vec<i128>,
}

/// A loss and the rank of its entry, in 24 bytes instead of 32.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct QueuedLoss {
    high: i64,
    low: u64,
    rank: u32,
}

impl QueuedLoss {
    fn new(loss: i128, rank: u32) -> Self {
        Self { high: (loss >> 64) as i64, low: loss as u64, rank }
    }

    fn loss(self) -> i128 {
        i128::from(self.high) << 64 | i128::from(self.low)
    }
}

impl<'a> LossQueue<'a> {
    pub(super) fn new(candidates: &'a Candidates) -> Self {
        Self { candidates, items: BinaryHeap::new(), queued: vec![i128::MAX; candidates.len()] }
    }

    /// Whether there are many more items than candidates.
    pub(super) fn is_long(&self) -> bool {
        self.items.len() > 2 * self.candidates.len() + 1024
    }

    pub(super) fn clear(&mut self) {
        self.items.clear();
        self.queued.fill(i128::MAX);
    }

    /// Queue an entry if its loss is less than its items say, or if it has none.
    pub(super) fn lower(&mut self, candidate: u32, loss: i128) {
        if loss < self.queued[candidate as usize] {
            self.push(candidate, loss);
        }
    }

    /// Ignore the items of an entry.
    pub(super) fn forget(&mut self, candidate: u32) {
        self.queued[candidate as usize] = i128::MAX;
    }

    /// Return the entry with the least loss, and its loss; `losses` has those of all candidates.
    pub(super) fn cheapest(&mut self, losses: &[i128]) -> Option<(u32, i128)> {
        while let Some(&Reverse(item)) = self.items.peek() {
            let candidate = self.candidates.by_rank[item.rank as usize];
            let (loss, queued) = (losses[candidate as usize], self.queued[candidate as usize]);
            let counts = item.loss() == queued;
            if counts && loss == queued {
                return Some((candidate, loss));
            }
            self.items.pop();
            if counts {
                self.push(candidate, loss);
            }
        }
        None
    }

    fn push(&mut self, candidate: u32, loss: i128) {
        self.queued[candidate as usize] = loss;
        self.items.push(Reverse(QueuedLoss::new(loss, self.candidates.rank[candidate as usize])));
    }
}
