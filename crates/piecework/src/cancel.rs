//! Work that ends early when its caller asks for it.

use std::cell::RefCell;
use std::rc::Rc;

use piecework_core::error::{Error as CoreError, ErrorKind as CoreKind};
use piecework_core::interrupt;

use crate::Error;

thread_local! {
    /// Whether the work of this thread has to end.
    static IS_CANCELLED: RefCell<Option<Rc<dyn Fn() -> bool>>> = const { RefCell::new(None) };
}

/// Run `work`; end it with [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) soon after `is_cancelled` returns true.
///
/// Loops of the engine call `is_cancelled` in this thread, within tens of milliseconds; short work never does. The threads of a
/// batch end with this one.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// use piecework::{ErrorKind, Tokenizer, cancellable};
///
/// let tokenizer = Tokenizer::from_bytes(b"[UNK]\nto\nbe\n")?;
/// let (text, is_cancelled) = ("to be ".repeat(100_000), Arc::new(AtomicBool::new(false)));
/// let shared = Arc::clone(&is_cancelled);
/// let count = move || shared.load(Ordering::Relaxed);
/// assert_eq!(cancellable(count.clone(), || tokenizer.count(&text))?, 200_000);
/// is_cancelled.store(true, Ordering::Relaxed);
/// let error = cancellable(count, || tokenizer.count(&text)).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Cancelled);
/// # Ok::<(), piecework::Error>(())
/// ```
pub fn cancellable<T>(
    is_cancelled: impl Fn() -> bool + 'static,
    work: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    interrupt::set_poll(poll);
    let _before = Before(IS_CANCELLED.replace(Some(Rc::new(is_cancelled))));
    interrupt::catch(work)?
}

/// Return an error if the work of this thread has to end.
fn poll() -> Result<(), CoreError> {
    let is_cancelled = IS_CANCELLED.with_borrow(Clone::clone);
    match is_cancelled {
        Some(is_cancelled) if is_cancelled() => {
            Err(CoreError::new(CoreKind::Interrupted, "cancel", "a request to end the work", ""))
        }
        _ => Ok(()),
    }
}

/// What was set before, until this is dropped.
struct Before(Option<Rc<dyn Fn() -> bool>>);

impl Drop for Before {
    fn drop(&mut self) {
        IS_CANCELLED.set(self.0.take());
    }
}
