//! Small pre-tokenizers: by classes of characters, by `\w+|[^\w\s]+`, by length and by script. Linear.

use piecework_unicode::{class_of, script_of, Class, CodePointMap, Script};

use crate::locks::LateStatic;

const SPACE: u8 = 1;
const WORD: u8 = 2;

static KINDS: LateStatic<CodePointMap<u8>> =
    LateStatic::new(|| CodePointMap::of_classes([(r"\s", SPACE), (r"\w", WORD)]));

/// Numbers (category N) of Unicode 16, and those that Unicode 17 added: tokenizers calls Rust's
/// `char::is_numeric`.
pub(super) const NUMERIC_CLASSES: [&str; 3] =
    [r"\p{N}", r"[\x{11DE0}-\x{11DE9}]", r"[\x{16FF4}-\x{16FF6}]"];

static NUMERIC: LateStatic<CodePointMap<u8>> =
    LateStatic::new(|| CodePointMap::of_classes(NUMERIC_CLASSES.map(|class| (class, 1))));

/// `Whitespace`: split runs of word characters and runs of other characters; remove whitespace.
pub(super) fn split_whitespace(text: &str, emit: &mut dyn FnMut(usize, usize)) {
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

/// `FixedLength`: split words of `length` characters; the last may be shorter.
pub(super) fn split_lengths(text: &str, length: usize, emit: &mut dyn FnMut(usize, usize)) {
    let mut start = 0;
    for (at, _) in text.char_indices().step_by(length).skip(1) {
        emit(start, at);
        start = at;
    }
    emit(start, text.len());
}

/// Return the table in which numeric characters have the value 1.
pub(super) fn numeric() -> &'static CodePointMap<u8> {
    &NUMERIC
}

/// Remove characters of `removed` and isolate characters of `isolated`.
pub(super) fn split_at_classes(
    text: &str,
    removed: Option<Class>,
    isolated: Option<Class>,
    mut emit: impl FnMut(usize, usize),
) {
    let is = |class: Class, wanted: Option<Class>| wanted.is_some_and(|wanted| class.has(wanted));
    let mut start = 0;
    for (at, c) in text.char_indices() {
        let class = class_of(c);
        let (drops, stands_alone) = (is(class, removed), is(class, isolated));
        if !drops && !stands_alone {
            continue;
        }
        if start < at {
            emit(start, at);
        }
        start = at + c.len_utf8();
        if stands_alone {
            emit(at, start);
        }
    }
    if start < text.len() {
        emit(start, text.len());
    }
}

/// `UnicodeScripts`: split runs of one script; remove text before the first character with a script.
pub(super) fn split_at_scripts(text: &str, emit: &mut dyn FnMut(usize, usize)) {
    let script_of = script_of();
    let (mut start, mut script) = (0, Script::NONE);
    for (at, c) in text.char_indices() {
        let next = script_of(c);
        if next != Script::NONE && next != script {
            if script != Script::NONE {
                emit(start, at);
            }
            (start, script) = (at, next);
        }
    }
    if script != Script::NONE {
        emit(start, text.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whitespace_separates_runs_of_word_characters_and_of_others() {
        let text = " Don't¼ go\u{200d}x?!\n";
        let mut words = Vec::new();
        split_whitespace(text, &mut |start, end| words.push(&text[start..end]));
        assert_eq!(words, ["Don", "'", "t", "¼", "go\u{200d}x", "?!"]);
    }

    #[test]
    fn fixed_lengths_count_characters() {
        let text = "añb漢d";
        let mut words = Vec::new();
        split_lengths(text, 2, &mut |start, end| words.push(&text[start..end]));
        assert_eq!(words, ["añ", "b漢", "d"]);
    }

    #[test]
    fn numeric_characters_are_more_than_digits() {
        for c in ['1', '½', '四', 'Ⅷ', '\u{11DE5}'] {
            assert_eq!(numeric().get(c), u8::from(c != '四'), "{c}");
        }
    }

    fn scripts(text: &str) -> Vec<&str> {
        let mut words = Vec::new();
        split_at_scripts(text, &mut |start, end| words.push(&text[start..end]));
        words
    }

    #[test]
    fn splits_between_scripts() {
        assert_eq!(scripts("どこで生れ。Yes"), ["どこで生れ", "。", "Yes"]);
        assert_eq!(scripts("Apples are りんご 林檎"), ["Apples are ", "りんご 林檎"]);
        assert_eq!(scripts("ラーメンx\u{301}y"), ["ラーメン", "x", "\u{301}", "y"]);
    }

    #[test]
    fn drops_leading_spaces_as_tokenizers_does() {
        assert_eq!(scripts("  a b"), ["a b"]);
        assert!(scripts("  ").is_empty());
    }
}
