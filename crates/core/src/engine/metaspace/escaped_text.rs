//! Splits the escaped text of a word into pre-tokens and parts, and makes the cache keys of parts.

use super::word_rules::{WordLayout, WordRules};
use crate::model::SplitRule;
use crate::text::{METASPACE, METASPACE_STR};
use crate::word_key::{block_at, WordKey, MAX_KEY_BYTES};

/// A byte that never occurs in UTF-8.
const NO_TEXT: u8 = 0xFF;

impl WordRules {
    /// Returns the key of a short part. It is the key of the word with that escaped text if there is one, otherwise a key
    /// that no word has.
    #[inline]
    pub(super) fn key_of_part(&self, escaped: &str, start: usize, end: usize) -> Option<WordKey> {
        let bytes = escaped.as_bytes();
        let mut from = start;
        while self.layout != WordLayout::WhitespaceSplit
            && bytes[from..end].starts_with(METASPACE_STR.as_bytes())
        {
            from += METASPACE_STR.len();
        }
        let spaces = (b' ', (from - start) / METASPACE_STR.len());
        match self.layout {
            WordLayout::Escaped(_) => key_after((0, 0), bytes, start, end),
            WordLayout::SpaceRuns(_) => key_after(spaces, bytes, from, end),
            WordLayout::SingleSpace if self.is_unchanged(&escaped[from..end]) => {
                key_after(spaces, bytes, from, end)
            }
            _ => key_after((NO_TEXT, 1), bytes, start, end),
        }
    }

    /// Emits the span of every part of an escaped word, and whether the part begins a pre-token. No piece or merge crosses
    /// the boundary between two parts.
    pub(super) fn parts(&self, escaped: &str, mut visit: impl FnMut(usize, usize, bool)) {
        self.pre_tokens(escaped, |start, end| match &self.pairs {
            Some(pairs) => {
                let chars = escaped[start..end].char_indices();
                pairs.split(chars, end - start, |from, to| visit(start + from, start + to, from == 0));
            }
            None => visit(start, end, true),
        });
    }

    /// Emits the span of every pre-token of an escaped word.
    pub(super) fn pre_tokens(&self, escaped: &str, mut visit: impl FnMut(usize, usize)) {
        match self.layout {
            WordLayout::WhitespaceSplit => split_before_metaspace(escaped, visit),
            WordLayout::Escaped(_) if !escaped.is_empty() => visit(0, escaped.len()),
            WordLayout::Escaped(_) => {}
            _ => split_all(SplitRule::BeforeSpace, escaped, visit),
        }
    }
}

/// Returns the key of `count` times the byte `first` and then `text[from..end]`; `None` if it is too long.
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

/// Emits the spans between which a `▁` begins.
fn split_before_metaspace(text: &str, mut visit: impl FnMut(usize, usize)) {
    let mut start = 0;
    for (at, _) in text.match_indices(METASPACE).filter(|&(at, _)| at > 0) {
        visit(start, at);
        start = at;
    }
    if start < text.len() {
        visit(start, text.len());
    }
}

/// Emits the span of every word of a split rule.
pub(super) fn split_all(rule: SplitRule, text: &str, mut visit: impl FnMut(usize, usize)) {
    let mut start = 0;
    while start < text.len() {
        let end = rule.next(text, start);
        visit(start, end);
        start = end;
    }
}
