//! Work by several threads in parts of fixed size, so that results do not depend on the number of threads.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::error::Error;
use crate::train::progress::Progress;

/// Items in a part.
const PART: usize = 1024;
/// Units of work of an item in progress reports.
const WORK: usize = 16;

/// The number of threads, and the progress that the calling thread reports.
pub(super) struct ThreadTeam<'w, 'p> {
    threads: usize,
    progress: &'w mut Progress<'p>,
}

impl<'w, 'p> ThreadTeam<'w, 'p> {
    pub(super) fn new(threads: usize, progress: &'w mut Progress<'p>) -> Self {
        Self { threads: threads.max(1), progress }
    }

    /// Call `work` with a state, the number of a part, and its items, for all parts; returns the states, one a
    /// thread.
    pub(super) fn run<T: Sync, S: Send>(
        &mut self,
        items: &[T],
        state: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, usize, &[T]) + Sync,
    ) -> Result<Vec<S>, Error> {
        let next = AtomicUsize::new(0);
        let stopped = AtomicBool::new(false);
        let parts = items.len().div_ceil(PART);
        let take = || {
            let part = next.fetch_add(1, Ordering::Relaxed);
            let end = items.len().min((part + 1) * PART);
            (part < parts && !stopped.load(Ordering::Relaxed)).then(|| (part, &items[part * PART..end]))
        };
        let help = || {
            let mut state = state();
            while let Some((part, items)) = take() {
                work(&mut state, part, items);
            }
            state
        };
        thread::scope(|scope| {
            let helpers = self.threads.min(parts.max(1)) - 1;
            let threads: Vec<_> = (0..helpers).map(|_| scope.spawn(help)).collect();
            let mut own = state();
            let mut outcome = Ok(());
            while let Some((part, items)) = take().filter(|_| outcome.is_ok()) {
                work(&mut own, part, items);
                outcome = self.progress.advance(WORK * items.len());
                stopped.fetch_or(outcome.is_err(), Ordering::Relaxed);
            }
            let others = threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
            let states = std::iter::once(own).chain(others).collect();
            outcome.map(|()| states)
        })
    }
}
