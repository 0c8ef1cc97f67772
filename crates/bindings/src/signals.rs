//! Ctrl-C ends long work of the core: the main thread checks for signals, ten times a second.

use std::cell::Cell;
use std::time::{Duration, Instant};

use piecework_core::error::{Error, ErrorKind};
use piecework_core::interrupt;
use pyo3::prelude::*;

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
