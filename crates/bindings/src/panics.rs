//! Rust panics become `InternalError` in Python.
//!
//! PyO3's own exception for a panic is not an `Exception`, so `except PieceworkError` would miss it.
//! The attribute `#[python]` runs the body of every function that Python calls in `caught`. A panic in a
//! thread of a batch is resumed in the calling thread and caught there.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use piecework_core::interrupt;
use pyo3::prelude::*;

use crate::errors::{internal, raise};

/// The message and location of the last panic, until it is caught.
static LAST: Mutex<Option<String>> = Mutex::new(None);

/// Run `work`; return `InternalError` if it panics, and the exception of a signal's handler if that ended it.
///
/// Shared state must be usable after a panic: a poisoned lock resets its value or returns an error.
pub(crate) fn caught<R>(work: impl FnOnce() -> R) -> PyResult<R> {
    match panic::catch_unwind(AssertUnwindSafe(|| interrupt::catch(work))) {
        Ok(result) => result.map_err(raise),
        Err(payload) => {
            let reported = last().take();
            Err(internal(&reported.unwrap_or_else(|| message(&*payload).to_owned())))
        }
    }
}

/// Install a panic hook that stores the message and the location for the exception, and prints nothing.
///
/// With `RUST_BACKTRACE` set, it also prints Rust's report with the backtrace.
pub(crate) fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            *last() = Some(described(info));
            if std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0") {
                report(info);
            }
        }));
    });
}

/// Lock a value; return `InternalError` if a thread has panicked while it held the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> PyResult<MutexGuard<'_, T>> {
    mutex.lock().map_err(|_| {
        internal("an earlier call of this object panicked and left its state incomplete; make a new object")
    })
}

/// Return the message of a panic with its location.
fn described(info: &PanicHookInfo<'_>) -> String {
    let message = message(info.payload());
    info.location().map_or_else(|| message.to_owned(), |location| format!("{message} ({location})"))
}

/// Return the message of a panic.
fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message")
}

/// Lock the last panic.
fn last() -> MutexGuard<'static, Option<String>> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner)
}
