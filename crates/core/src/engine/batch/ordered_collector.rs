//! Collects the encoded chunks of a batch from several threads and appends them in order.
//!
//! Chunks are small and their buffers are reused, so they stay in a processor's cache and only the batch itself needs new
//! pages. One thread copies while the others encode; no thread waits for it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::columns::BatchIds;

/// A batch to which threads add chunks in any order.
pub(super) struct OrderedCollector(Mutex<CollectorState>);

struct CollectorState {
    /// The rows so far; `None` while a thread appends to them.
    batch: Option<BatchIds>,
    /// The number of the next chunk to append.
    next: usize,
    /// The number of all chunks.
    count: usize,
    /// Chunks that were finished before their predecessors.
    done_early: BTreeMap<usize, BatchIds>,
    /// Empty buffers of chunks that were copied.
    spare: Vec<BatchIds>,
}

impl OrderedCollector {
    /// Return a collector of `count` chunks into an empty batch.
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

    /// Return an empty buffer for a chunk, if there is one.
    pub(super) fn take_spare(&self) -> Option<BatchIds> {
        self.lock().spare.pop()
    }

    /// Add the chunk with a number, and append all chunks that are next in order unless another thread does.
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

    /// Remove the batch and the next chunk. Return them with the number of chunks up to this one and of all chunks.
    ///
    /// `None` if the next chunk is not finished or another thread has the batch. That thread calls this again when it has
    /// returned the batch.
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

    /// Return the batch of all chunks.
    pub(super) fn finish(self) -> BatchIds {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).batch.unwrap_or_default()
    }

    /// Lock the state; it is locked briefly, a few times per chunk.
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
    fn chunks_added_in_any_order_are_appended_in_order() {
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
    fn chunks_added_by_several_threads_are_appended_in_order() {
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
    fn reused_buffers_are_empty() {
        let collector = OrderedCollector::new(chunk(&[]), 1);
        assert_eq!(collector.take_spare(), None);
        collector.add(0, chunk(&[2, 3]));
        assert_eq!(collector.take_spare(), Some(chunk(&[])));
    }
}
