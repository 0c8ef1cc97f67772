//! A regular-expression matcher with Oniguruma's syntax and semantics, and a step limit.
//!
//! `tokenizer.json` files contain expressions in Oniguruma's dialect. [`Regex::new`] parses an expression
//! into a syntax tree (`parse`, `ast`) and compiles the tree into instructions (`compile`, `program`).
//! `matcher` runs the instructions: it backtracks over an explicit stack and counts every step. When a
//! text takes many steps, the matcher memoizes failures, so that time stays linear in the text. Only
//! expressions with backreferences, and a few others, reach the limit.

#![forbid(unsafe_code)]

mod ast;
mod char_classes;
mod char_set;
mod compile;
mod matcher;
mod parse;
mod program;
#[cfg(test)]
mod tests;

use std::fmt;

use piecework_unicode::next_char_start;

use self::matcher::Matcher;
use self::program::Program;

/// Steps that all searches of one text may take for each byte of it, in addition to [`BASE_STEPS`].
pub const STEPS_PER_BYTE: usize = 30;

/// Steps that all searches of one text may take, whatever its length.
pub const BASE_STEPS: usize = 10_000_000;

/// A compiled regular expression.
#[derive(Clone, Debug)]
pub struct Regex {
    program: Program,
    source: String,
}

impl Regex {
    /// Compile an expression.
    ///
    /// Fails for malformed or unsupported syntax, and for expressions that expand to too many
    /// instructions.
    pub fn new(source: &str) -> Result<Self, CompileError> {
        let program = compile::compile(parse::parse(source)?)?;
        Ok(Self { program, source: source.to_owned() })
    }

    /// Return the expression as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// Call `emit` with the byte span of every match, from left to right.
    ///
    /// An empty match directly after another match is skipped, and the search continues one character
    /// later. Fails when the searches of `text` together take more than [`BASE_STEPS`] +
    /// [`STEPS_PER_BYTE`] × bytes steps.
    pub fn for_each_match(
        &self,
        text: &str,
        mut emit: impl FnMut(usize, usize),
    ) -> Result<(), StepLimitExceeded> {
        let mut machine = Matcher::new(&self.program, text, BASE_STEPS + STEPS_PER_BYTE * text.len());
        let (mut from, mut last_end) = (0, None);
        while from <= text.len() {
            let Some((start, end)) = machine.find(from)? else { break };
            if start == end && last_end == Some(end) {
                from = next_char_start(text.as_bytes(), from);
                continue;
            }
            emit(start, end);
            (from, last_end) = (end, Some(end));
        }
        Ok(())
    }
}

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
