//! Assertions about a position, and backreferences.

use piecework_unicode::previous_char_start;

use crate::ast::Anchor;
use crate::matcher::{Matcher, Outcome, UNSET};

impl Matcher<'_> {
    /// Return the start of the character before `at`, if it is in a set.
    #[inline]
    pub(crate) fn char_before_in_set(&self, set: u32, at: usize) -> Option<usize> {
        let start = previous_char_start(self.bytes, at)?;
        self.program.sets[set as usize].len_at(self.bytes, start).map(|_| start)
    }

    /// Return whether an anchor matches at a position.
    pub(crate) fn anchor_matches(&self, anchor: Anchor, at: usize) -> bool {
        let next = self.text.get(at);
        match anchor {
            Anchor::TextStart => at == 0,
            Anchor::TextEnd => next.is_none(),
            Anchor::TextEndOrLastLine => next.is_none() || self.text.get(at..) == Some(b"\n"),
            Anchor::LineStart => at == 0 || (next.is_some() && self.text.get(at - 1) == Some(&b'\n')),
            Anchor::LineEnd => next.is_none_or(|&byte| byte == b'\n'),
            Anchor::SearchStart => at == self.search_start,
            Anchor::WordBoundary => self.is_word_boundary(at),
            Anchor::NotWordBoundary => !self.is_word_boundary(at),
        }
    }

    /// Return whether exactly one of the characters around a position is a word character.
    fn is_word_boundary(&self, at: usize) -> bool {
        let word = &self.program.word;
        let before = previous_char_start(self.text, at).and_then(|start| word.len_at(self.text, start));
        before.is_some() != word.len_at(self.text, at).is_some()
    }

    /// Run `Inst::Reference`. A group that has not matched fails.
    pub(crate) fn reference(&mut self, register: u32, at: usize) -> Outcome {
        let register = register as usize;
        let (start, end) = (self.registers[register], self.registers[register + 1]);
        if start == UNSET || end == UNSET {
            return Outcome::Fail;
        }
        let Some(group) = self.bytes.get(start..end) else { return Outcome::Fail };
        self.steps += group.len() / 8;
        match self.bytes.get(at..at + group.len()) == Some(group) {
            true => Outcome::Next(at + group.len()),
            false => Outcome::Fail,
        }
    }
}
