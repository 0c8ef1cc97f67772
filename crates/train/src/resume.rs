//! Checkpoints of training: the merges or choices so far, and training that continues after them.
//!
//! Training is deterministic, so the merges alone restore the state of a trainer that merges pairs. The other
//! WordPiece trainers record their choices: numbers whose meaning each trainer defines.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::trace::StepLog;
use piecework_core::error::{Error, ErrorKind};

/// A merge; ids are indices into `Learned::vocab`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Merge {
    /// The left entry.
    pub left: u32,
    /// The right entry.
    pub right: u32,
    /// The merged entry; it may have existed before.
    pub merged: u32,
    /// The count of the pair.
    pub count: u64,
    /// The score of the pair.
    pub score: f64,
}

/// The merges of a trainer that is running, for reading by another thread.
///
/// ```
/// use piecework_train::MergeLog;
/// assert_eq!(MergeLog::default().merges(), []);
/// ```
#[derive(Debug, Default)]
pub struct MergeLog(Mutex<Vec<Merge>>);

/// The choices of a running trainer that merges no pairs, for reading by another thread.
///
/// ```
/// use piecework_train::ChoiceLog;
/// assert_eq!(ChoiceLog::default().choices(), []);
/// ```
#[derive(Debug, Default)]
pub struct ChoiceLog(Mutex<Vec<u64>>);

/// Where training begins, and where it records its merges or choices.
#[derive(Clone, Copy, Debug, Default)]
pub struct Resume<'r> {
    /// The merges of an earlier run with the same counts and settings; they are applied, not chosen again.
    pub earlier: &'r [Merge],
    /// Receives all merges, the earlier ones included.
    pub log: Option<&'r MergeLog>,
    /// The choices of an earlier run with the same counts and settings; they are applied, not made again.
    pub earlier_choices: &'r [u64],
    /// Receives all choices, the earlier ones included.
    pub choice_log: Option<&'r ChoiceLog>,
    /// Receives the steps that it asks for.
    pub steps: Option<&'r StepLog>,
}

impl MergeLog {
    /// Return the merges so far.
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

impl ChoiceLog {
    /// Return the choices so far.
    #[must_use]
    pub fn choices(&self) -> Vec<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn push(&self, choice: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(choice);
    }
}

/// The choices of a run: first those of an earlier run, then new ones.
pub(super) struct Choices<'r> {
    earlier: &'r [u64],
    applied: usize,
    log: Option<&'r ChoiceLog>,
}

impl<'r> Choices<'r> {
    pub(super) fn new(resume: Resume<'r>) -> Self {
        Self { earlier: resume.earlier_choices, applied: 0, log: resume.choice_log }
    }

    /// Return whether the next choice is one of the earlier run.
    pub(super) fn is_replaying(&self) -> bool {
        self.applied < self.earlier.len()
    }

    /// Return the next choice of the earlier run, or else compute one, and record it; `None` if there is nothing to
    /// choose.
    pub(super) fn next_or(
        &mut self,
        compute: impl FnOnce() -> Result<Option<u64>, Error>,
    ) -> Result<Option<u64>, Error> {
        let choice = match self.earlier.get(self.applied) {
            Some(&choice) => {
                self.applied += 1;
                Some(choice)
            }
            None => compute()?,
        };
        if let (Some(choice), Some(log)) = (choice, self.log) {
            log.push(choice);
        }
        Ok(choice)
    }

    /// Return the error for the choice that was replayed last.
    pub(super) fn wrong(&self, found: impl Into<String>) -> Error {
        let expected = "choices of a run with the same counts and settings";
        let place = format!("choice {} of the checkpoint", self.applied);
        Error::new(ErrorKind::Argument, place, found, expected)
    }

    /// Reject choices of the earlier run that are left at the end.
    pub(super) fn finish(&mut self) -> Result<(), Error> {
        if self.next_or(|| Ok(None))?.is_some() {
            return Err(self.wrong("a choice after the last one"));
        }
        Ok(())
    }
}

/// The merges of an earlier run that a stage of training applies.
#[derive(Clone, Copy, Default)]
pub(super) struct EarlierMerges<'m> {
    pub(super) merges: &'m [Merge],
    /// Whether the first merge that the words do not yield is of the next stage, not an error.
    pub(super) may_end: bool,
}

impl<'m> EarlierMerges<'m> {
    /// Return the merges of a stage that fills a vocabulary of `size` entries; with `may_end`, fewer if the words do not
    /// yield them.
    pub(super) fn of_stage(earlier: &'m [Merge], size: usize, may_end: bool) -> Self {
        let last = earlier.iter().position(|merge| merge.merged as usize + 1 == size);
        Self { merges: last.map_or(earlier, |last| &earlier[..=last]), may_end }
    }

    /// Return the merges after those of the first stage, which must have learned the same as in the earlier run.
    pub(super) fn after(earlier: &'m [Merge], first: &[Merge]) -> Result<Self, Error> {
        match earlier.iter().zip(first).position(|(before, now)| before != now) {
            Some(at) => Err(wrong_merge(at + 1, "a pair that is not the next one")),
            None => Ok(Self::from(earlier.get(first.len()..).unwrap_or_default())),
        }
    }
}

impl<'m> From<&'m [Merge]> for EarlierMerges<'m> {
    fn from(merges: &'m [Merge]) -> Self {
        Self { merges, may_end: false }
    }
}

/// Return the error for an earlier merge that the counts do not yield.
pub(super) fn wrong_merge(number: usize, found: impl Into<String>) -> Error {
    let expected = "merges of a run with the same counts and settings";
    Error::new(ErrorKind::Argument, format!("merge {number} of the checkpoint"), found, expected)
}
