//! Sources by counting characters, as in tokenizers: a new character replaces the next old one and possibly
//! more, or is inserted with the source of the old character before it.

use std::str::Chars;

use crate::text::NormalizedSink;

/// Reads the old text while the new one is written.
pub(super) struct SourceCounter<'t> {
    rest: Chars<'t>,
    /// The byte span, in the original, of the last old character.
    last: (u32, u32),
}

impl<'t> SourceCounter<'t> {
    /// Start at the beginning of `text`, which begins at byte `start` of the original.
    pub(super) fn new(text: &'t str, start: u32) -> Self {
        Self { rest: text.chars(), last: (start, start) }
    }

    /// Write a character that replaces the next `count` old ones, or is inserted if `count` is 0.
    pub(super) fn push(&mut self, c: char, count: usize, out: &mut impl NormalizedSink) {
        self.skip(count.min(1));
        out.push_from(c, self.last);
        self.skip(count.saturating_sub(1));
    }

    /// Copy the next old characters, `text`.
    pub(super) fn keep(&mut self, text: &str, out: &mut impl NormalizedSink) {
        let Some(last) = text.chars().next_back() else { return };
        out.push_unchanged(text, self.last.1);
        let end = self.last.1 + text.len() as u32;
        self.last = (end - last.len_utf8() as u32, end);
        self.rest = self.rest.as_str()[text.len()..].chars();
    }

    /// Skip deleted old characters.
    pub(super) fn skip(&mut self, count: usize) {
        for c in self.rest.by_ref().take(count) {
            self.last = (self.last.1, self.last.1 + c.len_utf8() as u32);
        }
    }
}
