//! The scanners character by character: what the patterns mean, and what the others are held to.

use std::sync::LazyLock;

use super::classes::Table;
use super::{bloom, clip, deepseek, Family, Scanner, Trail};
use crate::pretokenize::simple::NUMERIC_CLASSES;
use crate::text::CodePointMap;

pub(super) const SPACE: u8 = 1;
pub(super) const NEWLINE: u8 = 2;
pub(super) const NUMBER: u8 = 4;
pub(super) const LETTER: u8 = 8;
/// What the upper part of a word may hold: capitals, letters without case, marks.
pub(super) const UPPER: u8 = 16;
/// What the lower part may hold: small letters, letters without case, marks.
pub(super) const LOWER: u8 = 32;
/// What tells a character from the others of a pattern.
pub(super) const CLASSES: u8 = SPACE | NUMBER | LETTER;
/// A character of a word of Chinese characters, where those stand apart.
pub(super) const HAN: u8 = 64;

const KINDS_OF_CLASSES: [(&str, u8); 7] = [
    (r"\s", SPACE),
    (r"[\r\n]", SPACE | NEWLINE),
    (r"\p{N}", NUMBER),
    (r"[\p{Lu}\p{Lt}]", LETTER | UPPER),
    (r"\p{Ll}", LETTER | LOWER),
    (r"[\p{Lm}\p{Lo}]", LETTER | UPPER | LOWER),
    (r"\p{M}", UPPER | LOWER),
];

pub(super) static KINDS: LazyLock<CodePointMap<u8>> =
    LazyLock::new(|| CodePointMap::of_classes(KINDS_OF_CLASSES));

/// Where marks are letters.
pub(super) static MARKED: LazyLock<CodePointMap<u8>> =
    LazyLock::new(|| CodePointMap::of_classes(KINDS_OF_CLASSES.into_iter().chain([(r"\p{M}", LETTER)])));

/// Where Chinese characters stand apart: as letters they have no case, and may be numbers or others too.
pub(super) static HAN_APART: LazyLock<CodePointMap<u8>> = LazyLock::new(|| {
    let han = [(r"\p{Han}", HAN), (r"[\p{Han}&&\p{L}]", HAN | LETTER), (r"[\p{Han}&&\p{N}]", HAN | NUMBER)];
    CodePointMap::of_classes(KINDS_OF_CLASSES.into_iter().chain(han))
});

/// Where numbers are those of the pre-tokenizer for digits.
pub(super) static NUMERIC: LazyLock<CodePointMap<u8>> = LazyLock::new(|| {
    CodePointMap::of_classes(
        KINDS_OF_CLASSES.into_iter().chain(NUMERIC_CLASSES.map(|class| (class, NUMBER))),
    )
});

impl Scanner {
    /// Cut a text into words: all that the pattern matches, but spaces where they are no words.
    pub(super) fn words_by_chars(self, text: &str, emit: &mut dyn FnMut(usize, usize)) {
        if self.family != Family::Clip {
            return self.cut_by_chars(text, emit);
        }
        let whole = Text { text, kinds: Table::of(self.alphabet).kinds };
        self.cut_by_chars(text, &mut |start, end| {
            if whole.at(start).is_some_and(|(kind, _)| kind & SPACE == 0) {
                emit(start, end);
            }
        });
    }

    /// Cut a text at every match; the matches leave nothing out.
    pub(super) fn cut_by_chars(self, text: &str, emit: &mut dyn FnMut(usize, usize)) {
        let whole = Text { text, kinds: Table::of(self.alphabet).kinds };
        match self.family {
            Family::Zoned => deepseek::cut(&whole, self.max_digits, emit),
            Family::Clip => clip::cut(&whole, emit),
            Family::Bloom => bloom::cut_bloom(&whole, emit),
            Family::Coder => bloom::cut_coder(&whole, emit),
            _ if self.between_numbers => {
                let cut = |text: &Text, emit: &mut dyn FnMut(usize, usize)| self.cut_words(text, emit);
                deepseek::cut_zones(&whole, NUMBER, self.max_digits, cut, emit);
            }
            _ => self.cut_words(&whole, emit),
        }
    }

    fn cut_words(self, text: &Text, emit: &mut dyn FnMut(usize, usize)) {
        let mut start = 0;
        while let Some((kind, next)) = text.at(start) {
            let end = self.word_end(text, start, kind, next);
            emit(start, end);
            start = end;
        }
    }

    /// Where the match ends that begins at byte `start` with a character of a kind, `next` after it.
    #[inline]
    fn word_end(self, text: &Text, start: usize, kind: u8, next: usize) -> usize {
        if kind & HAN != 0 {
            return text.run(next, HAN, usize::MAX);
        }
        let letters = match self.family {
            Family::Gpt2 => return text.gpt2_word_end(start, kind, next),
            Family::Cased => self.cased_word(text, start, kind, next),
            _ => text.plain_word(start, kind, next, self.contractions),
        };
        if let Some(end) = letters {
            return end;
        }
        if kind & NUMBER != 0 {
            return text.run(next, NUMBER, self.max_digits - 1);
        }
        let marks = if text.byte(start) == b' ' { next } else { start };
        match text.at(marks) {
            Some((kind, next)) if kind & CLASSES == 0 => self.marks_end(text, next),
            _ => self.spaces_end(text, start),
        }
    }

