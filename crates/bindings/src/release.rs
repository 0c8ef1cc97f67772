//! The GIL is released around the work of the core, and no thread takes it again once the interpreter exits.
//!
//! Until Python 3.14, a thread that takes the GIL while the interpreter shuts down is ended by unwinding its stack, and
//! Rust aborts the process when this reaches its frames. So a handler of `atexit` closes a gate in front of the GIL:
//! threads that arrive later wait for the end of the process, and the handler waits for those that have passed.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::OnceLock;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use piecework_catch_panics::python;
use piecework_core::interrupt;
use pyo3::prelude::*;

use crate::signals;

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
        signals::note_thread(self);
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
