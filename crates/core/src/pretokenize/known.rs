//! Scanners for the split patterns of well-known models, equal to their regular expressions on every text.
//!
//! Two families: cl100k (Llama 3; with single digits Qwen), where a word is a run of letters, and o200k
//! (tekken), where capitals may only begin one. Known by the very text of the pattern; linear, one pass.

use std::sync::LazyLock;

use crate::text::CharTable;

/// `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*` and spaces.
const CL100K: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const QWEN2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const O200K: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const TEKKEN: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

const SPACE: u8 = 1;
const NEWLINE: u8 = 2;
const NUMBER: u8 = 4;
const LETTER: u8 = 8;
/// What the upper part of a word may hold: capitals, letters without case, marks.
const UPPER: u8 = 16;
/// What the lower part may hold: small letters, letters without case, marks.
const LOWER: u8 = 32;

static KINDS: LazyLock<CharTable> = LazyLock::new(|| {
    CharTable::new([
        (r"\s", SPACE),
        (r"[\r\n]", SPACE | NEWLINE),
        (r"\p{N}", NUMBER),
        (r"[\p{Lu}\p{Lt}]", LETTER | UPPER),
        (r"\p{Ll}", LETTER | LOWER),
        (r"[\p{Lm}\p{Lo}]", LETTER | UPPER | LOWER),
        (r"\p{M}", UPPER | LOWER),
    ])
});

/// A known pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scanner {
    /// Capitals begin a word.
    cased: bool,
    /// `'s` and the like: words of their own, or with `cased` the end of one.
    contractions: bool,
    max_digits: usize,
}

impl Scanner {
    /// The scanner of a pattern, if it is a known one.
    pub(super) fn of(pattern: &str) -> Option<Self> {
        match pattern {
            CL100K => Some(Self { cased: false, contractions: true, max_digits: 3 }),
            QWEN2 => Some(Self { cased: false, contractions: true, max_digits: 1 }),
            O200K => Some(Self { cased: true, contractions: true, max_digits: 3 }),
            TEKKEN => Some(Self { cased: true, contractions: false, max_digits: 1 }),
            _ => None,
        }
    }

    /// Cut a text at every match; the matches leave nothing out.
    pub(super) fn cut(self, text: &str, emit: &mut dyn FnMut(usize, usize)) {
        let text = Text { text, kinds: &KINDS };
        let mut start = 0;
        while let Some((kind, next)) = text.at(start) {
            let end = self.word_end(&text, start, kind, next);
            emit(start, end);
            start = end;
        }
    }

    /// Where the match ends that begins at byte `start` with a character of a kind, `next` after it.
    #[inline]
    fn word_end(self, text: &Text, start: usize, kind: u8, next: usize) -> usize {
        let letters = if self.cased {
            self.cased_word(text, start, kind, next)
        } else {
            self.plain_word(text, start, kind, next)
        };
        if let Some(end) = letters {
            return end;
        }
        if kind & NUMBER != 0 {
            return text.run(next, NUMBER, self.max_digits - 1);
        }
        let marks = if text.byte(start) == b' ' { next } else { start };
        match text.at(marks) {
            Some((kind, next)) if kind & (SPACE | NUMBER | LETTER) == 0 => self.marks_end(text, next),
            _ => text.spaces_end(start),
        }
    }

    /// A contraction, or `[^\r\n\p{L}\p{N}]?\p{L}+`.
    #[inline]
    fn plain_word(self, text: &Text, start: usize, kind: u8, next: usize) -> Option<usize> {
        let end = text.contraction_end(start);
        if end > start {
            return Some(end);
        }
        let first = if kind & LETTER != 0 { start } else { next };
        let may_lead = kind & (NEWLINE | NUMBER) == 0;
        let end = if may_lead { text.run(first, LETTER, usize::MAX) } else { first };
        (end > first).then_some(end)
    }

    /// Capitals then small letters, with any one character before; either part may be missing.
    ///
    /// A pattern tries: small letters at the end, with a leading character and without; then capitals alone,
    /// with it and without.
    #[inline]
    fn cased_word(self, text: &Text, start: usize, kind: u8, next: usize) -> Option<usize> {
        let leading = (kind & (NEWLINE | NUMBER | LETTER) == 0).then_some(next);
        let bare = (kind & (UPPER | LOWER) != 0).then_some(start);
        let froms = || leading.into_iter().chain(bare);
        let end = froms().find_map(|from| text.mixed_end(from)).or_else(|| {
            froms().find_map(|from| Some(text.run(from, UPPER, usize::MAX)).filter(|&end| end > from))
        })?;
        Some(if self.contractions { text.contraction_end(end) } else { end })
    }

    /// `[^\s\p{L}\p{N}]+[\r\n]*`, with slashes among the newlines where capitals count.
    fn marks_end(self, text: &Text, from: usize) -> usize {
        let mut end = from;
        while let Some((kind, next)) = text.at(end) {
            if kind & (SPACE | NUMBER | LETTER) != 0 {
                break;
            }
            end = next;
        }
        while matches!(text.byte(end), b'\r' | b'\n') || (self.cased && text.byte(end) == b'/') {
            end += 1;
        }
        end
    }
}

