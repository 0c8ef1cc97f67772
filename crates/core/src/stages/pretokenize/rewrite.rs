//! `ByteLevel` and `Metaspace`: pre-tokenizers that rewrite the text.
//!
//! The pattern of `ByteLevel` is that of GPT-2's published encoder,
//! `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`.

use super::scanners::Scanner;
use super::split::split_at_chars;
use crate::spec::{ByteLevelSpec, MetaspaceSpec, PrependScheme, SplitBehavior};
use crate::text::{printable_of, NormalizedSink, PreTokenizedText};

/// `ByteLevel`: split every word by GPT-2's pattern and map its bytes to printable characters.
pub(super) fn byte_level(spec: ByteLevelSpec, words: &mut PreTokenizedText) {
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

/// `Metaspace`: replace the spaces of every word by a metaspace and write one before the text, then split before each metaspace.
pub(super) fn metaspace(spec: MetaspaceSpec, words: &mut PreTokenizedText) {
    let mark = spec.replacement;
    words.rewrite(|text, is_first, out| {
        let prepends = match spec.prepend_scheme {
            PrependScheme::Always => true,
            PrependScheme::First => is_first,
            PrependScheme::Never => false,
        };
        for (at, c) in text.char_indices() {
            let source = (at as u32, (at + c.len_utf8()) as u32);
            let marked = if c == ' ' { mark } else { c };
            if at == 0 && prepends && marked != mark {
                out.push_from(mark, source);
            }
            out.push_from(marked, source);
        }
    });
    if spec.split {
        words.split(|text, emit| split_at_chars(text, SplitBehavior::MergedWithNext, emit, |c| c == mark));
    }
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
