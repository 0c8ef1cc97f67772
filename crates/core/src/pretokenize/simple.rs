//! Pre-tokenizers of a few lines each: fixed lengths, and words as `\w+|[^\w\s]+` finds them.

use std::sync::LazyLock;

use crate::text::CodePointMap;

const SPACE: u8 = 1;
const WORD: u8 = 2;

static KINDS: LazyLock<CodePointMap<u8>> =
    LazyLock::new(|| CodePointMap::of_classes([(r"\s", SPACE), (r"\w", WORD)]));

/// Numbers of every kind (N), Unicode 16, and those that Unicode 17 added: tokenizers asks Rust's `char`.
pub(super) const NUMERIC_CLASSES: [&str; 3] =
    [r"\p{N}", r"[\x{11DE0}-\x{11DE9}]", r"[\x{16FF4}-\x{16FF6}]"];

static NUMERIC: LazyLock<CodePointMap<u8>> =
    LazyLock::new(|| CodePointMap::of_classes(NUMERIC_CLASSES.map(|class| (class, 1))));

/// Runs of word characters and runs of anything else but whitespace, which is dropped.
pub(super) fn cut_whitespace(text: &str, emit: &mut dyn FnMut(usize, usize)) {
    let kinds = &*KINDS;
    let (mut start, mut kind) = (0, SPACE);
    for (at, c) in text.char_indices() {
        let next = kinds.get(c);
        if next != kind {
            if kind != SPACE {
                emit(start, at);
            }
            (start, kind) = (at, next);
        }
    }
    if kind != SPACE {
        emit(start, text.len());
    }
}

/// Pieces of `length` characters; the last may be shorter.
pub(super) fn cut_lengths(text: &str, length: usize, emit: &mut dyn FnMut(usize, usize)) {
    let mut start = 0;
    for (at, _) in text.char_indices().step_by(length).skip(1) {
        emit(start, at);
        start = at;
    }
    emit(start, text.len());
}

/// A table that tells the numeric characters by 1.
pub(super) fn numeric() -> &'static CodePointMap<u8> {
    &NUMERIC
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whitespace_joins_word_characters_and_joins_the_others() {
        let text = " Don't¼ go\u{200d}x?!\n";
        let mut words = Vec::new();
        cut_whitespace(text, &mut |start, end| words.push(&text[start..end]));
        assert_eq!(words, ["Don", "'", "t", "¼", "go\u{200d}x", "?!"]);
    }

    #[test]
    fn lengths_count_characters() {
        let text = "añb漢d";
        let mut pieces = Vec::new();
        cut_lengths(text, 2, &mut |start, end| pieces.push(&text[start..end]));
        assert_eq!(pieces, ["añ", "b漢", "d"]);
    }

    #[test]
    fn numeric_is_wider_than_digits() {
        for c in ['1', '½', '四', 'Ⅷ', '\u{11DE5}'] {
            assert_eq!(numeric().get(c), u8::from(c != '四'), "{c}");
        }
    }
}
