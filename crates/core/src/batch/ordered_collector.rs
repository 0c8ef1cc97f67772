//! Parts of a batch that threads give as they are done, put after one another in order.
//!
//! Parts are small and their memory is used again for the next, so that it stays in a processor's cache and the
//! system makes only that of the whole; one thread copies while others encode, and none waits for it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::columns::BatchIds;

/// A batch that grows by its parts.
pub(super) struct OrderedCollector(Mutex<Collected>);

struct Collected {
    /// What is there so far, unless somebody appends to it.
    whole: Option<BatchIds>,
    /// The number of the part that comes next, and of all.
    next: usize,
    all: usize,
    /// Parts that are done before their turn.
    early: BTreeMap<usize, BatchIds>,
    /// Parts that have been copied.
    spare: Vec<BatchIds>,
}

impl OrderedCollector {
    /// Begin with an empty batch, to which so many parts come.
    pub(super) fn into(whole: BatchIds, all: usize) -> Self {
        let whole = Some(whole);
        Self(Mutex::new(Collected { whole, next: 0, all, early: BTreeMap::new(), spare: Vec::new() }))
    }

    /// An empty part, if there is one that can be used again.
    pub(super) fn spare(&self) -> Option<BatchIds> {
        self.gathered().spare.pop()
    }

    /// Take the part with a number, and append those whose turn it is, unless another thread does.
    pub(super) fn add(&self, number: usize, part: BatchIds) {
        self.gathered().early.insert(number, part);
        while let Some((mut whole, mut part, done, all)) = self.turn() {
            whole.append(&part);
            whole.make_room(done, all);
            part.clear();
            let gathered = &mut *self.gathered();
            gathered.whole = Some(whole);
            gathered.spare.push(part);
        }
    }

    /// The batch and the part that comes next, whose number among all is then told as done.
    ///
    /// Where another thread has the batch there is none: that one asks again when it has given the batch back.
    fn turn(&self) -> Option<(BatchIds, BatchIds, usize, usize)> {
        let gathered = &mut *self.gathered();
        let whole = gathered.whole.take()?;
        let Some(part) = gathered.early.remove(&gathered.next) else {
            gathered.whole = Some(whole);
            return None;
        };
        gathered.next += 1;
        Some((whole, part, gathered.next, gathered.all))
    }

    /// The batch of all parts.
    pub(super) fn whole(self) -> BatchIds {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).whole.unwrap_or_default()
    }

    /// Locked for a moment, some times for each part.
    fn gathered(&self) -> MutexGuard<'_, Collected> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::columns::Keep;
    use super::*;
    use crate::encoding::Token;

    fn part(rows: &[usize]) -> BatchIds {
        let mut part = BatchIds::with_room(rows.len(), 0, true, Keep { spans: true, overflow: true }, true);
        for &tokens in rows {
            let token =
                |at: usize| Token { word: at as u32, start: 7, ..Token::inserted(at as u32, 1, true) };
            part.push_window(&(0..tokens).map(token).collect::<Vec<_>>(), tokens);
        }
        part
    }

    #[test]
    fn parts_in_any_order_make_the_batch_of_all_their_rows() {
        let rows: Vec<usize> = (0..200).map(|i| i * 7 % 11).collect();
        for size in [1, 3, 50, 200] {
            for step in [1, 7, 13] {
                let mut left: Vec<usize> = (0..rows.chunks(size).len()).collect();
                let gather = OrderedCollector::into(part(&[]), left.len());
                while !left.is_empty() {
                    let number = left.remove(step % left.len());
                    gather.add(number, part(rows.chunks(size).nth(number).unwrap_or_default()));
                }
                assert_eq!(gather.whole(), part(&rows), "{size} {step}");
            }
        }
    }

    #[test]
    fn parts_that_threads_give_at_once_make_the_same_batch() {
        let rows: Vec<usize> = (0..3000).map(|i| i * 7 % 11).collect();
        let gather = OrderedCollector::into(part(&[]), rows.len());
        std::thread::scope(|scope| {
            for first in 0..8 {
                let (gather, rows) = (&gather, &rows);
                scope.spawn(move || {
                    (first..rows.len()).step_by(8).for_each(|at| gather.add(at, part(&rows[at..=at])));
                });
            }
        });
        assert_eq!(gather.whole(), part(&rows));
    }

    #[test]
    fn a_part_that_is_used_again_is_empty() {
        let gather = OrderedCollector::into(part(&[]), 1);
        assert_eq!(gather.spare(), None);
        gather.add(0, part(&[2, 3]));
        assert_eq!(gather.spare(), Some(part(&[])));
    }
}
