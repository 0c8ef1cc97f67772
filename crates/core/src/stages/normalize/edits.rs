//! `Replace`, `Strip` and `Prepend`: normalizers that edit a text.
//!
//! `Replace` replaces every match of a pattern, from left to right. The replacement has the source of the last character
//! of the match, or of the character before an empty match.
//!
//! Linear in text and output, apart from the regular expression.

use piecework_unicode::{class_of, Class};

use crate::error::Error;
use crate::spec::{NormalizerSpec, PatternSpec};
use crate::text::{ExpansionLimit, NormalizedSink, Pattern};

/// The compiled `Replace`.
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

/// `Strip`: remove whitespace (`White_Space`) at the ends.
pub(super) fn strip(left: bool, right: bool, text: &str, start: u32, out: &mut impl NormalizedSink) {
    let is_space = |c| class_of(c).has(Class::WHITESPACE);
    let kept = if left { text.trim_start_matches(is_space) } else { text };
    let skipped = (text.len() - kept.len()) as u32;
    let kept = if right { kept.trim_end_matches(is_space) } else { kept };
    out.push_unchanged(kept, start + skipped);
}

/// `Prepend`: add a prefix to a text that is not empty, with the source of its first character.
pub(super) fn prepend(new: &str, text: &str, start: u32, out: &mut impl NormalizedSink) {
    if let Some(first) = text.chars().next() {
        let source = (start, start + first.len_utf8() as u32);
        new.chars().for_each(|c| out.push_from(c, source));
    }
    out.push_unchanged(text, start);
}
