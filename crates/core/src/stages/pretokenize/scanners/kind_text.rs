//! A text and the kinds of its characters, and where its words end by them.

use piecework_unicode::CodePointMap;

use super::classes::{LETTER, NEWLINE, SPACE, WORD};

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

/// Return whether every pattern splits before byte `at` without looking at it for the text before: at an ASCII space
/// after a word, or after a single line end, except before a slash.
pub(super) fn is_certain_boundary(text: &str, at: usize) -> bool {
    match text.as_bytes()[..=at] {
        [.., b' '] => follows_word(text, at),
        [.., b'\n', b'/'] => false,
        [.., b'\n', _] => follows_word(text, at - 1) && !text[at..].starts_with(char::is_whitespace),
        _ => false,
    }
}

/// Return whether a character other than whitespace stands before byte `at`.
pub(super) fn follows_word(text: &str, at: usize) -> bool {
    text[..at].chars().next_back().is_some_and(|c| !c.is_whitespace())
}
