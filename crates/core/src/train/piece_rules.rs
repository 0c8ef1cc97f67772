//! What a piece of SentencePiece may look like: its length, its scripts, its digits and its spaces.
//!
//! Where spaces part words, a space begins a piece (or ends it); else a piece may have spaces inside, but
//! not the last of its characters (or the first) alone. Linear in the piece.
//!
//! Source: Kudo and Richardson 2018; `IsValidSentencePiece` of sentencepiece 0.2.3 for the rest.

use crate::text::{script_of, Script};

/// The mark of a space.
pub(super) const MARK: char = '\u{2581}';
/// What stands for unknown characters in SentencePiece's own training; sentences have none.
pub(super) const UNKNOWN: char = '\u{2585}';

/// Rules for the form of pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PieceRules {
    /// The most characters of a piece.
    pub max_chars: usize,
    /// No characters of two scripts; Japanese is one.
    pub split_by_unicode_script: bool,
    /// Digits have a script, Common; else they go with any.
    pub split_by_number: bool,
    /// A digit is a piece of its own.
    pub split_digits: bool,
    /// A space is the first character or, with `treat_whitespace_as_suffix`, the last; else it may stand
    /// anywhere but at the other end.
    pub split_by_whitespace: bool,
    /// A piece may be of spaces alone.
    pub allow_whitespace_only_pieces: bool,
    /// Spaces belong to the word before them.
    pub treat_whitespace_as_suffix: bool,
}

impl Default for PieceRules {
    fn default() -> Self {
        Self {
            max_chars: 16,
            split_by_unicode_script: true,
            split_by_number: true,
            split_digits: false,
            split_by_whitespace: true,
            allow_whitespace_only_pieces: false,
            treat_whitespace_as_suffix: false,
        }
    }
}

/// How many spaces the beginning of a text has, and where.
#[derive(Clone, Copy, Default)]
struct Spaces {
    chars: usize,
    spaces: usize,
    is_first: bool,
    is_last: bool,
}

impl PieceRules {
    /// Whether a text may be a piece.
    ///
    /// ```
    /// use piecework_core::train::PieceRules;
    /// let piece_rules = PieceRules { split_by_whitespace: false, ..PieceRules::default() };
    /// let allowed = ["▁in▁the", "in▁", "F1", "▁日本の"].map(|text| piece_rules.allows(text));
    /// assert_eq!(allowed, [true, false, false, true]);
    /// ```
    #[must_use]
    pub fn allows(&self, text: &str) -> bool {
        self.longest(text) == Some(text.len())
    }

    /// The length in bytes of the longest beginning of a text that may be a piece.
    #[must_use]
    pub fn longest(&self, text: &str) -> Option<usize> {
        let script_of = script_of();
        let mut script = Script::NONE;
        let mut spaces = Spaces::default();
        let mut longest = None;
        for (at, c) in text.char_indices().take(self.max_chars) {
            let is_digit = matches!(c, '0'..='9' | '\u{FF10}'..='\u{FF19}');
            let stands_alone = self.split_digits && is_digit;
            if matches!(c, '\0' | '\t' | ' ' | UNKNOWN) || (stands_alone && at > 0) {
                break;
            }
            spaces.push(c == MARK);
            if c != MARK {
                let goes_with_any = is_digit && !self.split_by_number;
                let own = if goes_with_any { Script::NONE } else { effective(script_of(c), script) };
                if self.split_by_unicode_script && differ(own, script) {
                    break;
                }
                script = own;
            }
            if self.allows_spaces(spaces) {
                longest = Some(at + c.len_utf8());
            }
            if stands_alone {
                break;
            }
        }
        longest
    }

    fn allows_spaces(&self, spaces: Spaces) -> bool {
        let Spaces { chars, spaces, is_first, is_last } = spaces;
        if self.allow_whitespace_only_pieces && spaces == chars {
            return true;
        }
        let (at_own_end, at_other_end) =
            if self.treat_whitespace_as_suffix { (is_last, is_first) } else { (is_first, is_last) };
        if self.split_by_whitespace {
            spaces == usize::from(at_own_end)
        } else {
            !at_other_end || chars == 1
        }
    }
}

impl Spaces {
    fn push(&mut self, is_space: bool) {
        self.is_first |= self.chars == 0 && is_space;
        self.chars += 1;
        self.spaces += usize::from(is_space);
        self.is_last = is_space;
    }
}

/// Whether both are scripts, and two.
fn differ(one: Script, two: Script) -> bool {
    one != two && one != Script::NONE && two != Script::NONE
}

/// The script that counts for a character after one of script `before`.
fn effective(own: Script, before: Script) -> Script {
    match own {
        Script::INHERITED => before,
        Script::NONE => Script::COMMON,
        _ => own,
    }
}
