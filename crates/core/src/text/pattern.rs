//! Patterns: a literal text, or a regular expression with Oniguruma's semantics.

use memchr::memmem::Finder;
use piecework_regex::{CompileError, Regex, StepLimitExceeded, STEPS_PER_BYTE};

use crate::error::{Error, ErrorKind};
use crate::interrupt;
use crate::spec::PatternSpec;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// A literal text.
    Text(Box<Finder<'static>>),
    /// A regular expression, and its place for errors.
    Regex(Box<(Regex, String)>),
}

impl Pattern {
    /// Compile a pattern; `place` names its field in errors.
    pub fn compile(spec: &PatternSpec, place: &str) -> Result<Self, Error> {
        match spec {
            PatternSpec::Text(text) => Ok(Self::Text(Box::new(Finder::new(text).into_owned()))),
            PatternSpec::Regex(source) => match Regex::new(source) {
                Ok(regex) => Ok(Self::Regex(Box::new((regex, place.to_owned())))),
                Err(CompileError { found, expected }) => {
                    Err(Error::new(ErrorKind::Format, place, format!("{source:?}: {found}"), expected))
                }
            },
        }
    }

    /// Call `emit` with the byte span of every match, from left to right. The empty text matches at every
    /// character boundary.
    ///
    /// Fails when a regular expression exceeds its step limit.
    pub fn for_each_match(&self, text: &str, mut emit: impl FnMut(usize, usize)) -> Result<(), Error> {
        let mut emit = |start, end| {
            interrupt::check(1);
            emit(start, end);
        };
        match self {
            Self::Text(finder) if finder.needle().is_empty() => {
                text.char_indices().for_each(|(at, _)| emit(at, at));
                emit(text.len(), text.len());
                Ok(())
            }
            Self::Text(finder) => {
                let len = finder.needle().len();
                finder.find_iter(text.as_bytes()).for_each(|at| emit(at, at + len));
                Ok(())
            }
            Self::Regex(placed) => {
                let (regex, place) = &**placed;
                let run = regex.for_each_match(text, emit);
                run.map_err(|StepLimitExceeded| too_many_steps(regex, place, text))
            }
        }
    }
}

fn too_many_steps(regex: &Regex, place: &str, text: &str) -> Error {
    let found =
        format!("{:?}, which backtracks too much on a text of {} bytes", regex.as_str(), text.len());
    let expected = format!("a regular expression that takes at most {STEPS_PER_BYTE} steps a byte");
    Error::new(ErrorKind::Argument, place, found, expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compile(source: &str) -> Result<Pattern, Error> {
        Pattern::compile(&PatternSpec::Regex(source.to_owned()), "here")
    }

    #[test]
    fn a_malformed_expression_is_a_format_error_that_names_its_place() {
        let error = compile("(").unwrap_err();
        assert_eq!((error.kind, error.place.as_str()), (ErrorKind::Format, "here"));
        assert!(error.found.starts_with("\"(\": "), "{}", error.found);
    }

    #[test]
    fn exceeding_the_step_limit_is_an_argument_error_that_names_its_place() {
        let pattern = compile("a{1,1000}b").unwrap();
        let error = pattern.for_each_match(&"a".repeat(300_000), |_, _| {}).unwrap_err();
        assert_eq!((error.kind, error.place.as_str()), (ErrorKind::Argument, "here"));
    }

    #[test]
    fn the_empty_text_matches_at_every_character_boundary() {
        let pattern = Pattern::compile(&PatternSpec::Text(String::new()), "here").unwrap();
        let mut found = Vec::new();
        pattern.for_each_match("aé", |start, end| found.push((start, end))).unwrap();
        assert_eq!(found, [(0, 0), (1, 1), (3, 3)]);
    }
}
