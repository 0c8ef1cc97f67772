//! Patterns: a literal text, or a regular expression with Oniguruma's semantics.

use aho_corasick::{AhoCorasick, Anchored, Input, MatchKind, StartKind};
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

/// A set of texts, none empty.
#[derive(Clone, Debug)]
pub struct PrefixSet {
    automaton: AhoCorasick,
    begins: Box<[FirstByte; 256]>,
}

/// The texts that begin with a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FirstByte {
    Nothing,
    /// Only the text of this byte alone.
    Itself,
    Longer,
}

impl PrefixSet {
    /// Build a set; `None` for no texts, or for too many for an automaton.
    #[must_use]
    pub fn build<'t>(texts: impl Iterator<Item = &'t str>) -> Option<Self> {
        let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
        let mut begins = Box::new([FirstByte::Nothing; 256]);
        for text in &texts {
            let begin = &mut begins[usize::from(text.as_bytes()[0])];
            let is_only = text.len() == 1 && *begin != FirstByte::Longer;
            *begin = if is_only { FirstByte::Itself } else { FirstByte::Longer };
        }
        let mut builder = AhoCorasick::builder();
        builder.match_kind(MatchKind::LeftmostLongest).start_kind(StartKind::Anchored);
        let automaton = builder.build(&texts).ok().filter(|_| !texts.is_empty())?;
        Some(Self { automaton, begins })
    }

    /// Return whether a text begins with this byte.
    #[inline]
    pub(crate) fn begin_with(&self, byte: u8) -> bool {
        self.begins[usize::from(byte)] != FirstByte::Nothing
    }

    /// Return whether this byte is a text and begins no other.
    pub(crate) fn have_alone(&self, byte: u8) -> bool {
        self.begins[usize::from(byte)] == FirstByte::Itself
    }

    /// Return the end of the longest text of the set at byte `at` of `text`.
    #[inline]
    pub(crate) fn end_at(&self, text: &str, at: usize) -> Option<usize> {
        match self.begins[usize::from(*text.as_bytes().get(at)?)] {
            FirstByte::Nothing => return None,
            FirstByte::Itself => return Some(at + 1),
            FirstByte::Longer => {}
        }
        let input = Input::new(text).range(at..).anchored(Anchored::Yes);
        self.automaton.find(input).map(|found| found.end())
    }
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

    #[test]
    fn the_longest_prefix_matches_at_its_position_only() {
        let prefixes = PrefixSet::build(["<a>", "<a><b>", ""].into_iter()).unwrap();
        assert_eq!(prefixes.end_at("x<a><b>", 1), Some(7));
        assert_eq!(prefixes.end_at("x<a>", 0), None);
        assert_eq!(prefixes.end_at("x", 1), None);
        assert!(PrefixSet::build(std::iter::once("")).is_none());
    }

    #[test]
    fn a_single_byte_matches_unless_a_longer_prefix_does() {
        for texts in [["a", "b", "bc"], ["bc", "b", "a"]] {
            let prefixes = PrefixSet::build(texts.into_iter()).unwrap();
            assert_eq!(
                "abcbx".char_indices().map(|(at, _)| prefixes.end_at("abcbx", at)).collect::<Vec<_>>(),
                [Some(1), Some(3), None, Some(4), None]
            );
            assert_eq!([b'a', b'b', b'c'].map(|byte| prefixes.have_alone(byte)), [true, false, false]);
        }
    }
}
