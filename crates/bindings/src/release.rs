//! The GIL is released around the work of the core, and no thread takes it again once the interpreter exits.
//!
//! Until Python 3.14, a thread that takes the GIL while the interpreter shuts down is ended by unwinding its stack, and
//! Rust aborts the process when this reaches its frames. So a handler of `atexit` closes a gate in front of the GIL:
//! threads that arrive later wait for the end of the process, and the handler waits for those that have passed.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::OnceLock;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use piecework_catch_panics::python;
use piecework_core::error::{Error, ErrorKind};
use piecework_core::interrupt;
use pyo3::prelude::*;

/// Whether the gate is closed.
static EXITING: AtomicBool = AtomicBool::new(false);
/// The threads that have passed the gate and do not have the GIL yet.
static PASSED: AtomicUsize = AtomicUsize::new(0);
/// The thread that shuts the interpreter down. It passes the gate: destructors may encode text.
static EXITING_THREAD: OnceLock<ThreadId> = OnceLock::new();
/// A child process counts threads that had passed when its parent forked, so the handler does not wait for ever.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Releases the GIL during work that needs no Python object.
pub(crate) trait ReleaseGil {
    /// Run `work` without the GIL; never returns if the interpreter has begun to exit meanwhile.
    ///
    /// A signal whose handler raises an exception ends long work in the main thread by unwinding.
    fn release<T: Send>(self, work: impl FnOnce() -> T + Send) -> T;
}

impl ReleaseGil for Python<'_> {
    fn release<T: Send>(self, work: impl FnOnce() -> T + Send) -> T {
        note_thread(self);
        let result = self.detach(|| {
            let result = interrupt::catch(work);
            pass_gate();
            result
        });
        PASSED.fetch_sub(1, Ordering::SeqCst);
        result.unwrap_or_else(|interrupted| resume_unwind(Box::new(interrupted)))
    }
}

/// Wait before the gate if it is closed.
fn pass_gate() {
    PASSED.fetch_add(1, Ordering::SeqCst);
    if EXITING.load(Ordering::SeqCst) && EXITING_THREAD.get() != Some(&thread::current().id()) {
        PASSED.fetch_sub(1, Ordering::SeqCst);
        loop {
            thread::park();
        }
    }
}

/// Close the gate; `atexit` calls this before the interpreter shuts down.
#[python]
fn close_gate(py: Python<'_>) {
    EXITING_THREAD.get_or_init(|| thread::current().id());
    EXITING.store(true, Ordering::SeqCst);
    py.detach(|| {
        let start = Instant::now();
        while PASSED.load(Ordering::SeqCst) > 0 && start.elapsed() < LONGEST_WAIT {
            thread::sleep(Duration::from_millis(1));
        }
    });
}

/// Close the gate when the interpreter exits.
pub(crate) fn close_at_exit(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let handler = wrap_pyfunction!(close_gate, module)?;
    module.py().import("atexit")?.call_method1("register", (handler,)).map(drop)
}

// Ctrl-C ends long work of the core: the main thread checks for signals, ten times a second.

/// The interval between checks for signals.
pub(crate) const PULSE: Duration = Duration::from_millis(100);

thread_local! {
    /// Whether this is Python's main thread, the only one that handles signals; `None` before the first call.
    static IS_MAIN: Cell<Option<bool>> = const { Cell::new(None) };
    static LAST_CHECK: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Let long work of the core check for signals.
pub(crate) fn watch(py: Python<'_>) {
    note_thread(py);
    interrupt::set_poll(check);
}

/// Note whether the calling thread is Python's main thread.
#[inline]
pub(crate) fn note_thread(py: Python<'_>) {
    if IS_MAIN.get().is_none() {
        IS_MAIN.set(Some(is_main(py).unwrap_or(false)));
    }
}

/// Return whether the calling thread is the main thread. It is if nobody has imported `threading`, which a start would wait
/// for; where it is not, Python handles no signals in it.
#[cold]
fn is_main(py: Python<'_>) -> PyResult<bool> {
    let modules = py.import("sys")?.getattr("modules")?;
    let threading = modules.call_method1("get", ("threading",))?;
    if threading.is_none() {
        return Ok(true);
    }
    threading.call_method0("main_thread")?.getattr("ident")?.eq(threading.call_method0("get_ident")?)
}

/// Run the handlers of signals in the main thread. Their exception is the cause of the error.
fn check() -> Result<(), Error> {
    if IS_MAIN.get() != Some(true) || LAST_CHECK.get().is_some_and(|last| last.elapsed() < PULSE) {
        return Ok(());
    }
    LAST_CHECK.set(Some(Instant::now()));
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method itself has one lifetime only"
    )]
    Python::attach(|py| py.check_signals())
        .map_err(|error| Error::new(ErrorKind::Interrupted, "", "", "").because(error))
}
