//! Where a known pattern cuts, whatever comes before and after: long texts are scanned in stretches.

use super::classes::ClassTable;
use super::kinds::LETTER;
use super::scanner::{PatternFamily, Scanner};

/// How many bytes are scanned at once, if there is such a place within them.
const WINDOW: usize = if cfg!(test) { 192 } else { 16 << 10 };

impl Scanner {
    /// The end of the window that begins at a byte.
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

    /// Whether the pattern cuts before the ASCII space at a byte: after a letter where gaps stay together.
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

/// Whether every pattern but the gapped ones cuts before byte `at` and looks at nothing beyond it for what comes before: an
/// ASCII space after something else, or what follows a lone line end, but a slash.
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
