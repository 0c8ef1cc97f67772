//! The scanners character by character, by the kind of each: the definition that the masks are tested against.

use super::classes::{ClassTable, CLASSES, HAN, LETTER, LOWER, NEWLINE, NUMBER, SPACE, UPPER};
use super::kind_text::{contraction_end, KindText};
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
