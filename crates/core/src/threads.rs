//! Work shared out over threads: runs of about equal bytes, each taken by the next thread that is free, results in
//! order.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::error::{Error, ErrorKind};

/// Below this many bytes a thread costs more than it brings.
const MIN_BYTES_PER_WORKER: usize = 64 << 10;

/// Shares have about this many bytes: their ids fit a processor's cache, and no thread waits long for another at
/// the end.
const SHARE_BYTES: usize = 256 << 10;

/// Ranges of rows of about equal bytes for as many threads, none without rows.
pub(crate) fn shares_of(sizes: &[usize], workers: usize) -> Vec<Range<usize>> {
    let total: usize = sizes.iter().map(|size| size + 1).sum();
    shares(sizes, workers.max(total / SHARE_BYTES))
}

/// Ranges of rows of about equal bytes, at most `wanted` of them, none without rows.
pub(crate) fn shares(sizes: &[usize], wanted: usize) -> Vec<Range<usize>> {
    let total: usize = sizes.iter().map(|size| size + 1).sum();
    let wanted = wanted.min(total / MIN_BYTES_PER_WORKER + 1).max(1);
    let (mut shares, mut start, mut bytes) = (Vec::with_capacity(wanted), 0, 0);
    for (row, size) in sizes.iter().enumerate() {
        bytes += size + 1;
        if bytes * wanted >= total * (shares.len() + 1) {
            shares.push(start..row + 1);
            start = row + 1;
        }
    }
    shares
}

/// Told when somebody has asked to stop: rows that are left need not be worked on.
#[derive(Debug, Default)]
pub(crate) struct Stop(AtomicBool);

impl Stop {
    /// The rows, as long as nobody asks to stop.
    pub(crate) fn rows(&self, rows: Range<usize>) -> impl Iterator<Item = usize> + '_ {
        rows.take_while(|_| !self.0.load(Ordering::Relaxed))
    }
}

/// Work on shares in as many threads; the error of the first share that has one, but a request to stop before any
/// other.
pub(crate) fn work_on<T: Send, R: Send>(
    shares: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator + Send>,
    workers: usize,
    work: impl Fn(T, &Stop) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    let stop = Stop::default();
    let results = each(shares, workers, |share| {
        let result = work(share, &stop);
        if result.as_ref().is_err_and(is_request_to_stop) {
            stop.0.store(true, Ordering::Relaxed);
        }
        result
    });
    let (requests, rest): (Vec<_>, Vec<_>) =
        results.into_iter().partition(|result| result.as_ref().is_err_and(is_request_to_stop));
    requests.into_iter().chain(rest).collect()
}

/// Work on shares in as many threads; a result for each, in order.
///
/// The calling thread is one of them and takes the first share: Python's signals reach functions in the main
/// thread alone.
pub(crate) fn each<T: Send, R: Send>(
    shares: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator + Send>,
    workers: usize,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let mut shares = shares.into_iter().enumerate();
    let others = workers.min(shares.len()).saturating_sub(1);
    let first = shares.next();
    let left = Mutex::new(shares);
    let run = |mine: Option<(usize, T)>| {
        // Locked for each share, not for each row.
        let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
        let mine = mine.into_iter().chain(std::iter::from_fn(next));
        mine.map(|(at, share)| (at, work(share))).collect::<Vec<_>>()
    };
    let mut results: Vec<(usize, R)> = thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> = (0..others).map(|_| scope.spawn(move || run(None))).collect();
        let mut results = run(first);
        results.extend(threads.into_iter().flat_map(join));
        results
    });
    results.sort_unstable_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

fn is_request_to_stop(error: &Error) -> bool {
    error.kind == ErrorKind::Interrupted
}

/// A thread's panic goes on in the caller.
fn join<R>(thread: thread::ScopedJoinHandle<'_, R>) -> R {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_cover_all_rows_in_order() {
        let sizes: Vec<usize> = (0..50).map(|i| i * 977 % 9000).collect();
        for workers in 1..9 {
            let shares = shares(&sizes, workers);
            assert!(shares.len() <= workers);
            assert_eq!(shares.into_iter().flatten().collect::<Vec<_>>(), (0..50).collect::<Vec<_>>());
        }
        assert!(shares(&[], 4).is_empty());
    }

    #[test]
    fn results_come_in_order() {
        for workers in 1..7 {
            let done = work_on(0..5, workers, |share, _| Ok(share * 2));
            assert_eq!(done.expect("no errors"), [0, 2, 4, 6, 8]);
        }
    }

    #[test]
    fn the_first_error_is_told_but_a_request_to_stop_before_any() {
        let error = |kind, share: usize| Error::new(kind, share.to_string(), "", "");
        let told = |stopping: usize| {
            work_on(0..5_usize, 2, |share, _| match share {
                _ if share == stopping => Err(error(ErrorKind::Interrupted, share)),
                2.. => Err(error(ErrorKind::Stage, share)),
                _ => Ok(()),
            })
        };
        assert_eq!(told(9).expect_err("an error").place, "2");
        assert_eq!(told(4).expect_err("a request").place, "4");
    }

    #[test]
    fn a_request_to_stop_ends_the_work_of_others() {
        let done = work_on(0..2, 2, |share, stop| {
            if share == 0 {
                return Err(Error::new(ErrorKind::Interrupted, "", "", ""));
            }
            // Would not end by itself.
            stop.rows(0..usize::MAX).for_each(|_| thread::yield_now());
            Ok(())
        });
        assert!(done.is_err());
    }
}
