//! Small pre-tokenizers: splits by classes of characters, by `\w+|[^\w\s]+`, by length and by script; the five behaviours
//! of a split at matches; and `ByteLevel` and `Metaspace`, which rewrite the text. Linear.
//!
//! The pattern of `ByteLevel` comes from GPT-2's published encoder:
//! `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`.

use piecework_unicode::{class_of, script_of, Class, CodePointMap, Script};

use super::scanners::Scanner;
use crate::locks::LateStatic;
use crate::spec::{ByteLevelSpec, MetaspaceSpec, PrependScheme, SplitBehavior};
use crate::text::{printable_of, NormalizedSink, PreTokenizedText};

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

/// Turns matches, from left to right, into words.
pub(super) struct MatchSplitter<'e> {
    behavior: SplitBehavior,
    /// Treats the text between matches as the matches.
    invert: bool,
    /// The end of the last match.
    at: usize,
    /// A word that may still grow.
    pending: Option<(usize, usize)>,
    last_is_match: bool,
    emit: &'e mut dyn FnMut(usize, usize),
}

impl<'e> MatchSplitter<'e> {
    pub(super) fn new(
        behavior: SplitBehavior,
        invert: bool,
        emit: &'e mut dyn FnMut(usize, usize),
    ) -> Self {
        Self { behavior, invert, at: 0, pending: None, last_is_match: false, emit }
    }

    /// Add the next match, which may be empty.
    #[inline]
    pub(super) fn matched(&mut self, start: usize, end: usize) {
        if self.at != start {
            self.part(self.at, start, self.invert);
        }
        self.part(start, end, !self.invert);
        self.at = end;
    }

    /// End the text.
    pub(super) fn finish(mut self, len: usize) {
        if self.at != len {
            self.part(self.at, len, self.invert);
        }
        self.release();
    }

    fn part(&mut self, start: usize, end: usize, is_match: bool) {
        let extends_pending = match self.behavior {
            SplitBehavior::Removed if is_match => return,
            SplitBehavior::Removed | SplitBehavior::Isolated => return (self.emit)(start, end),
            SplitBehavior::Contiguous => is_match == self.last_is_match,
            SplitBehavior::MergedWithPrevious => is_match && !self.last_is_match,
            SplitBehavior::MergedWithNext => !is_match && self.last_is_match,
        };
        self.last_is_match = is_match;
        match &mut self.pending {
            Some(pending) if extends_pending => pending.1 = end,
            _ => {
                self.release();
                self.pending = Some((start, end));
            }
        }
    }

    fn release(&mut self) {
        if let Some((start, end)) = self.pending.take() {
            (self.emit)(start, end);
        }
    }
}

/// Split a text at the characters for which `is_match` holds.
pub(super) fn split_at_chars(
    text: &str,
    behavior: SplitBehavior,
    emit: &mut dyn FnMut(usize, usize),
    is_match: impl Fn(char) -> bool,
) {
    let mut splitter = MatchSplitter::new(behavior, false, emit);
    for (at, c) in text.char_indices() {
        if is_match(c) {
            splitter.matched(at, at + c.len_utf8());
        }
    }
    splitter.finish(text.len());
}

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

#[cfg(test)]
mod split_tests {
    use super::*;

    fn words(text: &str, behavior: SplitBehavior) -> Vec<&str> {
        let mut words = Vec::new();
        split_at_chars(text, behavior, &mut |start, end| words.push(&text[start..end]), |c| c == '-');
        words
    }

    #[test]
    fn each_behavior_places_the_matches() {
        let text = "the-final--countdown-";
        assert_eq!(words(text, SplitBehavior::Removed), ["the", "final", "countdown"]);
        assert_eq!(words(text, SplitBehavior::Isolated), ["the", "-", "final", "-", "-", "countdown", "-"]);
        assert_eq!(words(text, SplitBehavior::MergedWithPrevious), ["the-", "final-", "-", "countdown-"]);
        assert_eq!(words(text, SplitBehavior::MergedWithNext), ["the", "-final", "-", "-countdown", "-"]);
        assert_eq!(words(text, SplitBehavior::Contiguous), ["the", "-", "final", "--", "countdown", "-"]);
        assert_eq!(words("--a", SplitBehavior::MergedWithPrevious), ["-", "-", "a"]);
        assert_eq!(words("--a", SplitBehavior::Contiguous), ["--", "a"]);
    }
}

#[cfg(test)]
mod rewrite_tests {
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
