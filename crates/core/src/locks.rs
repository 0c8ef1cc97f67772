//! Values that are built late, and locks, that nobody waits for, and that stay usable after a panic: waiting for another
//! thread would block forever after a fork.

use std::ops::Deref;
use std::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Mutex, MutexGuard, TryLockError};

use piecework_kernels::once::OnceBox;

/// A value that is built when it is first needed.
///
/// One thread of a process builds it; the others do without it meanwhile. In a child process that was forked from another
/// thread during the build, the first thread that needs the value builds it again.
#[derive(Debug)]
pub(crate) struct Late<T> {
    value: OnceBox<T>,
    /// The process in which a thread builds the value; [`NO_PROCESS`] if no thread does.
    builder: AtomicU32,
}

const NO_PROCESS: u32 = 0;

/// The right to build a value, which ends when it is dropped, also by a panic.
struct BuildClaim<'c>(&'c AtomicU32);

impl<T> Late<T> {
    /// Return a value that is not built.
    pub(crate) const fn unbuilt() -> Self {
        Self { value: OnceBox::new(), builder: AtomicU32::new(NO_PROCESS) }
    }

    /// Return the value if it is built.
    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        self.value.get()
    }
}

impl<T: Send> Late<T> {
    /// Return a value that is built.
    pub(crate) fn built(value: T) -> Self {
        let late = Self::unbuilt();
        late.value.set(value);
        late
    }

    /// Return the value; build it now if nobody does. `None` while another thread builds it.
    #[inline]
    pub(crate) fn get_or_build(&self, build: impl FnOnce() -> T) -> Option<&T> {
        self.get().or_else(|| self.try_build(|| Some(build())))
    }

    /// Return the value; build it now if it is not built, even if another thread builds it. The first one counts.
    #[inline]
    pub(crate) fn get_or_make(&self, make: impl FnOnce() -> T) -> &T {
        match self.get() {
            Some(value) => value,
            None => self.make(make),
        }
    }

    /// Build the value with `build`, which may fail; `None` also while another thread builds it.
    #[cold]
    #[inline(never)]
    pub(crate) fn try_build(&self, build: impl FnOnce() -> Option<T>) -> Option<&T> {
        let _claim = self.claim()?;
        // Another thread may have built it before this one had the claim.
        self.get().or_else(|| {
            count_build();
            build().map(|value| self.value.set(value))
        })
    }

    #[cold]
    #[inline(never)]
    fn make(&self, make: impl FnOnce() -> T) -> &T {
        count_build();
        self.value.set(make())
    }

    /// Claim the right to build the value; `None` if another thread of this process has it.
    fn claim(&self) -> Option<BuildClaim<'_>> {
        let (builder, process) = (self.builder.load(Relaxed), this_process());
        let is_free = builder != process
            && !others_build()
            && self.builder.compare_exchange(builder, process, Acquire, Relaxed).is_ok();
        // A claim that is dropped frees the value, so none is made for nothing.
        is_free.then(|| BuildClaim(&self.builder))
    }
}

impl Drop for BuildClaim<'_> {
    fn drop(&mut self) {
        self.0.store(NO_PROCESS, Release);
    }
}

impl<T> Default for Late<T> {
    fn default() -> Self {
        Self::unbuilt()
    }
}

impl<T: Clone + Send> Clone for Late<T> {
    fn clone(&self) -> Self {
        Self { value: self.value.clone(), builder: AtomicU32::new(NO_PROCESS) }
    }
}

/// A static value that is built at its first use. Two threads may both build it.
pub(crate) struct LateStatic<T: 'static> {
    value: Late<T>,
    build: fn() -> T,
}

impl<T> LateStatic<T> {
    pub(crate) const fn new(build: fn() -> T) -> Self {
        Self { value: Late::unbuilt(), build }
    }
}

impl<T: Send> Deref for LateStatic<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.value.get_or_make(self.build)
    }
}

/// Return the id of this process, which is not [`NO_PROCESS`]. WebAssembly has no processes.
fn this_process() -> u32 {
    if cfg!(target_family = "wasm") {
        1
    } else {
        std::process::id()
    }
}

#[cfg(not(test))]
fn count_build() {}

