//! Progress reports to the caller several times a second, and interruption.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::resume::{Merge, MergeLog, Resume};
use super::trace::StepLog;
use piecework_core::error::{Error, ErrorKind};

/// Units of work, each well below a microsecond, between two readings of the clock.
const CHECK_EVERY: usize = 1 << 14;
const CALL_EVERY: Duration = Duration::from_millis(40);

/// Counts units of work and calls the caller when enough time has passed.
pub(super) struct Progress<'a> {
    call: &'a mut dyn FnMut(usize, usize) -> ControlFlow<()>,
    done: usize,
    total: usize,
    work: usize,
    last: LastCall,
    merges: Option<&'a MergeLog>,
    steps: Option<&'a StepLog>,
}

impl<'a> Progress<'a> {
    /// Start with a first call.
    pub(super) fn start(
        total: usize,
        call: &'a mut dyn FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<Self, Error> {
        let mut progress =
            Self { call, done: 0, total, work: 0, last: LastCall::now(), merges: None, steps: None };
        progress.report()?;
        Ok(progress)
    }

    /// Append the merges and the steps from now on to the logs of a run; the log of steps begins anew.
    pub(super) fn log_to(&mut self, resume: Resume<'a>) {
        if let Some(log) = resume.steps {
            log.begin();
        }
        (self.merges, self.steps) = (resume.log, resume.steps);
    }

    /// Return the log that receives the steps of the learner, if there is one.
    #[inline]
    pub(super) fn steps(&self) -> Option<&'a StepLog> {
        self.steps
    }

    /// Append a merge to the log.
    pub(super) fn log_merge(&self, merge: Merge) {
        if let Some(log) = self.merges {
            log.push(merge);
        }
    }

    /// Set the number of entries.
    pub(super) fn reach(&mut self, done: usize) {
        self.done = done;
    }

    /// Add units of work.
    #[inline]
    pub(super) fn advance(&mut self, work: usize) -> Result<(), Error> {
        self.work = self.work.saturating_add(work);
        if self.work < CHECK_EVERY {
            return Ok(());
        }
        self.check()
    }

    /// Call the caller if enough time has passed; for use after a long step that counts no work.
    pub(super) fn check(&mut self) -> Result<(), Error> {
        self.work = 0;
        if !self.last.is_long_ago() {
            return Ok(());
        }
        self.report()
    }

    /// Finish with a last call.
    pub(super) fn finish(mut self, done: usize) -> Result<(), Error> {
        self.done = done;
        self.report()
    }

    fn report(&mut self) -> Result<(), Error> {
        self.last = LastCall::now();
        match (self.call)(self.done, self.total) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => {
                Err(Error::new(ErrorKind::Interrupted, "training", "a request to stop", ""))
            }
        }
    }
}

/// When the caller was called. WebAssembly has no clock: there every call is long ago.
struct LastCall(Option<Instant>);

impl LastCall {
    fn now() -> Self {
        Self((!cfg!(target_family = "wasm")).then(Instant::now))
    }

    fn is_long_ago(&self) -> bool {
        self.0.is_none_or(|last| last.elapsed() >= CALL_EVERY)
    }
}
