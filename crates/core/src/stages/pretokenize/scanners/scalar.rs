//! The scanners character by character, by the kind of each: the definition that the masks are tested against.

use piecework_unicode::CodePointMap;

use super::classes::{ClassTable, CLASSES, HAN, LETTER, LOWER, NEWLINE, NUMBER, SPACE, UPPER, WORD};
use super::scanner::{PatternFamily, Scanner, TrailingChars};
use super::{clip, deepseek};

impl Scanner {
    /// Split a text into words; the words of CLIP omit whitespace.
    pub(super) fn split_scalar(self, text: &str, emit: &mut dyn FnMut(usize, usize)) {
        if self.family != PatternFamily::Clip {
            return self.split_scalar_whole(text, emit);
        }
        let whole = KindText { text, kinds: ClassTable::of(self.classification).kinds };
        self.split_scalar_whole(text, &mut |start, end| {
            if whole.at(start).is_some_and(|(kind, _)| kind & SPACE == 0) {
                emit(start, end);
            }
        });
    }

    /// Split a text at every match; the matches cover the text.
    pub(super) fn split_scalar_whole(self, text: &str, emit: &mut dyn FnMut(usize, usize)) {
        let whole = KindText { text, kinds: ClassTable::of(self.classification).kinds };
        match self.family {
            PatternFamily::DeepSeek => deepseek::split(&whole, self.max_digits, emit),
            PatternFamily::Clip => clip::split(&whole, emit),
            _ if self.between_numbers => {
                let split =
                    |text: &KindText, emit: &mut dyn FnMut(usize, usize)| self.split_words(text, emit);
                deepseek::split_zones(&whole, NUMBER, self.max_digits, split, emit);
            }
            _ => self.split_words(&whole, emit),
        }
    }

    fn split_words(self, text: &KindText, emit: &mut dyn FnMut(usize, usize)) {
        let (mut first, mut start, mut joined) = (0, 0, 0);
        while let Some((kind, next)) = text.at(start) {
            let end = self.word_end(text, start, kind, next);
            if self.joins_words && end > joined {
                joined = text.joining_space(start, end).unwrap_or(joined);
            }
            if end > joined {
                emit(first, end);
                first = end;
            }
            start = end;
        }
    }

    /// Return the end of the match that begins at byte `start`; `kind` is the kind of its first character,
    /// `next` the byte after that.
    #[inline]
    fn word_end(self, text: &KindText, start: usize, kind: u8, next: usize) -> usize {
        if kind & HAN != 0 {
            return text.run(next, HAN, usize::MAX);
        }
        let letters = match self.family {
            PatternFamily::Gpt2 => return text.gpt2_word_end(start, kind, next),
            PatternFamily::O200k => self.o200k_word(text, start, kind, next),
            _ => text.cl100k_word(start, kind, next, self.contractions),
        };
        if let Some(end) = letters {
            return end;
        }
        if kind & NUMBER != 0 {
            return text.run(next, NUMBER, self.digits_at(text, start) - 1);
        }
        let marks = if text.byte(start) == b' ' { next } else { start };
        match text.at(marks) {
            Some((kind, next)) if kind & CLASSES == 0 => self.marks_end(text, next),
            _ => self.spaces_end(text, start),
        }
    }

    /// Return the most digits of the word of a number that begins at byte `start`.
    ///
    /// From the right, words after the first one of a number have the most digits.
    fn digits_at(self, text: &KindText, start: usize) -> usize {
        if !self.digits_from_right || text.follows(start, NUMBER) {
            return self.max_digits;
        }
        let end = text.run(start, NUMBER, usize::MAX);
        (text.text[start..end].chars().count() - 1) % self.max_digits + 1
    }

    /// Return the end of a run of whitespace.
    fn spaces_end(self, text: &KindText, start: usize) -> usize {
        let all = if self.joins_last_spaces { text.run(start, SPACE, usize::MAX) } else { 0 };
        if all == text.text.len() {
            return all;
        }
        text.spaces_end(start, NEWLINE)
    }

    /// Return the end of a word of capitals, then small letters, with any one character before; either
    /// part may be empty.
    ///
    /// The pattern tries words that end with small letters first, with and without the leading character;
    /// then capitals alone, with and without it.
    #[inline]
    fn o200k_word(self, text: &KindText, start: usize, kind: u8, next: usize) -> Option<usize> {
        let leading = (kind & (NEWLINE | NUMBER | LETTER) == 0).then_some(next);
        let bare = (kind & (UPPER | LOWER) != 0).then_some(start);
        let froms = || leading.into_iter().chain(bare);
        let end = froms().find_map(|from| text.mixed_end(from)).or_else(|| {
            froms().find_map(|from| Some(text.run(from, UPPER, usize::MAX)).filter(|&end| end > from))
        })?;
        Some(if self.contractions { contraction_end(text.text, end, true) } else { end })
    }

