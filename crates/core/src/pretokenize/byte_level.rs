//! Byte level: words by GPT-2's pattern, then every byte as a printable character.
//!
//! The pattern is that of GPT-2's published encoder,
//! `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`, here as a scanner: one pass,
//! linear, no regular expression.

use std::sync::LazyLock;

use crate::spec::ByteLevelSpec;
use crate::text::{printable_of, CharTable, NormalizedSink, Pieces};

const SPACE: u8 = 1;
const LETTER: u8 = 2;
const NUMBER: u8 = 3;

static KINDS: LazyLock<Kinds> = LazyLock::new(Kinds::new);

/// The kind of every character, ASCII apart for speed.
struct Kinds {
    ascii: [u8; 128],
    all: CharTable,
}

impl Kinds {
    fn new() -> Self {
        let all = CharTable::new([(r"\s", SPACE), (r"\p{L}", LETTER), (r"\p{N}", NUMBER)]);
        Self { ascii: std::array::from_fn(|byte| all.get(char::from(byte as u8))), all }
    }

    #[inline]
    fn get(&self, c: char) -> u8 {
        self.ascii.get(c as usize).copied().unwrap_or_else(|| self.all.get(c))
    }
}

/// Cut every piece into words and write it anew, a character for each byte.
pub(super) fn run(spec: ByteLevelSpec, pieces: &mut Pieces) {
    if spec.add_prefix_space {
        pieces.rewrite(|text, _, out| {
            if let Some(first) = text.chars().next().filter(|&first| first != ' ') {
                out.push_from(' ', (0, first.len_utf8() as u32));
            }
            out.push_unchanged(text, 0);
        });
    }
    if spec.use_regex {
        pieces.split(cut);
    }
    pieces.rewrite(|text, _, out| {
        for (at, c) in text.char_indices() {
            let source = (at as u32, (at + c.len_utf8()) as u32);
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                out.push_from(printable_of(byte), source);
            }
        }
    });
}

/// Cut a text into the words of the pattern.
pub(super) fn cut(text: &str, emit: &mut dyn FnMut(usize, usize)) {
    let kinds = &*KINDS;
    let mut start = 0;
    while start < text.len() {
        let end = start + word_len(kinds, &text[start..]);
        emit(start, end);
        start = end;
    }
}

/// The length in bytes of the word that a text, not empty, begins with.
fn word_len(kinds: &Kinds, text: &str) -> usize {
    if let Some(len) = contraction_len(text.as_bytes()) {
        return len;
    }
    let mut chars = text.chars();
    let first = chars.next().unwrap_or(' ');
    let first_kind = kinds.get(first);
    if first_kind != SPACE {
        return run_len(kinds, text, first_kind);
    }
    match chars.next().map(|second| kinds.get(second)) {
        Some(second_kind) if first == ' ' && second_kind != SPACE => {
            1 + run_len(kinds, &text[1..], second_kind)
        }
        _ => spaces_len(kinds, text),
    }
}

/// `'s|'t|'re|'ve|'m|'ll|'d`
fn contraction_len(text: &[u8]) -> Option<usize> {
    match text {
        [b'\'', b's' | b't' | b'm' | b'd', ..] => Some(2),
        [b'\'', b'r' | b'v', b'e', ..] | [b'\'', b'l', b'l', ..] => Some(3),
        _ => None,
    }
}

fn run_len(kinds: &Kinds, text: &str, kind: u8) -> usize {
    let ascii = |byte: &u8| kinds.ascii.get(usize::from(*byte)).is_some_and(|&found| found == kind);
    let at = text.bytes().take_while(ascii).count();
    if text.as_bytes().get(at).is_none_or(u8::is_ascii) {
        return at;
    }
    let rest = &text[at..];
    at + rest.char_indices().find(|&(_, c)| kinds.get(c) != kind).map_or(rest.len(), |(at, _)| at)
}

/// `\s+(?!\S)|\s+`: all but the last of the spaces before something else, and at least one.
fn spaces_len(kinds: &Kinds, text: &str) -> usize {
    let mut last = 0;
    for (at, c) in text.char_indices() {
        if kinds.get(c) != SPACE {
            return if last == 0 { at } else { last };
        }
        last = at;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let mut words = Vec::new();
        cut(text, &mut |start, end| words.push(&text[start..end]));
        words
    }

    #[test]
    fn cuts_as_the_pattern_does() {
        assert_eq!(
            words("I'll  go, 'tis 12½%\n\n x\t"),
            ["I", "'ll", " ", " go", ",", " '", "tis", " 12½", "%", "\n\n", " x", "\t"]
        );
        assert_eq!(words("a\n b\u{3000}\u{3000}c  "), ["a", "\n", " b", "\u{3000}", "\u{3000}", "c", "  "]);
    }
}
