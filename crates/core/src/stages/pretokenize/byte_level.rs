//! `ByteLevel`: words by GPT-2's pattern, then a printable character for each byte.
//!
//! The pattern is that of GPT-2's published encoder,
//! `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`.

use super::scanners::Scanner;
use crate::spec::ByteLevelSpec;
use crate::text::{printable_of, NormalizedSink, PreTokenizedText};

/// Split every word by the pattern and map its bytes to printable characters.
pub(super) fn run(spec: ByteLevelSpec, words: &mut PreTokenizedText) {
    if spec.add_prefix_space {
        words.rewrite(|text, _, out| {
            if let Some(first) = text.chars().next().filter(|&first| first != ' ') {
                out.push_from(' ', (0, first.len_utf8() as u32));
            }
            out.push_unchanged(text, 0);
        });
    }
    if spec.use_regex {
        words.split(|text, emit| Scanner::GPT2.split(text, emit));
    }
    words.rewrite(|text, _, out| {
        for (at, c) in text.char_indices() {
            let source = (at as u32, (at + c.len_utf8()) as u32);
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                out.push_from(printable_of(byte), source);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let mut words = Vec::new();
        Scanner::GPT2.split(text, &mut |start, end| words.push(&text[start..end]));
        words
    }

    #[test]
    fn the_scalar_scanner_splits_as_the_pattern() {
        assert_eq!(
            words("I'll  go, 'tis 12½%\n\n x\t"),
            ["I", "'ll", " ", " go", ",", " '", "tis", " 12½", "%", "\n\n", " x", "\t"]
        );
        assert_eq!(words("a\n b\u{3000}\u{3000}c  "), ["a", "\n", " b", "\u{3000}", "\u{3000}", "c", "  "]);
    }
}
