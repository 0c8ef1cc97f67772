//! Errors of compiling and matching.

use std::fmt;

/// An expression that cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileError {
    /// The problem and its position, in characters.
    pub found: String,
    /// What would be accepted instead.
    pub expected: &'static str,
}

impl CompileError {
    /// Return the error for an expression whose program exceeds its size limits.
    pub(crate) fn too_large() -> Self {
        Self {
            found: "it repeats too much".to_owned(),
            expected: "a regular expression that can be compiled",
        }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; expected {}", self.found, self.expected)
    }
}

impl std::error::Error for CompileError {}

/// The searches of one text exceeded their limit of steps or stack frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepLimitExceeded;

impl fmt::Display for StepLimitExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the regular expression exceeded its step limit")
    }
}

impl std::error::Error for StepLimitExceeded {}
