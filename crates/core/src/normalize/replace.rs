//! Replaces every match of a pattern, from left to right; what is written shares the origin of the last
//! character of the match (of the one before it, where the match is empty).
//!
//! Linear in text and output, but for the regular expression itself.

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
    /// Compile the pattern, which stands at `place` in its file.
    pub(super) fn compile(spec: &PatternSpec, content: &str, place: &str) -> Result<Self, Error> {
        let pattern = match spec {
            // The empty text matches between any two characters, which only a regular expression does.
            PatternSpec::Text(text) if text.is_empty() => {
                Pattern::compile(&PatternSpec::Regex(String::new()), place)?
            }
            _ => Pattern::compile(spec, place)?,
        };
        Ok(Self { spec: spec.clone(), pattern, content: content.to_owned() })
    }

    /// What is replaced.
    pub(super) fn pattern(&self) -> &PatternSpec {
        &self.spec
    }

    /// What stands there instead.
    pub(super) fn content(&self) -> &str {
        &self.content
    }

    /// The settings.
    pub(super) fn spec(&self) -> NormalizerSpec {
        NormalizerSpec::Replace { pattern: self.spec.clone(), content: self.content.clone() }
    }

    /// Replace in `text`, which stands at byte `start` of the original.
    pub(super) fn run(
        &self,
        text: &str,
        start: u32,
        mut growth: ExpansionLimit,
        out: &mut impl NormalizedSink,
    ) -> Result<(), Error> {
        if text.is_empty() {
            return Ok(());
        }
        let (mut done, mut grown) = (0, Ok(()));
        self.pattern.for_each_match(text, |from, to| {
            if grown.is_ok() {
                grown = growth.take(self.content.len());
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
