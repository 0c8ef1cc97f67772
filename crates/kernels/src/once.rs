//! A value that is set once. No thread waits for another: a fork at any moment leaves it usable, which a lock would not be.

use std::fmt;
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A value on the heap that is set once, and read by one load.
pub struct OnceBox<T> {
    /// Null, or what `Box::into_raw` returned. Once it is not null, it never changes.
    value: AtomicPtr<T>,
    owned: PhantomData<Box<T>>,
}

impl<T> OnceBox<T> {
    /// Return a value that is not set.
    #[must_use]
    pub const fn new() -> Self {
        Self { value: AtomicPtr::new(ptr::null_mut()), owned: PhantomData }
    }

    /// Return the value if it is set.
    #[inline]
    #[must_use]
    pub fn get(&self) -> Option<&T> {
        // SAFETY: a pointer that is not null is that of a box, which lives as long as `self` and is only shared. The
        // load synchronizes with the store of `set`, after which nothing writes to the box.
        unsafe { self.value.load(Ordering::Acquire).as_ref() }
    }
}

// `Send`: the value may be set in one thread and dropped in another.
impl<T: Send> OnceBox<T> {
    /// Set the value unless it is set. Return the value that was set first.
    pub fn set(&self, value: T) -> &T {
        let new = Box::into_raw(Box::new(value));
        match self.value.compare_exchange(ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: the box is owned by `self` now, lives as long, and is only shared.
            Ok(_) => unsafe { &*new },
            Err(first) => {
                // SAFETY: `new` comes from `Box::into_raw` above, and nothing else has it.
                drop(unsafe { Box::from_raw(new) });
                // SAFETY: as in `get`: the pointer is not null.
                unsafe { &*first }
            }
        }
    }
}

impl<T> Drop for OnceBox<T> {
    fn drop(&mut self) {
        let value = *self.value.get_mut();
        if !value.is_null() {
            // SAFETY: the pointer comes from `Box::into_raw`, and nobody else has a reference to `self` or the box.
            drop(unsafe { Box::from_raw(value) });
        }
    }
}

impl<T> Default for OnceBox<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Clone + Send> Clone for OnceBox<T> {
    fn clone(&self) -> Self {
        let copy = Self::new();
        if let Some(value) = self.get() {
            copy.set(value.clone());
        }
        copy
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceBox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OnceBox").field(&self.get()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    use super::*;

    #[test]
    fn the_first_value_stays_and_every_value_is_dropped_once() {
        static DROPPED: AtomicUsize = AtomicUsize::new(0);

        #[derive(Clone)]
        struct Counted(usize);

        impl Drop for Counted {
            fn drop(&mut self) {
                DROPPED.fetch_add(1, Ordering::Relaxed);
            }
        }

        let value = OnceBox::new();
        assert!(value.get().is_none() && value.clone().get().is_none());
        let shared = &value;
        let found: Vec<usize> = thread::scope(|scope| {
            let threads: Vec<_> =
                (1..5).map(|number| scope.spawn(move || shared.set(Counted(number)).0)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let first = value.get().unwrap().0;
        assert!(found.iter().all(|&number| number == first));
        assert_eq!(DROPPED.load(Ordering::Relaxed), 3);
        drop(value.clone());
        assert_eq!(DROPPED.load(Ordering::Relaxed), 4);
        drop(value);
        assert_eq!(DROPPED.load(Ordering::Relaxed), 5);
    }
}