    /// The end of spaces; those that a text ends with may be one word.
    fn spaces_end(self, text: &Text, start: usize) -> usize {
        let all = if self.joins_last_spaces { text.run(start, SPACE, usize::MAX) } else { 0 };
        if all == text.text.len() {
            return all;
        }
        text.spaces_end(start, NEWLINE)
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
        Some(if self.contractions { contraction_end(text.text, end, true) } else { end })
    }

    /// `[^\s\p{L}\p{N}]+` and what trails it.
    fn marks_end(self, text: &Text, from: usize) -> usize {
        let end = text.alike(from, 0, CLASSES);
        let trails = |byte: u8| match self.trail {
            Trail::Nothing => false,
            Trail::LineEnds => matches!(byte, b'\r' | b'\n'),
            Trail::LineEndsAndSlashes => matches!(byte, b'\r' | b'\n' | b'/'),
        };
        (end..).find(|&at| !trails(text.byte(at))).unwrap_or(end)
    }
}

/// A text with the kinds of its characters.
pub(super) struct Text<'t> {
    pub(super) text: &'t str,
    pub(super) kinds: &'t CodePointMap<u8>,
}

impl Text<'_> {
    /// The kind of the character at a byte and where the next one begins.
    #[inline(always)]
    pub(super) fn at(&self, at: usize) -> Option<(u8, usize)> {
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
    pub(super) fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// Where a run of at most `most` characters of a kind ends.
    #[inline]
    pub(super) fn run(&self, from: usize, kinds: u8, most: usize) -> usize {
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

    /// Where a run ends of characters that are what one of a kind is, as far as `kinds` tell.
    #[inline]
    pub(super) fn alike(&self, from: usize, kind: u8, kinds: u8) -> usize {
        let mut end = from;
        while let Some((_, next)) = self.at(end).filter(|(other, _)| (other ^ kind) & kinds == 0) {
            end = next;
        }
        end
    }

    /// Cut at all matches, and what is between them; `match_end` is asked with the byte where a character begins,
    /// its kind and where the next begins.
    pub(super) fn cut_matches(
        &self,
        match_end: impl Fn(usize, u8, usize) -> Option<usize>,
        emit: &mut dyn FnMut(usize, usize),
    ) {
        let (mut gap, mut at) = (0, 0);
        while let Some((kind, next)) = self.at(at) {
            let Some(end) = match_end(at, kind, next) else {
                at = next;
                continue;
            };
            if gap < at {
                emit(gap, at);
            }
            emit(at, end);
            (gap, at) = (end, end);
        }
        if gap < at {
            emit(gap, at);
        }
    }

    /// GPT-2: a contraction, or a run of one class with an ASCII space before, or spaces.
    fn gpt2_word_end(&self, start: usize, kind: u8, next: usize) -> usize {
        let end = contraction_end(self.text, start, false);
        if end > start {
            return end;
        }
        let (kind, end) = match self.at(next) {
            Some(second) if self.byte(start) == b' ' && second.0 & SPACE == 0 => second,
            _ => (kind, next),
        };
        if kind & SPACE != 0 {
            return self.spaces_end(start, 0);
        }
        self.alike(end, kind, CLASSES)
    }

    /// A contraction, or `[^\r\n\p{L}\p{N}]?\p{L}+`.
    #[inline]
    fn plain_word(&self, start: usize, kind: u8, next: usize, contractions: bool) -> Option<usize> {
        let end = contraction_end(self.text, start, true);
        if contractions && end > start {
            return Some(end);
        }
        let first = if kind & LETTER != 0 { start } else { next };
        let may_lead = kind & (NEWLINE | NUMBER) == 0;
        let end = if may_lead { self.run(first, LETTER, usize::MAX) } else { first };
        (end > first).then_some(end)
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

    /// `\s*[\r\n]+|\s+(?!\S)|\s+`: up to the last newline of the run, where the pattern knows any, else all but
    /// its last character.
    pub(super) fn spaces_end(&self, start: usize, newline: u8) -> usize {
        let (mut end, mut last, mut after_newline) = (start, start, None);
        while let Some((kind, next)) = self.at(end) {
            if kind & SPACE == 0 {
                break;
            }
            (last, end) = (end, next);
            if kind & newline != 0 {
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

/// Where `(?i:'s|'t|'re|'ve|'m|'ll|'d)`, or the same in small letters alone, ends; `from` if it is not there.
/// Where case is ignored the long s is an s.
#[inline]
pub(super) fn contraction_end(text: &str, from: usize, ignore_case: bool) -> usize {
    let byte = |at: usize| text.as_bytes().get(at).copied().unwrap_or(0);
    if byte(from) != b'\'' {
        return from;
    }
    let folded = |at: usize| if ignore_case { byte(at).to_ascii_lowercase() } else { byte(at) };
    match (folded(from + 1), folded(from + 2)) {
        (b's' | b't' | b'm' | b'd', _) => from + 2,
        (b'r' | b'v', b'e') | (b'l', b'l') => from + 3,
        _ if ignore_case && text[from + 1..].starts_with('ſ') => from + 1 + 'ſ'.len_utf8(),
        _ => from,
    }
}
