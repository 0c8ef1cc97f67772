//! Writers of normalized text, which hold back spaces until they are known to stay.

use crate::error::Error;
use crate::spec::SentencePieceNormalizerSpec;
use crate::text::{ExpansionLimit, NormalizedSink, METASPACE};

/// Writes each character when the start of the next one is known, and spaces when they are known to stay.
pub(super) struct AlignedWriter<'a, S> {
    start: u32,
    pub(super) space: char,
    escapes: bool,
    trims: bool,
    after_space: bool,
    last: Option<(char, u32)>,
    /// Starts of the spaces after `last`, if spaces at the end are removed.
    spaces: Vec<u32>,
    limit: ExpansionLimit,
    out: &'a mut S,
}

impl<'a, S: NormalizedSink> AlignedWriter<'a, S> {
    pub(super) fn new(
        spec: &SentencePieceNormalizerSpec,
        start: u32,
        limit: ExpansionLimit,
        out: &'a mut S,
    ) -> Self {
        Self {
            start,
            space: if spec.escape_whitespaces { METASPACE } else { ' ' },
            escapes: spec.escape_whitespaces,
            trims: spec.remove_extra_whitespaces,
            after_space: spec.remove_extra_whitespaces,
            last: None,
            spaces: Vec::new(),
            limit,
            out,
        }
    }

    /// Copy unchanged ASCII characters, other than spaces, from byte `at` of the text.
    #[inline]
    pub(super) fn keep(&mut self, run: &str, at: usize) {
        let from = self.start + at as u32;
        self.flush(from);
        let (rest, last) = run.split_at(run.len() - 1);
        self.out.push_unchanged(rest, from);
        self.last = last.chars().next().map(|last| (last, from + rest.len() as u32));
        self.after_space = false;
    }

    /// Write a space of the text.
    #[inline]
    pub(super) fn push_space(&mut self, at: usize) {
        if !self.after_space {
            self.push(self.space, at);
            self.after_space = self.trims;
        }
    }

    /// Write the replacement of the text at byte `at`.
    pub(super) fn rewrite(&mut self, new: &str, at: usize) -> Result<(), Error> {
        self.limit.take(new.len())?;
        let kept = if self.after_space { new.trim_start_matches(' ') } else { new };
        for c in kept.chars() {
            self.push(if c == ' ' && self.escapes { METASPACE } else { c }, at);
        }
        if !kept.is_empty() {
            self.after_space = self.trims && kept.ends_with(' ');
        }
        Ok(())
    }

    /// Write a character whose source begins at byte `at`.
    pub(super) fn push(&mut self, c: char, at: usize) {
        let from = self.start + at as u32;
        if self.trims && c == self.space {
            return self.spaces.push(from);
        }
        self.flush(from);
        self.last = Some((c, from));
    }

    /// Write everything held back; the next character begins at `end`.
    #[inline]
    fn flush(&mut self, end: u32) {
        if let Some((c, from)) = self.last.take() {
            self.out.push_from(c, (from, self.spaces.first().copied().unwrap_or(end)));
        }
        for at in 0..self.spaces.len() {
            let to = self.spaces.get(at + 1).copied().unwrap_or(end);
            self.out.push_from(self.space, (self.spaces[at], to));
        }
        self.spaces.clear();
    }

    /// End the text at byte `at`.
    pub(super) fn finish(&mut self, at: usize, adds_suffix: bool) {
        let end = self.spaces.first().copied().unwrap_or(self.start + at as u32);
        self.spaces.clear();
        self.flush(end);
        if adds_suffix {
            self.out.push_from(self.space, (end, end));
        }
    }
}

/// Writes text without sources.
pub(super) struct StringWriter<'o> {
    space: char,
    escapes: bool,
    trims: bool,
    after_space: bool,
    /// The number of spaces held back, if spaces at the end are removed.
    spaces: usize,
    out: &'o mut String,
}

impl<'o> StringWriter<'o> {
    pub(super) fn new(spec: &SentencePieceNormalizerSpec, continues: bool, out: &'o mut String) -> Self {
        Self {
            space: if spec.escape_whitespaces { METASPACE } else { ' ' },
            escapes: spec.escape_whitespaces,
            trims: spec.remove_extra_whitespaces,
            after_space: spec.remove_extra_whitespaces && !continues,
            spaces: 0,
            out,
        }
    }

    #[inline]
    pub(super) fn keep(&mut self, run: &str) {
        self.flush();
        self.out.push_str(run);
        self.after_space = false;
    }

    pub(super) fn rewrite(&mut self, new: &str) {
        let kept = if self.after_space { new.trim_start_matches(' ') } else { new };
        for c in kept.chars() {
            let c = if c == ' ' && self.escapes { METASPACE } else { c };
            if self.trims && c == self.space {
                self.spaces += 1;
            } else {
                self.flush();
                self.out.push(c);
            }
        }
        if !kept.is_empty() {
            self.after_space = self.trims && kept.ends_with(' ');
        }
    }

    #[inline]
    fn flush(&mut self) {
        for _ in 0..std::mem::take(&mut self.spaces) {
            self.out.push(self.space);
        }
    }
}
