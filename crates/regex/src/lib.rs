//! Searching: a fixed text, or a regular expression as Oniguruma reads it.
//!
//! Regular expressions in tokenizer files are written for Oniguruma. `oniguruma` reads one into a tree
//! (`ast`), `compile` makes a program of it and `machine` runs that: back-tracking, with a stack of its own and
//! every step counted. A text has steps in proportion to its length; where a search takes many, `memo`
//! remembers what has failed, so that only patterns that refer to groups, and very few non_ascii, ever run out.

#![forbid(unsafe_code)]

mod ast;
mod char_classes;
mod char_set;
mod compile;
mod error;
mod matcher;
mod parse;
mod program;
mod set_interner;
#[cfg(test)]
mod tests;
mod validate;

pub use error::{CompileError, StepLimitExceeded};

use piecework_unicode::next_char_start;

use self::matcher::Matcher;
use self::program::Program;

/// Steps that the searches of one text may take for each byte of it, beside [`BASE_STEPS`].
pub const STEPS_PER_BYTE: usize = 30;

/// Steps that the searches of one text may take whatever its length.
pub const BASE_STEPS: usize = 10_000_000;

/// A compiled regular expression.
#[derive(Clone, Debug)]
pub struct Regex {
    program: Program,
    source: String,
}

impl Regex {
    /// Compile an expression.
    pub fn new(source: &str) -> Result<Self, CompileError> {
        let program = compile::compile(parse::parse(source)?)?;
        Ok(Self { program, source: source.to_owned() })
    }

    /// The expression as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// Call `emit` with the byte span of every match, from left to right. An empty match right after a match
    /// does not count; the search continues one character later.
    ///
    /// Fails when all searches of `text` together exceed [`BASE_STEPS`] and [`STEPS_PER_BYTE`].
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
