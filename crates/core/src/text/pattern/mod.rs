//! Searching: a fixed text, or a regular expression as Oniguruma reads it.
//!
//! Regular expressions in tokenizer files are written for Oniguruma. `oniguruma` reads one into a tree
//! (`ast`), `compile` makes a program of it and `machine` runs that: back-tracking, with a stack of its own and
//! every step counted. A text has steps in proportion to its length; where a search takes many, `memo`
//! remembers what has failed, so that only patterns that refer to groups, and very few others, ever run out.

mod anchors;
mod ast;
mod brackets;
mod char_set;
mod class;
mod compile;
mod compile_group;
mod compile_repeat;
mod escapes;
mod first;
mod fold;
mod groups;
#[cfg(test)]
mod laws;
mod literal;
mod look_behind;
mod machine;
mod measure;
mod memo;
#[cfg(test)]
mod naive;
mod oniguruma;
mod program;
mod recall;
mod repeats;
mod runs;
mod sets;
mod sound;
#[cfg(test)]
mod tests;
mod utf8;
mod ways;

use memchr::memmem::Finder;

use self::machine::Machine;
use self::program::Program;
use crate::error::{Error, ErrorKind};
use crate::spec::PatternSpec;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// A fixed text.
    Text(Box<Finder<'static>>),
    /// A regular expression.
    Regex(Box<Expression>),
}

/// A compiled regular expression.
#[derive(Clone, Debug)]
pub struct Expression {
    program: Program,
    place: String,
    source: String,
}

/// Steps that all searches of one text may take together: so many, and so many for each byte.
const STEPS: (usize, usize) = (10_000_000, 30);

impl Pattern {
    /// Compile a pattern that stands at `place` in its file.
    pub fn compile(spec: &PatternSpec, place: &str) -> Result<Self, Error> {
        Ok(match spec {
            PatternSpec::Text(text) => Self::Text(Box::new(Finder::new(text).into_owned())),
            PatternSpec::Regex(source) => Self::Regex(Box::new(Expression::compile(source, place)?)),
        })
    }

    /// Give the byte span of every match, from left to right; the empty text matches between all characters.
    ///
    /// Fails where a regular expression needs too many steps.
    pub fn for_each_match(&self, text: &str, mut emit: impl FnMut(usize, usize)) -> Result<(), Error> {
        match self {
            Self::Text(finder) if finder.needle().is_empty() => {
                text.char_indices().for_each(|(at, _)| emit(at, at));
                emit(text.len(), text.len());
            }
            Self::Text(finder) => {
                let len = finder.needle().len();
                finder.find_iter(text.as_bytes()).for_each(|at| emit(at, at + len));
            }
            Self::Regex(expression) => return expression.for_each_match(text, emit),
        }
        Ok(())
    }
}

impl Expression {
    fn compile(source: &str, place: &str) -> Result<Self, Error> {
        let parsed = oniguruma::read(source).map_err(|fault| {
            let found = format!("{source:?}: {}", fault.what);
            Error::new(ErrorKind::Format, place, found, fault.expected)
        })?;
        let program = compile::compile(parsed).map_err(|compile::TooLarge| {
            let found = format!("{source:?}, which repeats too much");
            Error::new(ErrorKind::Format, place, found, "a regular expression that can be compiled")
        })?;
        Ok(Self { program, place: place.to_owned(), source: source.to_owned() })
    }

    /// An empty match right after a match does not count; the search goes on one character later.
    fn for_each_match(&self, text: &str, mut emit: impl FnMut(usize, usize)) -> Result<(), Error> {
        let mut machine = Machine::new(&self.program, text, STEPS.0 + STEPS.1 * text.len());
        let (mut from, mut last_end) = (0, None);
        while from <= text.len() {
            let found = machine.find(from).map_err(|machine::Exhausted| self.exhausted(text))?;
            let Some((start, end)) = found else { break };
            if start == end && last_end == Some(end) {
                from = utf8::after(text.as_bytes(), from);
                continue;
            }
            emit(start, end);
            (from, last_end) = (end, Some(end));
        }
        Ok(())
    }

    fn exhausted(&self, text: &str) -> Error {
        let found =
            format!("{:?}, which backtracks too much on a text of {} bytes", self.source, text.len());
        let expected = format!("a regular expression that takes at most {} steps a byte", STEPS.1);
        Error::new(ErrorKind::Argument, self.place.clone(), found, expected)
    }
}
