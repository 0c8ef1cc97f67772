//! Checkpoints of training by merges: the merges so far, and training that continues after them.
//!
//! Merging is deterministic, so the merges alone restore the state of a trainer.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::merge::Merge;
use crate::error::{Error, ErrorKind};

/// The merges of a trainer that is running, for reading by another thread.
///
/// ```
/// use piecework_core::train::MergeLog;
/// assert_eq!(MergeLog::default().merges(), []);
/// ```
#[derive(Debug, Default)]
pub struct MergeLog(Mutex<Vec<Merge>>);

/// Where training begins, and where it records its merges.
#[derive(Clone, Copy, Debug, Default)]
pub struct Resume<'r> {
    /// The merges of an earlier run with the same counts and settings; they are applied, not chosen again.
    pub earlier: &'r [Merge],
    /// Receives all merges, the earlier ones included.
    pub log: Option<&'r MergeLog>,
}

impl MergeLog {
    /// The merges so far.
    #[must_use]
    pub fn merges(&self) -> Vec<Merge> {
        self.lock().clone()
    }

    pub(super) fn push(&self, merge: Merge) {
        self.lock().push(merge);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Merge>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The error for an earlier merge that the counts do not yield.
pub(super) fn wrong_merge(number: usize, found: impl Into<String>) -> Error {
    let expected = "merges of a run with the same counts and settings";
    Error::new(ErrorKind::Argument, format!("merge {number} of the checkpoint"), found, expected)
}