    /// `[^\s\p{L}\p{N}]+` and its trailing characters.
    fn marks_end(self, text: &KindText, from: usize) -> usize {
        let end = text.alike(from, 0, CLASSES);
        let trails = |byte: u8| match self.trailing {
            TrailingChars::Nothing => false,
            TrailingChars::LineEnds => matches!(byte, b'\r' | b'\n'),
            TrailingChars::LineEndsAndSlashes => matches!(byte, b'\r' | b'\n' | b'/'),
        };
        (end..).find(|&at| !trails(text.byte(at))).unwrap_or(end)
    }
}

impl KindText<'_> {
    /// GPT-2: a contraction, or a run of one class with an ASCII space before, or whitespace.
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

    /// Return a contraction, or `[^\r\n\p{L}\p{N}]?\p{L}+`.
    #[inline]
    fn cl100k_word(&self, start: usize, kind: u8, next: usize, contractions: bool) -> Option<usize> {
        let end = contraction_end(self.text, start, true);
        if contractions && end > start {
            return Some(end);
        }
        let first = if kind & LETTER != 0 { start } else { next };
        let may_lead = kind & (NEWLINE | NUMBER) == 0;
        let end = if may_lead { self.run(first, LETTER, usize::MAX) } else { first };
        (end > first).then_some(end)
    }

    /// `[upper]*[lower]+`: the upper part gives back as few characters as possible.
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
}

/// A text and the table of kinds.
pub(super) struct KindText<'t> {
    pub(super) text: &'t str,
    pub(super) kinds: &'t CodePointMap<u8>,
}

impl KindText<'_> {
    /// Return the kind of the character at a byte, and the byte after it.
    #[inline(always)]
    pub(super) fn at(&self, at: usize) -> Option<(u8, usize)> {
        let byte = *self.text.as_bytes().get(at)?;
        if byte < 0x80 {
            return Some((self.kinds.get(char::from(byte)), at + 1));
        }
        self.at_non_ascii(at)
    }

    #[cold]
    fn at_non_ascii(&self, at: usize) -> Option<(u8, usize)> {
        let c = self.text[at..].chars().next()?;
        Some((self.kinds.get(c), at + c.len_utf8()))
    }

    /// Return whether the character before byte `at` has one of `kinds`.
    pub(super) fn follows(&self, at: usize, kinds: u8) -> bool {
        self.text[..at].chars().next_back().is_some_and(|c| self.kinds.get(c) & kinds != 0)
    }

    /// Return a byte, or 0 at the end of the text.
    #[inline]
    pub(super) fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// Return the end of a run of at most `most` characters that have one of `kinds`.
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

    /// Return the end of a run of characters that agree with `kind` in the bits of `kinds`.
    #[inline]
    pub(super) fn alike(&self, from: usize, kind: u8, kinds: u8) -> usize {
        let mut end = from;
        while let Some((_, next)) = self.at(end).filter(|(other, _)| (other ^ kind) & kinds == 0) {
            end = next;
        }
        end
    }

    /// Return the byte of the space before the next word, if the word from `start` to `end` and the next one are joined:
    /// both consist of letters and marks, and between them are an ASCII space and at most one other character before it.
    #[inline]
    pub(super) fn joining_space(&self, start: usize, end: usize) -> Option<usize> {
        let space = match self.at(end)? {
            _ if self.byte(end) == b' ' => end,
            (0, next) if self.byte(next) == b' ' => next,
            _ => return None,
        };
        let begins = |at: usize| self.at(at).is_some_and(|(kind, _)| kind & WORD != 0);
        if !begins(space + 1) || !self.follows(end, WORD) {
            return None;
        }
        // A mark can also end a run of symbols.
        let is_word = || {
            begins(start) || self.at(start).is_some_and(|(kind, next)| kind & NEWLINE == 0 && begins(next))
        };
        (self.follows(end, LETTER) || is_word()).then_some(space)
    }

    /// Remove the bounds between joined words.
    pub(super) fn join_words(&self, bounds: &mut Vec<u32>) {
        let (mut start, mut joined) = (0, 0);
        bounds.retain(|&bound| {
            let end = bound as usize;
            if end > joined {
                joined = self.joining_space(start, end).unwrap_or(joined);
            }
            start = end;
            end == 0 || end > joined
        });
    }

    /// Split the text at all matches. `match_end` gets the first byte of a character, its kind and the
    /// byte after it, and returns the end of the match.
    pub(super) fn split_matches(
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

    /// `\s*[\r\n]+|\s+(?!\S)|\s+`: return the end after the last newline of the run if `newline` selects
    /// any, else the end without the last character.
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

/// Return the end of a contraction (`'s|'t|'re|'ve|'m|'ll|'d`) at byte `from`, or `from` if there is none.
/// With `ignore_case` the long s is an s.
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
