//! CLIP's pattern: contractions, runs of letters, single digits, runs of other characters. Whitespace
//! belongs to no word.
//!
//! The byte-level pattern after it changes none of these words except the two special tokens in raw text,
//! which it splits like other text. So only a word boundary remains after them.

use super::boundary_rules::{AmbiguousBytes, BlockContext, BoundaryMask};
use super::classes::{CLASSES, NUMBER};
use super::kind_text::{contraction_end, KindText};
use super::scanner::Scanner;

/// The pattern; matches are kept and the text between them is removed.
pub(in super::super) const CLIP: &str =
    r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+";

const SPECIAL: [&str; 2] = ["<|startoftext|>", "<|endoftext|>"];

/// Return the end of the special token at a byte, if there is one.
fn special_end(text: &str, at: usize) -> Option<usize> {
    SPECIAL.iter().find(|special| text[at..].starts_with(**special)).map(|special| at + special.len())
}

/// Split a text character by character, with whitespace as words.
pub(super) fn split(text: &KindText, emit: &mut dyn FnMut(usize, usize)) {
    let mut start = 0;
    while let Some((kind, next)) = text.at(start) {
        let end = match special_end(text.text, start) {
            Some(end) => {
                emit(start, start + 2);
                emit(start + 2, end - 2);
                start = end - 2;
                end
            }
            None => word_end(text, start, kind, next),
        };
        emit(start, end);
        start = end;
    }
}

fn word_end(text: &KindText, start: usize, kind: u8, next: usize) -> usize {
    let end = contraction_end(text.text, start, false);
    if end > start {
        return end;
    }
    if kind & NUMBER != 0 {
        next
    } else {
        text.alike(next, kind, CLASSES)
    }
}

impl Scanner {
    /// Return the starts of runs of one class, and of single digits.
    #[inline(always)]
    pub(super) fn clip(self, context: &BlockContext, ambiguous: &mut AmbiguousBytes) -> u64 {
        let now = &context.current;
        let others = context.first(|b| b.other);
        ambiguous.add_contractions(context.base, now.apostrophe & others & context.before(1, |b| b.letter));
        let runs = others | context.first(|b| b.letter) | context.first(|b| b.space);
        runs | self.numbers(context, ambiguous)
    }
}

impl BoundaryMask<'_> {
    /// Set boundaries at the ends of special tokens.
    pub(super) fn specials(&mut self) {
        let text = self.text;
        for at in memchr::memmem::find_iter(text.as_bytes(), "<|") {
            if !self.is_start(at) {
                continue;
            }
            let Some(mut end) = special_end(text, at) else { continue };
            self.set(end);
            let after = contraction_end(text, end, false);
            if after > end {
                self.clear(end + 1);
                end = after;
                self.set(end);
            }
        }
    }
}
