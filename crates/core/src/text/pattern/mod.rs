//! Searching: a fixed text, or a regular expression as Oniguruma reads it.
//!
//! Regular expressions in tokenizer files are written for Oniguruma. `oniguruma` translates them for
//! fancy-regex, construct by construct; what it does not know is an error, never a guess. Every search has a
//! limit of backtracking steps, and so has a whole text in proportion to its length. Not counted is what
//! fancy-regex gives to a finite automaton: a look-ahead that reads to the end of the text from everywhere,
//! as `(?=a+b)a` does on `aaa...`, is quadratic in the length of such a stretch.

mod brackets;
mod class;
mod fold;
mod oniguruma;
#[cfg(test)]
mod tests;
mod write;

use std::sync::OnceLock;

use fancy_regex::{Regex, RegexBuilder};
use memchr::memmem::Finder;

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
    /// The same expression with ever more steps allowed, see `STEPS`; all but the first compiled at need.
    tiers: [OnceLock<Regex>; STEPS.len()],
    place: String,
    source: String,
    translated: String,
}

/// Steps of backtracking that one search may take: few at first, then again with more.
///
/// A step takes 13 to 25 ns, so that the largest search ends within 25 ms. Words and runs of spaces of real
/// text need a handful; only repeated attempts with more are charged to the text.
const STEPS: [usize; 3] = [1_000, 30_000, 1_000_000];

/// Steps that all the charged searches of one text may take together: a quarter of a second, and 100 more
/// for each byte.
const STEPS_OF_TEXT: usize = 10_000_000;
const STEPS_OF_BYTE: usize = 100;

/// Most instructions and bytes that a compiled expression may have: hundreds of times what real ones need.
const MAX_INSTRUCTIONS: usize = 100_000;
const MAX_BYTES: usize = 10 << 20;

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
        let translated = oniguruma::translate(source).map_err(|fault| {
            let found = format!("{source:?}: {}", fault.what);
            Error::new(ErrorKind::Format, place, found, fault.expected)
        })?;
        let expression = Self {
            tiers: [const { OnceLock::new() }; STEPS.len()],
            place: place.to_owned(),
            source: source.to_owned(),
            translated,
        };
        expression.tier(0).map_err(|error| {
            let found = format!("{source:?}: {error}");
            Error::new(ErrorKind::Format, place, found, "a regular expression that can be compiled")
        })?;
        Ok(expression)
    }

    fn tier(&self, tier: usize) -> Result<&Regex, fancy_regex::Error> {
        if let Some(regex) = self.tiers[tier].get() {
            return Ok(regex);
        }
        let regex = RegexBuilder::new(&self.translated)
            .backtrack_limit(STEPS[tier])
            .max_prog_size(MAX_INSTRUCTIONS)
            .delegate_size_limit(MAX_BYTES)
            .build()?;
        Ok(self.tiers[tier].get_or_init(|| regex))
    }

    /// An empty match right after a match does not count; the search goes on one character later.
    fn for_each_match(&self, text: &str, mut emit: impl FnMut(usize, usize)) -> Result<(), Error> {
        let mut steps_left = STEPS_OF_TEXT + STEPS_OF_BYTE * text.len();
        let (mut from, mut last_end) = (0, None);
        while from <= text.len() {
            let Some((start, end)) = self.find(text, from, &mut steps_left)? else { break };
            if start == end && last_end == Some(end) {
                from += text[from..].chars().next().map_or(1, char::len_utf8);
                continue;
            }
            emit(start, end);
            (from, last_end) = (end, Some(end));
        }
        Ok(())
    }

    fn find(
        &self,
        text: &str,
        from: usize,
        steps_left: &mut usize,
    ) -> Result<Option<(usize, usize)>, Error> {
        for tier in 0..STEPS.len() {
            match self.tier(tier).and_then(|regex| regex.find_from_pos(text, from)) {
                Ok(found) => return Ok(found.map(|found| (found.start(), found.end()))),
                Err(_) => match steps_left.checked_sub(STEPS[(tier + 1).min(STEPS.len() - 1)]) {
                    Some(left) => *steps_left = left,
                    None => break,
                },
            }
        }
        let found =
            format!("{:?}, which backtracks too much on a text of {} bytes", self.source, text.len());
        let expected = format!("a match within {} steps", STEPS[STEPS.len() - 1]);
        Err(Error::new(ErrorKind::Argument, self.place.clone(), found, expected))
    }
}