#[cfg(not(test))]
fn others_build() -> bool {
    false
}

#[cfg(test)]
use self::in_tests::{count_build, others_build};

/// What tests see and decide of the builds of a thread.
#[cfg(test)]
pub(crate) mod in_tests {
    use std::cell::Cell;

    thread_local! {
        static BUILDS: Cell<usize> = const { Cell::new(0) };
        static OTHERS_BUILD: Cell<bool> = const { Cell::new(false) };
    }

    pub(super) fn count_build() {
        BUILDS.set(BUILDS.get() + 1);
    }

    /// Return the number of values that this thread has built.
    pub(crate) fn builds() -> usize {
        BUILDS.get()
    }

    pub(super) fn others_build() -> bool {
        OTHERS_BUILD.get()
    }

    /// Run `work` as if another thread were building every value that is not built.
    pub(crate) fn while_others_build<R>(work: impl FnOnce() -> R) -> R {
        struct Reset;
        impl Drop for Reset {
            fn drop(&mut self) {
                OTHERS_BUILD.set(false);
            }
        }
        OTHERS_BUILD.set(true);
        let _reset = Reset;
        work()
    }
}

/// Lock without waiting; `None` while another thread holds the lock.
///
/// Where its last holder panicked the value may be half changed, so it is replaced by the default.
pub(crate) fn try_lock<T: Default>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::WouldBlock) => None,
        Err(TryLockError::Poisoned(poisoned)) => {
            let mut guard = poisoned.into_inner();
            *guard = T::default();
            mutex.clear_poison();
            Some(guard)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{catch_unwind, AssertUnwindSafe};

    use std::sync::mpsc::channel;
    use std::thread;

    use super::*;

    #[test]
    fn one_thread_builds_a_value_and_the_others_do_not_wait() {
        let late = Late::unbuilt();
        let (started, is_started) = channel();
        let (finish, is_finished) = channel::<()>();
        let build = move || {
            started.send(()).unwrap();
            is_finished.recv().unwrap();
            1
        };
        thread::scope(|scope| {
            let shared = &late;
            let builder = scope.spawn(move || shared.get_or_build(build).copied());
            is_started.recv().unwrap();
            for _ in 0..3 {
                assert_eq!(late.get_or_build(|| unreachable!()), None);
            }
            finish.send(()).unwrap();
            assert_eq!(builder.join().unwrap(), Some(1));
        });
        assert_eq!(late.get_or_build(|| unreachable!()), Some(&1));
        assert_eq!(late.get_or_make(|| unreachable!()), &1);
    }

    #[test]
    fn a_value_is_made_while_another_thread_builds_it() {
        let late = Late::unbuilt();
        let build = || {
            assert_eq!(late.get_or_build(|| unreachable!()), None);
            assert_eq!(late.get_or_make(|| 1), &1);
            2
        };
        assert_eq!(late.get_or_build(build), Some(&1));
    }

    #[test]
    fn a_build_that_panics_or_fails_is_repeated() {
        let late = Late::unbuilt();
        assert!(catch_unwind(AssertUnwindSafe(|| late.get_or_build(|| panic!("on purpose")))).is_err());
        assert_eq!(late.try_build(|| None), None);
        assert_eq!(late.get_or_build(|| 1), Some(&1));
    }

    #[test]
    fn a_child_process_builds_what_a_thread_of_its_parent_was_building() {
        let late = Late::unbuilt();
        // What a child finds that was forked during a build: the claim of another process.
        late.builder.store(this_process() + 1, Relaxed);
        assert_eq!(late.get_or_build(|| 1), Some(&1));
        assert_eq!(late.builder.load(Relaxed), NO_PROCESS);
    }

    #[test]
    fn a_value_whose_holder_panicked_is_replaced_once() {
        let mutex = Mutex::new(7);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _guard = try_lock(&mutex).unwrap();
            panic!("on purpose");
        }));
        assert!(panicked.is_err());
        assert_eq!(*try_lock(&mutex).unwrap(), 0);
        *try_lock(&mutex).unwrap() = 5;
        let held = try_lock(&mutex).unwrap();
        assert!(try_lock(&mutex).is_none());
        assert_eq!(*held, 5);
    }
}
