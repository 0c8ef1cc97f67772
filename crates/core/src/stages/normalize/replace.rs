//! `Replace`: replaces every match of a pattern, from left to right. The replacement has the source of the
//! last character of the match, or of the character before an empty match.
//!
//! Linear in text and output, apart from the regular expression.

use crate::error::Error;
use crate::spec::{NormalizerSpec, PatternSpec};
use crate::text::{ExpansionLimit, NormalizedSink, Pattern};

/// The compiled normalizer.
#[derive(Clone, Debug)]
pub struct Replace {
    spec: PatternSpec,
    pattern: Pattern,
    content: String,
}

impl Replace {
    /// Compile the pattern at `place` in its file.
    pub(super) fn compile(spec: &PatternSpec, content: &str, place: &str) -> Result<Self, Error> {
        let pattern = match spec {
            // The empty text matches between any two characters, as an empty regular expression does.
            PatternSpec::Text(text) if text.is_empty() => {
                Pattern::compile(&PatternSpec::Regex(String::new()), place)?
            }
            _ => Pattern::compile(spec, place)?,
        };
        Ok(Self { spec: spec.clone(), pattern, content: content.to_owned() })
    }

    /// Return the pattern.
    pub(super) fn pattern(&self) -> &PatternSpec {
        &self.spec
    }

    /// Return the replacement.
    pub(super) fn content(&self) -> &str {
        &self.content
    }

    /// Return the specification that it was compiled from.
    pub(super) fn spec(&self) -> NormalizerSpec {
        NormalizerSpec::Replace { pattern: self.spec.clone(), content: self.content.clone() }
    }

    /// Normalize `text`, which begins at byte `start` of the original.
    pub(super) fn run(
        &self,
        text: &str,
        start: u32,
        mut limit: ExpansionLimit,
        out: &mut impl NormalizedSink,
    ) -> Result<(), Error> {
        if text.is_empty() {
            return Ok(());
        }
        let (mut done, mut grown) = (0, Ok(()));
        self.pattern.for_each_match(text, |from, to| {
            if grown.is_ok() {
                grown = limit.take(self.content.len());
            }
            if grown.is_err() {
                return;
            }
            out.push_unchanged(&text[done..from], start + done as u32);
            let before = text[..to].chars().next_back().map_or(0, char::len_utf8);
            let source = (start + (to - before) as u32, start + to as u32);
            self.content.chars().for_each(|c| out.push_from(c, source));
            done = to;
        })?;
        grown?;
        out.push_unchanged(&text[done..], start + done as u32);
        Ok(())
    }
}
