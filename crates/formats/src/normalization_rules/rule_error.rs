//! What is wrong with a set of rules.

use piecework_core::error::{Error, ErrorKind};

/// An error in a set of rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RuleError {
    /// The position of the rule in the list; `None` for all rules together.
    pub(super) rule: Option<usize>,
    /// What was found.
    pub(super) found: String,
    /// What was expected.
    pub(super) expected: String,
}

impl RuleError {
    /// Return an error of one rule.
    pub(super) fn at(rule: usize, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { rule: Some(rule), found: found.into(), expected: expected.into() }
    }

    /// Return an error of all rules together.
    pub(super) fn of_all(found: &str, expected: &str) -> Self {
        Self { rule: None, found: found.to_owned(), expected: expected.to_owned() }
    }

    /// Convert into an error at `all`, or at the place of the rule.
    pub(super) fn at_place(self, kind: ErrorKind, all: &str, place: impl Fn(usize) -> String) -> Error {
        let place = self.rule.map_or_else(|| all.to_owned(), place);
        Error::new(kind, place, self.found, self.expected)
    }
}
