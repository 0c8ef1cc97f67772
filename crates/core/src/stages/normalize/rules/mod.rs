//! Normalization rules as SentencePiece applies them: at each position the longest matching rule, else the
//! character itself. O(bytes) times the length of the longest rule.
//!
//! Rules come compiled, as a `precompiled_charsmap`.

#[cfg(test)]
mod tests;

use super::charsmap::Charsmap;
use crate::error::Error;
use crate::text::{ExpansionLimit, NormalizedSink};

/// Compiled rules.
#[derive(Clone, Debug)]
pub struct Rules {
    /// `None` if there is no rule.
    charsmap: Option<Charsmap>,
    /// The bytes that begin a rule.
    begins: [bool; 256],
}

impl Rules {
    /// Parse compiled rules at `place` in their file; an empty blob is the identity.
    pub fn parse(blob: &[u8], place: &str) -> Result<Self, Error> {
        let charsmap = if blob.is_empty() { None } else { Some(Charsmap::parse(blob, place)?) };
        let begins = |charsmap: &Charsmap, byte| charsmap.child(charsmap.root(), byte).is_some();
        let begins = std::array::from_fn(|byte| {
            byte != 0 && charsmap.as_ref().is_some_and(|charsmap| begins(charsmap, byte as u8))
        });
        Ok(Self { charsmap, begins })
    }

    /// Apply the rules to `text`, which begins at byte `start` of the original. Each character of a
    /// replacement has the whole match as its source.
    ///
    /// Fails if the output exceeds the expansion limit.
    pub fn run(&self, text: &str, start: u32, out: &mut impl NormalizedSink) -> Result<(), Error> {
        let Some(charsmap) = &self.charsmap else {
            out.push_unchanged(text, start);
            return Ok(());
        };
        let mut limit = ExpansionLimit::of(text.len());
        let (mut done, mut at) = (0, 0);
        while let Some(from) = self.next_beginning(text, at) {
            let Some((len, new)) = charsmap.longest_match(&text[from..]) else {
                at = from + text[from..].chars().next().map_or(1, char::len_utf8);
                continue;
            };
            out.push_unchanged(&text[done..from], start + done as u32);
            limit.take(new.len())?;
            at = from + len;
            let source = (start + from as u32, start + at as u32);
            new.chars().for_each(|c| out.push_from(c, source));
            done = at;
        }
        out.push_unchanged(&text[done..], start + done as u32);
        Ok(())
    }

    /// Return the first position at or after byte `at` where a rule may begin.
    fn next_beginning(&self, text: &str, at: usize) -> Option<usize> {
        let begins =
            |(len, &byte): (usize, &u8)| self.begins[usize::from(byte)] && text.is_char_boundary(at + len);
        text.as_bytes()[at..].iter().enumerate().position(begins).map(|len| at + len)
    }
}
