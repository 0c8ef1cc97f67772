//! Repair the boundary mask at ambiguous bytes.

use piecework_kernels::classes::BLOCK;

use super::boundary_rules::AmbiguousBytes;
use super::classes::{ClassMasks, FIRST, IS_LETTER, IS_NUMBER, IS_SPACE, SECOND};
use super::kind_text::contraction_end;
use super::scan::is_certain_boundary;
use super::scanner::{PatternFamily, Scanner, TrailingChars};

/// The boundary mask of a text, to be repaired.
pub(super) struct BoundaryMask<'s> {
    pub(super) text: &'s str,
    pub(super) masks: &'s [ClassMasks],
    pub(super) scanner: Scanner,
    pub(super) starts: &'s mut [u64],
}

impl Scanner {
    /// Decide the boundaries at all ambiguous bytes.
    pub(super) fn repair(
        self,
        text: &str,
        masks: &[ClassMasks],
        ambiguous: &AmbiguousBytes,
        starts: &mut [u64],
    ) {
        let mut found = BoundaryMask { text, masks, scanner: self, starts };
        found.non_ascii_spaces(&ambiguous.non_ascii_spaces);
        match self.family {
            PatternFamily::O200k => found.contractions_within(&ambiguous.contractions),
            family => found.contractions(&ambiguous.contractions, family == PatternFamily::Cl100k),
        }
        found.numbers(&ambiguous.numbers);
        found.non_ascii_leads(&ambiguous.non_ascii_leads);
        found.blank_lines(&ambiguous.blank_lines);
        self.rescan(&ambiguous.rescans, &mut found);
        if self.family == PatternFamily::Clip {
            found.specials();
        }
        if self.joins_last_spaces {
            found.last_spaces();
        }
    }

    /// Run the scalar scanner from the last certain boundary before each byte to the next one after it.
    fn rescan(self, ambiguous: &[u32], found: &mut BoundaryMask) {
        let (text, mut done) = (found.text, 0);
        for &at in ambiguous {
            let at = at as usize;
            if at < done {
                continue;
            }
            let from = (done.max(1)..=at).rev().find(|&at| is_certain_boundary(text, at)).unwrap_or(done);
            let to = (at + 1..text.len()).find(|&at| is_certain_boundary(text, at)).unwrap_or(text.len());
            (from..to).for_each(|at| found.clear(at));
            let words = Self { joins_words: false, ..self };
            words.split_scalar_whole(&text[from..to], &mut |start, _| found.set(from + start));
            done = to;
        }
    }
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

    /// Move the start of the last whitespace character of a run from its last byte to its first.
    fn non_ascii_spaces(&mut self, ambiguous: &[u32]) {
        for &at in ambiguous {
            self.clear(at as usize);
            self.set(self.lead(at as usize));
        }
    }

    /// Make contractions words: clear the bit after the apostrophe and set the bit after the end.
    fn contractions(&mut self, ambiguous: &[u32], ignore_case: bool) {
        for &at in ambiguous {
            let at = at as usize;
            let end = contraction_end(self.text, at, ignore_case);
            if end > at {
                self.clear(at + 1);
                self.set(end);
            }
        }
    }

    /// Add contractions to the word before them, unless that ends with a contraction.
    fn contractions_within(&mut self, ambiguous: &[u32]) {
        let mut last_end = 0;
        for &at in ambiguous {
            let at = at as usize;
            let end = contraction_end(self.text, at, true);
            if end > at && at != last_end {
                (at..end).for_each(|at| self.clear(at));
                self.set(end);
                last_end = end;
            }
        }
    }

    /// Split long numbers; clear bits within digits that are not ASCII.
    fn numbers(&mut self, ambiguous: &[u32]) {
        for &at in ambiguous {
            let at = at as usize;
            if self.scanner.max_digits > 1 {
                self.number(at);
            } else if !self.text.is_char_boundary(at) {
                self.clear(at);
            }
        }
    }

    /// Split the long number at byte `at`.
    fn number(&mut self, at: usize) {
        let (text, max_digits) = (self.text, self.scanner.max_digits);
        let is_digit = |found: &Self, at| found.is(IS_NUMBER, at) && !found.is(FIRST, at);
        let offsets = || text[at..].char_indices().map(|(offset, _)| at + offset);
        // The digits that the first word lacks.
        let lacking = if self.scanner.digits_from_right {
            let count = offsets().take_while(|&at| is_digit(self, at)).count();
            count.next_multiple_of(max_digits) - count
        } else {
            0
        };
        for (count, at) in offsets().enumerate() {
            if !is_digit(self, at) {
                break;
            }
            if (count + lacking) % max_digits == 0 {
                self.set(at);
            }
        }
    }

    /// Clear the start of a letter after a single non-ASCII character that starts a word.
    fn non_ascii_leads(&mut self, ambiguous: &[u32]) {
        for &at in ambiguous {
            if self.is_start(self.lead(at as usize - 1)) {
                self.clear(at as usize);
            }
        }
    }

    /// Join whitespace up to its last line end: the whitespace after a line end starts no word, unless
    /// that line end belongs to the characters before it.
    fn blank_lines(&mut self, ambiguous: &[u32]) {
        for &newline in ambiguous {
            let run_start = |of: fn(&Self, usize) -> bool, to: usize| {
                (0..to).rev().find(|&at| !of(self, at)).map_or(0, |at| at + 1)
            };
            let blanks = run_start(Self::is_blank, newline as usize);
            let newlines = run_start(Self::is_newline, blanks);
            let belongs_to_others = newlines > 0 && self.takes_line_ends(newlines - 1);
            if newlines < blanks && !belongs_to_others {
                self.clear(blanks);
            }
        }
    }

    /// Join the whitespace at the end of the text into one word.
    fn last_spaces(&mut self) {
        let mut later = None;
        for at in (0..self.text.len()).rev() {
            if !self.is(IS_SPACE, at) {
                break;
            }
            if self.is_start(at) {
                if let Some(later) = later.replace(at) {
                    self.clear(later);
                }
            }
        }
    }
}
