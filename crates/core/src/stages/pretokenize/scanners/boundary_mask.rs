//! A text with its class masks and its boundary mask.

use piecework_kernels::classes::BLOCK;

use super::classes::{ClassMasks, FIRST, IS_LETTER, IS_NUMBER, IS_SPACE, SECOND};
use super::scanner::{PatternFamily, Scanner, TrailingChars};

/// The boundary mask of a text, to be repaired.
pub(super) struct BoundaryMask<'s> {
    pub(super) text: &'s str,
    pub(super) masks: &'s [ClassMasks],
    pub(super) scanner: Scanner,
    pub(super) starts: &'s mut [u64],
}

impl BoundaryMask<'_> {
    pub(super) fn is(&self, class: usize, at: usize) -> bool {
        self.masks[at / BLOCK][class] >> (at % BLOCK) & 1 != 0
    }

    pub(super) fn is_start(&self, at: usize) -> bool {
        self.starts[at / BLOCK] >> (at % BLOCK) & 1 != 0
    }

    pub(super) fn is_newline(&self, at: usize) -> bool {
        self.is(IS_SPACE, at) && self.is(FIRST, at)
    }

    pub(super) fn is_blank(&self, at: usize) -> bool {
        self.is(IS_SPACE, at) && !self.is(FIRST, at)
    }

    /// Return whether line ends after a byte belong to its word: after other characters, and for DeepSeek only
    /// those outside Han, kana and unclassified characters.
    pub(super) fn takes_line_ends(&self, at: usize) -> bool {
        let is_other = !(self.is(IS_LETTER, at) || self.is(IS_NUMBER, at) || self.is(IS_SPACE, at));
        let is_far =
            self.scanner.family == PatternFamily::DeepSeek && (self.is(FIRST, at) || self.is(SECOND, at));
        self.scanner.trailing != TrailingChars::Nothing && is_other && !is_far
    }

    pub(super) fn set(&mut self, at: usize) {
        if at < self.text.len() {
            self.starts[at / BLOCK] |= 1 << (at % BLOCK);
        }
    }

    pub(super) fn clear(&mut self, at: usize) {
        self.starts[at / BLOCK] &= !(1 << (at % BLOCK));
    }

    /// Return the first byte of the character that a byte belongs to.
    pub(super) fn lead(&self, at: usize) -> usize {
        (at.saturating_sub(3)..=at).rev().find(|&at| self.text.is_char_boundary(at)).unwrap_or(at)
    }
}
