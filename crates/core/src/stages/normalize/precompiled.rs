//! `Precompiled`: the compiled rules of a SentencePiece model, applied as in tokenizers. A grapheme cluster
//! (Unicode 17) of fewer than six bytes is looked up whole, any other one character by character.
//!
//! A lookup finds the shortest rule that matches the beginning, and replaces all of the text that was
//! looked up. O(n); text that no rule touches is copied, and clusters are found only around other characters.

use unicode_segmentation::GraphemeCursor;

use super::charsmap::Charsmap;
use super::forms::SourceCounter;
use super::rule_chars::UntouchedText;
use crate::error::Error;
use crate::interrupt;
use crate::text::{ExpansionLimit, NormalizedSink};

/// Clusters of this many bytes or more are looked up character by character.
const LONG_CLUSTER: usize = 6;

/// The compiled normalizer.
#[derive(Clone, Debug)]
pub struct Precompiled {
    rules: Charsmap,
    untouched: UntouchedText,
    /// The ASCII characters that no rule changes.
    keeps: [bool; 128],
}

impl Precompiled {
    /// Compile the rules at `place` in their file.
    pub(super) fn compile(blob: &[u8], place: &str) -> Result<Self, Error> {
        let rules = Charsmap::parse(blob, place)?;
        let keeps = std::array::from_fn(|byte| rules.shortest_match(&[byte as u8]).is_none());
        Ok(Self { rules, untouched: UntouchedText::default(), keeps })
    }

    /// Make the table that is made late.
    pub(super) fn warm_up(&self) {
        self.untouched.warm_up(&self.rules);
    }

    /// Return the ASCII characters that no rule changes.
    pub(super) fn kept_ascii(&self) -> [bool; 128] {
        std::array::from_fn(|byte| self.keeps[byte] && byte != usize::from(b'\r'))
    }

    /// Return whether the rules certainly leave a text unchanged, and it has no whitespace beyond ASCII and no `▁`.
    pub(super) fn keeps(&self, text: &str) -> bool {
        self.untouched.end(&self.rules, text, 0) == text.len()
    }

    /// Return whether a rule matches the beginning of this character.
    pub(super) fn changes(&self, c: char) -> bool {
        self.rules.shortest_match(c.encode_utf8(&mut [0; 4]).as_bytes()).is_some()
    }

    /// Append the replacement of a single character.
    pub(super) fn rewrite_alone(&self, c: char, out: &mut String) {
        let mut bytes = [0; 4];
        let old = &*c.encode_utf8(&mut bytes);
        out.push_str(self.rules.shortest_match(old.as_bytes()).unwrap_or(old));
    }

    /// Return whether a rule of several characters contains this ASCII character.
    pub(super) fn is_within_longer(&self, byte: u8) -> bool {
        self.rules.is_within_longer(byte)
    }

    /// Normalize `text`, which begins at byte `start` of the original.
    pub(super) fn run(
        &self,
        text: &str,
        start: u32,
        growth: ExpansionLimit,
        out: &mut impl NormalizedSink,
    ) -> Result<(), Error> {
        let mut writer =
            ReplacementWriter { sources: SourceCounter::new(text, start), inserted: None, growth, out };
        let mut done = 0;
        while done < text.len() {
            let kept = self.untouched.end(&self.rules, text, done);
            interrupt::check(1);
            let (start, end) =
                if kept < text.len() { cluster_around(text, done, kept) } else { (kept, kept) };
            writer.keep(&text[done..start]);
            self.rewrite(&text[start..end], &mut writer)?;
            done = end;
        }
        writer.finish();
        Ok(())
    }

    fn rewrite<S: NormalizedSink>(
        &self,
        cluster: &str,
        writer: &mut ReplacementWriter<'_, S>,
    ) -> Result<(), Error> {
        if cluster.len() < LONG_CLUSTER {
            if let Some(new) = self.rules.shortest_match(cluster.as_bytes()) {
                return writer.replace(cluster, new);
            }
        }
        let mut bytes = [0; 4];
        for c in cluster.chars() {
            let old = &*c.encode_utf8(&mut bytes);
            match self.rules.shortest_match(old.as_bytes()) {
                Some(new) => writer.replace(old, new)?,
                None => writer.keep(old),
            }
        }
        Ok(())
    }
}

/// Return the cluster that contains the character at byte `at`; a cluster begins at byte `from`, which is not after it.
fn cluster_around(text: &str, from: usize, at: usize) -> (usize, usize) {
    let rest = &text[from..];
    // A cursor over the whole text never lacks context.
    let cursor = |at| GraphemeCursor::new(at, rest.len(), true);
    let end = cursor(at - from).next_boundary(rest, 0).ok().flatten().unwrap_or(rest.len());
    let start = if from == at { 0 } else { cursor(end).prev_boundary(rest, 0).ok().flatten().unwrap_or(0) };
    (from + start, from + end)
}

/// Writes replacements with the sources of tokenizers. The last character of a shorter replacement takes
/// the rest of the source, the last characters of a longer one are insertions. An insertion before deleted
/// text becomes its replacement.
struct ReplacementWriter<'a, S> {
    sources: SourceCounter<'a>,
    inserted: Option<char>,
    growth: ExpansionLimit,
    out: &'a mut S,
}

impl<S: NormalizedSink> ReplacementWriter<'_, S> {
    fn keep(&mut self, text: &str) {
        if !text.is_empty() {
            self.finish();
            self.sources.keep(text, self.out);
        }
    }

    fn replace(&mut self, old: &str, new: &str) -> Result<(), Error> {
        self.growth.take(new.len())?;
        let (mut left, mut last) = (old.chars().count(), None);
        for c in new.chars() {
            if let Some((c, replaces)) = last.replace((c, left.min(1))) {
                self.push(c, replaces);
            }
            left = left.saturating_sub(1);
        }
        match last {
            Some((c, replaces)) => self.push(c, replaces + left),
            None => self.delete(left),
        }
        Ok(())
    }

    fn push(&mut self, c: char, replaces: usize) {
        self.finish();
        if replaces == 0 {
            self.inserted = Some(c);
        } else {
            self.sources.push(c, replaces, self.out);
        }
    }

    fn delete(&mut self, count: usize) {
        match self.inserted.take() {
            Some(c) => self.sources.push(c, count, self.out),
            None => self.sources.skip(count),
        }
    }

    fn finish(&mut self) {
        if let Some(c) = self.inserted.take() {
            self.sources.push(c, 0, self.out);
        }
    }
}
