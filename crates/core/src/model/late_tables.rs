//! Tables that are built after the first words of a process.
//!
//! A program that encodes a short text and ends never needs them, and the first text of every other one does not wait for
//! them: its words are looked up in the vocabulary. So are the words of other threads while one builds the tables.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::locks::Late;
use crate::table_sections::TableSections;

/// The tables once they are built, and the number of words that are looked up before.
#[derive(Debug)]
pub(super) struct LateTables<T> {
    tables: Late<T>,
    /// The table sections that may contain parts of them.
    stored: TableSections,
    /// The words that may still be looked up.
    lookups: AtomicU32,
}

impl<T: Send> LateTables<T> {
    /// Return tables that are built already.
    pub(super) fn built(tables: T) -> Self {
        let stored = TableSections::default();
        Self { tables: Late::built(tables), stored, lookups: AtomicU32::new(0) }
    }

    /// Return tables that are built after the first `words` words, with what these sections contain of them.
    pub(super) fn unbuilt(words: u32, stored: TableSections) -> Self {
        Self { tables: Late::unbuilt(), stored, lookups: AtomicU32::new(words) }
    }

    /// Return the tables if they are built.
    #[inline]
    pub(super) fn get(&self) -> Option<&T> {
        self.tables.get()
    }

    /// Return the tables; build them now if nobody does. `None` while another thread builds them, and if `build` fails.
    #[inline]
    pub(super) fn get_or_build(&self, build: impl FnOnce() -> Option<T>) -> Option<&T> {
        self.get().or_else(|| self.tables.try_build(build))
    }

    /// Return the tables; build them now if they are not built, even if another thread builds them.
    #[inline]
    pub(super) fn get_or_make(&self, make: impl FnOnce() -> T) -> &T {
        self.tables.get_or_make(make)
    }

    /// Return the table sections that may contain parts of the tables.
    pub(super) fn stored(&self) -> &TableSections {
        &self.stored
    }

    /// Return whether the tables are not built, and words may be looked up.
    #[inline]
    pub(super) fn can_wait(&self) -> bool {
        self.tables.get().is_none() && self.lookups.load(Relaxed) > 0
    }

    /// Return whether another word may be looked up, and count it.
    #[inline]
    pub(super) fn count_lookup(&self) -> bool {
        self.tables.get().is_none() && self.count_one()
    }

    #[cold]
    fn count_one(&self) -> bool {
        self.lookups.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok()
    }
}

impl<T: Clone + Send> Clone for LateTables<T> {
    fn clone(&self) -> Self {
        let lookups = AtomicU32::new(self.lookups.load(Relaxed));
        Self { tables: self.tables.clone(), stored: self.stored.clone(), lookups }
    }
}
