//! Ends long work when its caller asks for it.
//!
//! Long loops call [`check`] with the work they have done. After every [`WORK`] units the poll of [`set_poll`] runs. If it
//! returns an error, the thread unwinds with that error as the payload, without a message, as [`catch`] expects. So loops
//! that cannot fail need no result. What they change is dropped or replaced by its default, as after a panic.
//!
//! The poll decides which threads may stop: Python, for instance, handles signals in its main thread only. Threads that
//! help such a thread stop with it.

use std::cell::{Cell, RefCell};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Thread};
use std::time::Duration;

use crate::error::{Error, ErrorKind};

/// The units of work between two polls: words, tokens, merges, or bytes of text, each some nanoseconds to a microsecond.
pub const WORK: usize = if cfg!(test) { 1 << 8 } else { 1 << 15 };

/// How often a thread polls while it waits for others.
const PULSE: Duration = Duration::from_millis(100);

/// Return an error of [`ErrorKind::Interrupted`] if the work of this thread has to end.
pub type Poll = fn() -> Result<(), Error>;

static POLL: OnceLock<Poll> = OnceLock::new();

thread_local! {
    /// The work that is left before the next poll.
    static LEFT: Cell<usize> = const { Cell::new(WORK) };
    /// Whether the work of this thread must not end early.
    static DEFERRED: Cell<bool> = const { Cell::new(false) };
    /// Set when the thread that started this work, with its helpers, has to stop.
    static STOP: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Set the poll of all threads. The first one counts.
pub fn set_poll(poll: Poll) {
    // A second poll is ignored.
    let _ = POLL.set(poll);
}

/// Add `work` units, and poll after every [`WORK`] units. Unwind if the work has to end.
#[inline]
pub fn check(work: usize) {
    LEFT.with(|left| match left.get().checked_sub(work) {
        Some(rest) => left.set(rest),
        None => poll_after_work(),
    });
}

/// Run `work`; return the error of the poll that ended it. A panic continues.
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(work)).or_else(|payload| match payload.downcast::<Error>() {
        Ok(error) => Err(*error),
        Err(panic) => resume_unwind(panic),
    })
}

/// Run short work that changes state which is kept: it does not end early.
pub fn defer<T>(work: impl FnOnce() -> T) -> T {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            DEFERRED.set(self.0);
        }
    }
    let _before = Restore(DEFERRED.replace(true));
    work()
}

#[cold]
#[inline(never)]
fn poll_after_work() {
    LEFT.set(WORK);
    poll();
}

/// Unwind if the poll of this thread fails, or if the thread that it helps has stopped.
fn poll() {
    if DEFERRED.get() {
        return;
    }
    let stop = STOP.with_borrow(Option::clone);
    if stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
        resume_unwind(Box::new(Error::new(ErrorKind::Interrupted, "", "", "")));
    }
    if let Some(Err(error)) = POLL.get().map(|poll| poll()) {
        if let Some(stop) = stop {
            stop.store(true, Ordering::Relaxed);
        }
        resume_unwind(Box::new(error));
    }
}

/// A thread and its helpers, which stop together.
pub(crate) struct Team {
    lead: Thread,
    stop: Arc<AtomicBool>,
    /// The helpers that have not ended.
    working: AtomicUsize,
}

/// A helper, until this is dropped: when its thread ends, or was not started.
pub(crate) struct Helper<'t>(&'t Team);

impl Team {
    /// Run `work` with the team of this thread, to which its helpers belong too.
    pub(crate) fn run<R>(work: impl FnOnce(&Self) -> R) -> R {
        let stop = STOP.with_borrow(Option::clone).unwrap_or_default();
        let team = Self { lead: thread::current(), stop, working: AtomicUsize::new(0) };
        let _membership = Membership::of(&team);
        work(&team)
    }

    /// Add a helper.
    pub(crate) fn helper(&self) -> Helper<'_> {
        self.working.fetch_add(1, Ordering::Relaxed);
        Helper(self)
    }

    /// Wait until all helpers have ended, and poll meanwhile.
    pub(crate) fn wait(&self) {
        while self.working.load(Ordering::Acquire) > 0 {
            thread::park_timeout(PULSE);
            poll();
        }
    }
}

impl Helper<'_> {
    /// Run the work of the helper in its thread.
    pub(crate) fn run<R>(self, help: impl FnOnce() -> R) -> R {
        let _membership = Membership::of(self.0);
        help()
    }
}

impl Drop for Helper<'_> {
    fn drop(&mut self) {
        self.0.working.fetch_sub(1, Ordering::Release);
        self.0.lead.unpark();
    }
}

/// This thread belongs to a team until this is dropped.
struct Membership(Option<Arc<AtomicBool>>);

impl Membership {
    fn of(team: &Team) -> Self {
        Self(STOP.replace(Some(Arc::clone(&team.stop))))
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        STOP.set(self.0.take());
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! A poll that counts, and ends the work of one thread at a chosen number.

    use super::*;

    thread_local! {
        static POLLS: Cell<usize> = const { Cell::new(0) };
        static LAST: Cell<Option<usize>> = const { Cell::new(None) };
    }

    fn count() -> Result<(), Error> {
        POLLS.set(POLLS.get() + 1);
        match LAST.get() {
            Some(last) if POLLS.get() > last => Err(Error::new(ErrorKind::Interrupted, "test", "", "")),
            _ => Ok(()),
        }
    }

    /// Run `work`, which the poll after `last` others ends, if given. Return the number of polls of this thread.
    pub(crate) fn polled<T>(last: Option<usize>, work: impl FnOnce() -> T) -> (Result<T, Error>, usize) {
        set_poll(count);
        POLLS.set(0);
        LAST.set(last);
        LEFT.set(WORK);
        let result = catch(work);
        LAST.set(None);
        (result, POLLS.get())
    }
}

#[cfg(test)]
mod tests {
    use super::testing::polled;
    use super::*;
    use crate::threads::run_with_helpers;

    fn work_for_ever() -> usize {
        loop {
            check(1);
        }
    }

    #[test]
    fn work_ends_at_the_poll_that_fails() {
        let (result, polls) = polled(Some(2), work_for_ever);
        assert_eq!((result.map_err(|error| error.kind), polls), (Err(ErrorKind::Interrupted), 3));
        let (result, polls) = polled(None, || (0..10 * WORK).for_each(|_| check(1)));
        assert_eq!((result, polls), (Ok(()), 9));
    }

    #[test]
    fn deferred_work_is_not_polled() {
        let work = || defer(|| (0..10 * WORK).for_each(|_| check(1)));
        assert_eq!(polled(Some(0), work), (Ok(()), 0));
        assert!(polled(Some(0), work_for_ever).0.is_err());
    }

    #[test]
    fn a_panic_is_no_interrupt() {
        let panic = catch_unwind(|| catch(|| panic!("on purpose"))).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"on purpose"));
    }

    #[test]
    fn helpers_stop_with_the_thread_that_they_help() {
        let (result, _) = polled(Some(0), || run_with_helpers(2, work_for_ever, work_for_ever));
        assert_eq!(result.map_err(|error| error.place), Err("test".into()));
    }

    #[test]
    fn a_thread_polls_while_it_waits_for_its_helpers() {
        let (result, _) = polled(Some(0), || run_with_helpers(2, work_for_ever, || 0));
        assert_eq!(result.map_err(|error| error.place), Err("test".into()));
        assert_eq!(polled(None, || run_with_helpers(2, || 1, || 0)).0, Ok((0, vec![1, 1])));
    }
}
