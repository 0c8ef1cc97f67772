//! Locks that nobody waits for, and that stay usable after a panic: waiting for another thread would block forever after a
//! fork.

use std::sync::{Mutex, MutexGuard, OnceLock, TryLockError};

/// Return a value that is made at its first use. Two threads may both make it; that of the first one counts.
#[inline]
pub(crate) fn get_or_make<T>(value: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    match value.get() {
        Some(value) => value,
        None => make_now(value, make),
    }
}

#[cold]
#[inline(never)]
fn make_now<T>(value: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    let made = make();
    value.get_or_init(|| made)
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

    use super::*;

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
