//! Run work in several threads: rows are split into chunks of about equal bytes, each free thread takes the next chunk,
//! and the results are in the order of the chunks.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::error::{Error, ErrorKind};
use crate::interrupt::Team;

/// The minimum work of a thread, in bytes; with less, starting the thread costs more time than it saves.
const MIN_BYTES_PER_THREAD: usize = 64 << 10;

/// The size of a chunk, in bytes: its ids fit a processor's cache, and the last chunk takes little time.
const CHUNK_BYTES: usize = 256 << 10;

/// The number of CPUs available to the process; 0 before it is asked.
static PROCESSORS: AtomicUsize = AtomicUsize::new(0);

/// Return the number of CPUs available to the process, by its CPU affinity and control group when this was first called: the
/// answer takes several system calls.
#[must_use]
pub fn processors() -> usize {
    match PROCESSORS.load(Ordering::Relaxed) {
        0 => {
            let found = thread::available_parallelism().map_or(1, Into::into);
            PROCESSORS.store(found, Ordering::Relaxed);
            found
        }
        known => known,
    }
}

/// Split rows into chunks of about equal bytes for `num_threads` threads; no chunk is empty.
pub(crate) fn chunks_of_rows(sizes: &[usize], num_threads: usize) -> Vec<Range<usize>> {
    let total: usize = sizes.iter().map(|size| size + 1).sum();
    split_rows(sizes, num_threads.max(total / CHUNK_BYTES))
}

/// Split rows into at most `max_chunks` chunks of about equal bytes; no chunk is empty.
pub fn split_rows(sizes: &[usize], max_chunks: usize) -> Vec<Range<usize>> {
    let total: usize = sizes.iter().map(|size| size + 1).sum();
    let max_chunks = max_chunks.min(total / MIN_BYTES_PER_THREAD + 1).max(1);
    let (mut chunks, mut start, mut bytes) = (Vec::with_capacity(max_chunks), 0, 0);
    for (row, size) in sizes.iter().enumerate() {
        bytes += size + 1;
        if bytes * max_chunks >= total * (chunks.len() + 1) {
            chunks.push(start..row + 1);
            start = row + 1;
        }
    }
    chunks
}

/// A flag that stops all threads after an interrupt.
#[derive(Debug, Default)]
pub struct StopFlag(AtomicBool);

impl StopFlag {
    /// Return the rows until the flag is set.
    pub fn rows(&self, rows: Range<usize>) -> impl Iterator<Item = usize> + '_ {
        rows.take_while(|_| !self.0.load(Ordering::Relaxed))
    }
}

/// Run `work` for each chunk on at most `num_threads` threads and return the results in order.
///
/// An interrupt sets the flag and is returned before any other error; otherwise the error of the first failed chunk is
/// returned.
pub fn run_chunks<T: Send, R: Send>(
    chunks: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator + Send>,
    num_threads: usize,
    work: impl Fn(T, &StopFlag) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    let stop = StopFlag::default();
    let results = map_chunks(chunks, num_threads, |chunk| {
        let result = work(chunk, &stop);
        if result.as_ref().is_err_and(is_interrupted) {
            stop.0.store(true, Ordering::Relaxed);
        }
        result
    });
    let (requests, rest): (Vec<_>, Vec<_>) =
        results.into_iter().partition(|result| result.as_ref().is_err_and(is_interrupted));
    requests.into_iter().chain(rest).collect()
}

/// Run `work` for each chunk on at most `num_threads` threads and return the results in order.
///
/// The calling thread is one of them and takes the first chunk, because Python runs signal handlers only in the main
/// thread.
pub(crate) fn map_chunks<T: Send, R: Send>(
    chunks: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator + Send>,
    num_threads: usize,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let mut chunks = chunks.into_iter().enumerate();
    let others = num_threads.min(chunks.len()).saturating_sub(1);
    let first = chunks.next();
    let remaining = Mutex::new(chunks);
    let run = |mine: Option<(usize, T)>| {
        // Locked once per chunk.
        let next = || remaining.lock().unwrap_or_else(PoisonError::into_inner).next();
        let mine = mine.into_iter().chain(std::iter::from_fn(next));
        mine.map(|(at, chunk)| (at, work(chunk))).collect::<Vec<_>>()
    };
    let (mut results, others) = run_with_helpers(others, || run(None), || run(first));
    results.extend(others.into_iter().flatten());
    results.sort_unstable_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Run `lead` on the calling thread and `help` on up to `helpers` others, and return their results.
///
/// There are fewer others if the system refuses a thread: `lead` and those that started do all the work. WebAssembly has no
/// threads: there `lead` works alone.
pub fn run_with_helpers<L, H: Send>(
    helpers: usize,
    help: impl Fn() -> H + Sync,
    lead: impl FnOnce() -> L,
) -> (L, Vec<H>) {
    if helpers == 0 || cfg!(target_family = "wasm") {
        return (lead(), Vec::new());
    }
    let help = &help;
    Team::run(|team| {
        thread::scope(|scope| {
            let start = |_| {
                let helper = team.helper();
                thread::Builder::new().spawn_scoped(scope, move || helper.run(help)).ok()
            };
            let threads: Vec<_> = (0..helpers).map_while(start).collect();
            let led = lead();
            team.wait();
            (led, threads.into_iter().map(join_thread).collect())
        })
    })
}

fn is_interrupted(error: &Error) -> bool {
    error.kind == ErrorKind::Interrupted
}

/// Return the result of a thread; a panic of the thread continues in the caller.
fn join_thread<R>(thread: thread::ScopedJoinHandle<'_, R>) -> R {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_all_rows_in_order() {
        let sizes: Vec<usize> = (0..50).map(|i| i * 977 % 9000).collect();
        for num_threads in 1..9 {
            let chunks = split_rows(&sizes, num_threads);
            assert!(chunks.len() <= num_threads);
            assert_eq!(chunks.into_iter().flatten().collect::<Vec<_>>(), (0..50).collect::<Vec<_>>());
        }
        assert!(split_rows(&[], 4).is_empty());
    }

    #[test]
    fn results_come_in_order() {
        for num_threads in 1..7 {
            let done = run_chunks(0..5, num_threads, |chunk, _| Ok(chunk * 2));
            assert_eq!(done.expect("no errors"), [0, 2, 4, 6, 8]);
        }
    }

    #[test]
    fn the_number_of_processors_stays_as_it_was_first() {
        let first = processors();
        assert!(first > 0);
        assert_eq!(PROCESSORS.load(Ordering::Relaxed), first);
        assert_eq!(processors(), first);
    }

    #[test]
    fn an_interrupt_is_returned_before_the_first_error() {
        let error = |kind, chunk: usize| Error::new(kind, chunk.to_string(), "", "");
        let first_error = |stopping: usize| {
            run_chunks(0..5_usize, 2, |chunk, _| match chunk {
                _ if chunk == stopping => Err(error(ErrorKind::Interrupted, chunk)),
                2.. => Err(error(ErrorKind::Stage, chunk)),
                _ => Ok(()),
            })
        };
        assert_eq!(first_error(9).expect_err("an error").place, "2");
        assert_eq!(first_error(4).expect_err("a request").place, "4");
    }

    #[test]
    fn a_request_to_stop_ends_the_work_of_others() {
        let done = run_chunks(0..2, 2, |chunk, stop| {
            if chunk == 0 {
                return Err(Error::new(ErrorKind::Interrupted, "", "", ""));
            }
            // Endless unless the flag is set.
            stop.rows(0..usize::MAX).for_each(|_| thread::yield_now());
            Ok(())
        });
        assert!(done.is_err());
    }
}
