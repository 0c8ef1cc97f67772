//! What is wrong with a set of rules.

/// An error in a set of rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    /// The position of the rule in the list; `None` for all rules together.
    pub rule: Option<usize>,
    /// What was found.
    pub found: String,
    /// What was expected.
    pub expected: String,
}

impl RuleError {
    /// Returns an error of one rule.
    pub(super) fn at(rule: usize, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { rule: Some(rule), found: found.into(), expected: expected.into() }
    }

    /// Returns an error of all rules together.
    pub(super) fn of_all(found: &str, expected: &str) -> Self {
        Self { rule: None, found: found.to_owned(), expected: expected.to_owned() }
    }
}
