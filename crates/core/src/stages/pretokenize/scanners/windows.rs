//! Windows of long texts, which end where the pattern splits whatever the neighbours are.

use super::classes::ClassTable;
use super::kinds::LETTER;
use super::scanner::{PatternFamily, Scanner};

/// The size of a window in bytes, if it contains a certain boundary.
const WINDOW: usize = if cfg!(test) { 192 } else { 16 << 10 };

impl Scanner {
    /// Return the end of the window that begins at a byte.
    pub(super) fn window_end(self, text: &str, from: usize) -> usize {
        let bytes = text.as_bytes();
        if bytes.len() - from <= WINDOW {
            return bytes.len();
        }
        let limit = from + WINDOW;
        let backwards = memchr::memrchr_iter(b' ', &bytes[from + 1..limit]).map(|at| from + 1 + at);
        let onwards = memchr::memchr_iter(b' ', &bytes[limit..]).map(|at| limit + at);
        backwards.chain(onwards).find(|&at| self.splits_at_space(text, at)).unwrap_or(bytes.len())
    }

    /// Return whether the pattern always splits before the ASCII space at a byte. BLOOM and DeepSeek Coder do so
    /// after a letter.
    fn splits_at_space(self, text: &str, at: usize) -> bool {
        match self.family {
            PatternFamily::Bloom | PatternFamily::DeepSeekCoder => {
                let kinds = ClassTable::of(self.classification).kinds;
                text[..at].chars().next_back().is_some_and(|c| kinds.get(c) & LETTER != 0)
            }
            _ => follows_word(text, at),
        }
    }
}

/// Return whether every pattern, except BLOOM's and DeepSeek Coder's, splits before byte `at` without looking at
/// it for the text before: at an ASCII space after a word, or after a single line end, except before a
/// slash.
pub(super) fn is_certain_boundary(text: &str, at: usize) -> bool {
    match text.as_bytes()[..=at] {
        [.., b' '] => follows_word(text, at),
        [.., b'\n', b'/'] => false,
        [.., b'\n', _] => follows_word(text, at - 1) && !text[at..].starts_with(char::is_whitespace),
        _ => false,
    }
}

fn follows_word(text: &str, at: usize) -> bool {
    text[..at].chars().next_back().is_some_and(|c| !c.is_whitespace())
}