/// A text with the kinds of its characters.
struct Text<'t> {
    text: &'t str,
    kinds: &'t CharTable,
}

impl Text<'_> {
    /// The kind of the character at a byte and where the next one begins.
    #[inline(always)]
    fn at(&self, at: usize) -> Option<(u8, usize)> {
        let byte = *self.text.as_bytes().get(at)?;
        if byte < 0x80 {
            return Some((self.kinds.get(char::from(byte)), at + 1));
        }
        self.at_wide(at)
    }

    #[cold]
    fn at_wide(&self, at: usize) -> Option<(u8, usize)> {
        let c = self.text[at..].chars().next()?;
        Some((self.kinds.get(c), at + c.len_utf8()))
    }

    /// The byte there, 0 at the end.
    #[inline]
    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// Where a run of at most `most` characters of a kind ends.
    #[inline]
    fn run(&self, from: usize, kinds: u8, most: usize) -> usize {
        let (mut end, mut count) = (from, 0);
        while let Some((kind, next)) = self.at(end) {
            if kind & kinds == 0 || count == most {
                break;
            }
            end = next;
            count += 1;
        }
        end
    }

    /// `[upper]*[lower]+`: the upper part gives back no more than it must.
    #[inline]
    fn mixed_end(&self, from: usize) -> Option<usize> {
        let (mut at, mut last_lower) = (from, None);
        while let Some((kind, next)) = self.at(at) {
            if kind & UPPER == 0 {
                break;
            }
            if kind & LOWER != 0 {
                last_lower = Some(next);
            }
            at = next;
        }
        let end = self.run(at, LOWER, usize::MAX);
        if end > at {
            Some(end)
        } else {
            last_lower
        }
    }

    /// Where `(?i:'s|'t|'re|'ve|'m|'ll|'d)` ends, `from` if it is not there. The long s is an s.
    #[inline]
    fn contraction_end(&self, from: usize) -> usize {
        if self.byte(from) != b'\'' {
            return from;
        }
        let letters = (self.byte(from + 1).to_ascii_lowercase(), self.byte(from + 2).to_ascii_lowercase());
        match letters {
            (b's' | b't' | b'm' | b'd', _) => from + 2,
            (b'r' | b'v', b'e') | (b'l', b'l') => from + 3,
            _ if self.text[from + 1..].starts_with('ſ') => from + 1 + 'ſ'.len_utf8(),
            _ => from,
        }
    }

    /// `\s*[\r\n]+|\s+(?!\S)|\s+`: up to the last newline of the run, else all but its last character.
    fn spaces_end(&self, start: usize) -> usize {
        let (mut end, mut last, mut after_newline) = (start, start, None);
        while let Some((kind, next)) = self.at(end) {
            if kind & SPACE == 0 {
                break;
            }
            (last, end) = (end, next);
            if kind & NEWLINE != 0 {
                after_newline = Some(end);
            }
        }
        match after_newline {
            Some(after) => after,
            None if end == self.text.len() || last == start => end,
            None => last,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::PatternSpec;
    use crate::text::Pattern;

    const PATTERNS: [&str; 4] = [CL100K, QWEN2, O200K, TEKKEN];

    fn check(pattern: &str, regex: &Pattern, text: &str) {
        let (mut found, mut expected) = (Vec::new(), Vec::new());
        Scanner::of(pattern).unwrap().cut(text, &mut |start, end| found.push((start, end)));
        regex.for_each_match(text, |start, end| expected.push((start, end))).unwrap();
        assert_eq!(found, expected, "{text:?} by {pattern}");
    }

    fn compiled(pattern: &str) -> Pattern {
        Pattern::compile(&PatternSpec::Regex(pattern.into()), "pattern").unwrap()
    }

    #[test]
    fn every_code_point_is_cut_as_by_the_pattern() {
        for pattern in PATTERNS {
            let regex = compiled(pattern);
            let mut text = String::new();
            for (count, c) in ('\0'..=char::MAX).enumerate() {
                for part in ["", " ", "a", "A", "'", "1", "\n", " '"] {
                    text.push_str(part);
                    text.push(c);
                }
                text.push_str("a x");
                if count % 512 == 0 {
                    check(pattern, &regex, &text);
                    text.clear();
                }
            }
            check(pattern, &regex, &text);
        }
    }

    #[test]
    fn random_texts_are_cut_as_by_the_pattern() {
        let letters: Vec<char> =
            "aeslmtdrvSTLRVEDMZ  \n\r\t\u{a0}\u{3000}'''1٣½!./-ǅʰ漢か\u{301}\u{5b0}ſé😀".chars().collect();
        let mut state = 7u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for pattern in PATTERNS {
            let regex = compiled(pattern);
            for _ in 0..10_000 {
                let length = random(12);
                let text: String = (0..length).map(|_| letters[random(letters.len())]).collect();
                check(pattern, &regex, &text);
            }
        }
    }
}
