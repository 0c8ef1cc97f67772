//! Work by several threads in parts of fixed size, so that results do not depend on the number of threads.

use std::ops::{AddAssign, Range};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::progress::Progress;
use piecework_core::error::Error;
use piecework_core::threads::run_with_helpers;

/// Items in a part.
const PART: usize = 1024;
/// Units of work of a part in progress reports: after each part, the time of the last report is checked.
const WORK: usize = 1 << 14;

/// The number of threads, and the progress that the calling thread reports.
pub(super) struct ThreadTeam<'w, 'p> {
    threads: usize,
    progress: &'w mut Progress<'p>,
}

impl<'w, 'p> ThreadTeam<'w, 'p> {
    pub(super) fn new(threads: usize, progress: &'w mut Progress<'p>) -> Self {
        Self { threads: threads.max(1), progress }
    }

    /// Return a team of fewer threads.
    pub(super) fn of_at_most(&mut self, threads: usize) -> ThreadTeam<'_, 'p> {
        ThreadTeam { threads: self.threads.min(threads), progress: self.progress }
    }

    /// Add units of work.
    pub(super) fn advance(&mut self, work: usize) -> Result<(), Error> {
        self.progress.advance(work)
    }

    /// Return the most threads that work.
    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// Do [`Self::run_parts`] with parts of the usual size.
    pub(super) fn run<S: Send>(
        &mut self,
        items: usize,
        state: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, usize, Range<usize>) + Sync,
    ) -> Result<Vec<S>, Error> {
        self.run_parts(items, PART, state, work)
    }

    /// Call `work` with a state, the number of a part, and its range of items, for all parts of `0..items`;
    /// return the states, one a thread.
    pub(super) fn run_parts<S: Send>(
        &mut self,
        items: usize,
        part_items: usize,
        state: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, usize, Range<usize>) + Sync,
    ) -> Result<Vec<S>, Error> {
        let next = AtomicUsize::new(0);
        let stopped = AtomicBool::new(false);
        let parts = items.div_ceil(part_items);
        let take = || {
            let part = next.fetch_add(1, Ordering::Relaxed);
            let range = part * part_items..items.min((part + 1) * part_items);
            (part < parts && !stopped.load(Ordering::Relaxed)).then_some((part, range))
        };
        let help = || {
            let mut state = state();
            while let Some((part, range)) = take() {
                work(&mut state, part, range);
            }
            state
        };
        let helpers = self.threads.min(parts.max(1)) - 1;
        let lead = || {
            let mut own = state();
            while let Some((part, range)) = take() {
                work(&mut own, part, range);
                let outcome = self.progress.advance(WORK);
                stopped.fetch_or(outcome.is_err(), Ordering::Relaxed);
                outcome?;
            }
            Ok(own)
        };
        let (own, others) = run_with_helpers(helpers, help, lead);
        Ok(std::iter::once(own?).chain(others).collect())
    }
}

/// Add up what the threads have summed by item.
pub(super) fn total<T: AddAssign>(sums: impl IntoIterator<Item = Vec<T>>) -> Vec<T> {
    let added = sums.into_iter().reduce(|mut total, more| {
        total.iter_mut().zip(more).for_each(|(total, more)| *total += more);
        total
    });
    added.unwrap_or_default()
}

/// Return the number of threads whose sums, of `each` bytes, take at most `bytes` besides those of the first thread.
pub(super) fn threads_within(threads: usize, each: usize, bytes: usize) -> usize {
    threads.min(1 + bytes / each.max(1))
}
