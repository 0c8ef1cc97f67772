//! The marked text of a word: its pre-tokens, its parts and their keys.

use super::form::{Form, Layout, MARK, MARK_TEXT};
use crate::model::SplitRule;
use crate::word_key::{block_at, WordKey, MAX_KEY_BYTES};

/// A byte that UTF-8 never has.
const NO_TEXT: u8 = 0xFF;

impl Form {
    /// The key of a part of a marked word, if it is short: that of the word which it is the marked text of, or else one
    /// that no word has.
    #[inline]
    pub(super) fn key_of_part(&self, marked: &str, start: usize, end: usize) -> Option<WordKey> {
        let bytes = marked.as_bytes();
        let mut from = start;
        while self.layout != Layout::Apart && bytes[from..end].starts_with(MARK_TEXT.as_bytes()) {
            from += MARK_TEXT.len();
        }
        let spaces = (b' ', (from - start) / MARK_TEXT.len());
        match self.layout {
            Layout::Marked(_) => key_after((0, 0), bytes, start, end),
            Layout::Runs(_) => key_after(spaces, bytes, from, end),
            Layout::Single if self.keeps(&marked[from..end]) => key_after(spaces, bytes, from, end),
            _ => key_after((NO_TEXT, 1), bytes, start, end),
        }
    }

    /// Give the span of every part of the marked text of a word between whose borders no piece or merge crosses, and
    /// whether the part begins a pre-token.
    pub(super) fn parts(&self, marked: &str, mut visit: impl FnMut(usize, usize, bool)) {
        self.pre_tokens(marked, |start, end| match &self.pairs {
            Some(pairs) => {
                let chars = marked[start..end].char_indices();
                pairs.split(chars, end - start, |from, to| visit(start + from, start + to, from == 0));
            }
            None => visit(start, end, true),
        });
    }

    /// Give the span of every pre-token of the marked text of a word.
    pub(super) fn pre_tokens(&self, marked: &str, mut visit: impl FnMut(usize, usize)) {
        match self.layout {
            Layout::Apart => cut_before_marks(marked, visit),
            Layout::Marked(_) if !marked.is_empty() => visit(0, marked.len()),
            Layout::Marked(_) => {}
            _ => cut_all(SplitRule::BeforeSpace, marked, visit),
        }
    }
}

/// The key of the bytes of a text from `from` to `end` behind so many times another byte, if they are short.
#[inline]
fn key_after((first, count): (u8, usize), text: &[u8], from: usize, end: usize) -> Option<WordKey> {
    let len = count + end - from;
    if len > MAX_KEY_BYTES {
        return None;
    }
    let before = u128::from_le_bytes([first; 16]) & !(u128::MAX << (8 * count));
    let block = block_at(text, from) << (8 * count) | before;
    Some(WordKey::from_block(block, len))
}

fn cut_before_marks(text: &str, mut visit: impl FnMut(usize, usize)) {
    let mut start = 0;
    for (at, _) in text.match_indices(MARK).filter(|&(at, _)| at > 0) {
        visit(start, at);
        start = at;
    }
    if start < text.len() {
        visit(start, text.len());
    }
}

/// Emit the span of every part between two cuts.
pub(super) fn cut_all(cut: SplitRule, text: &str, mut visit: impl FnMut(usize, usize)) {
    let mut start = 0;
    while start < text.len() {
        let end = cut.next(text, start);
        visit(start, end);
        start = end;
    }
}
