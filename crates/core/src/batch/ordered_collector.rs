//! Parts of a batch that threads give as they are done, put after one another in order.
//!
//! Parts are small and their memory is used again for the next, so that it stays in a processor's cache and the
//! system makes only that of the whole; one thread copies while others encode, and none waits for it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::columns::BatchIds;

/// A batch that grows by its parts.
pub(super) struct OrderedCollector(Mutex<CollectorState>);

struct CollectorState {
    /// What is there so far, unless somebody appends to it.
    batch: Option<BatchIds>,
    /// The number of the part that comes next, and of all.
    next: usize,
    count: usize,
    /// Parts that are done before their turn.
    done_early: BTreeMap<usize, BatchIds>,
    /// Parts that have been copied.
    spare: Vec<BatchIds>,
}

impl OrderedCollector {
    /// Begin with an empty batch, to which so many parts come.
    pub(super) fn new(batch: BatchIds, count: usize) -> Self {
        let batch = Some(batch);
        Self(Mutex::new(CollectorState {
            batch,
            next: 0,
            count,
            done_early: BTreeMap::new(),
            spare: Vec::new(),
        }))
    }

    /// An empty part, if there is one that can be used again.
    pub(super) fn take_spare(&self) -> Option<BatchIds> {
        self.lock().spare.pop()
    }

    /// Take the part with a number, and append those whose turn it is, unless another thread does.
    pub(super) fn add(&self, number: usize, chunk: BatchIds) {
        self.lock().done_early.insert(number, chunk);
        while let Some((mut batch, mut chunk, done, count)) = self.take_next() {
            batch.append(&chunk);
            batch.reserve_rest(done, count);
            chunk.clear();
            let state = &mut *self.lock();
            state.batch = Some(batch);
            state.spare.push(chunk);
        }
    }

    /// The batch and the part that comes next, whose number among all is then told as done.
    ///
    /// Where another thread has the batch there is none: that one asks again when it has given the batch back.
    fn take_next(&self) -> Option<(BatchIds, BatchIds, usize, usize)> {
        let state = &mut *self.lock();
        let batch = state.batch.take()?;
        let Some(chunk) = state.done_early.remove(&state.next) else {
            state.batch = Some(batch);
            return None;
        };
        state.next += 1;
        Some((batch, chunk, state.next, state.count))
    }

    /// The batch of all parts.
    pub(super) fn finish(self) -> BatchIds {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).batch.unwrap_or_default()
    }

    /// Locked for a moment, some times for each part.
    fn lock(&self) -> MutexGuard<'_, CollectorState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::columns::ExtraColumns;
    use super::*;
    use crate::encoding::Token;

    fn chunk(rows: &[usize]) -> BatchIds {
        let mut chunk = BatchIds::with_capacity(
            rows.len(),
            0,
            true,
            ExtraColumns { spans: true, overflow: true },
            true,
        );
        for &tokens in rows {
            let token =
                |at: usize| Token { word: at as u32, start: 7, ..Token::inserted(at as u32, 1, true) };
            chunk.push_window(&(0..tokens).map(token).collect::<Vec<_>>(), tokens);
        }
        chunk
    }

    #[test]
    fn parts_in_any_order_make_the_batch_of_all_their_rows() {
        let rows: Vec<usize> = (0..200).map(|i| i * 7 % 11).collect();
        for size in [1, 3, 50, 200] {
            for step in [1, 7, 13] {
                let mut left: Vec<usize> = (0..rows.chunks(size).len()).collect();
                let collector = OrderedCollector::new(chunk(&[]), left.len());
                while !left.is_empty() {
                    let number = left.remove(step % left.len());
                    collector.add(number, chunk(rows.chunks(size).nth(number).unwrap_or_default()));
                }
                assert_eq!(collector.finish(), chunk(&rows), "{size} {step}");
            }
        }
    }

    #[test]
    fn parts_that_threads_give_at_once_make_the_same_batch() {
        let rows: Vec<usize> = (0..3000).map(|i| i * 7 % 11).collect();
        let collector = OrderedCollector::new(chunk(&[]), rows.len());
        std::thread::scope(|scope| {
            for first in 0..8 {
                let (collector, rows) = (&collector, &rows);
                scope.spawn(move || {
                    (first..rows.len()).step_by(8).for_each(|at| collector.add(at, chunk(&rows[at..=at])));
                });
            }
        });
        assert_eq!(collector.finish(), chunk(&rows));
    }

    #[test]
    fn a_part_that_is_used_again_is_empty() {
        let collector = OrderedCollector::new(chunk(&[]), 1);
        assert_eq!(collector.take_spare(), None);
        collector.add(0, chunk(&[2, 3]));
        assert_eq!(collector.take_spare(), Some(chunk(&[])));
    }
}
