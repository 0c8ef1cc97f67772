//! The rules for SentencePiece pieces: length, scripts, digits and spaces.
//!
//! With `split_by_whitespace`, a space may only begin a piece (or end it, as a suffix). Otherwise a piece may
//! contain spaces, but not end with one (or begin with one, as a suffix). Checks are linear in the piece.
//!
//! Source: Kudo and Richardson 2018; `IsValidSentencePiece` of sentencepiece 0.2.3 for the rest.

use piecework_core::text::METASPACE;
use piecework_unicode::{script_of, Script};
use serde::Deserialize;

/// Replaces unknown characters in SentencePiece's trainer; never part of a piece.
pub(super) const UNKNOWN: char = '\u{2585}';

/// The rules for pieces.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PieceRules {
    /// The most characters of a piece.
    pub max_chars: usize,
    /// Pieces have characters of one script only; Han, Hiragana and Katakana count as one.
    pub split_by_unicode_script: bool,
    /// Digits have the script Common; otherwise they combine with any script.
    pub split_by_number: bool,
    /// Each digit is a piece.
    pub split_digits: bool,
    /// A space is only the first character of a piece or, with `treat_whitespace_as_suffix`, the last.
    /// Otherwise it may occur anywhere except at the other end.
    pub split_by_whitespace: bool,
    /// A piece may consist of spaces.
    pub allow_whitespace_only_pieces: bool,
    /// Spaces are suffixes of words, not prefixes.
    pub treat_whitespace_as_suffix: bool,
    /// With `split_by_whitespace`, a piece may contain several words with one space between each two.
    #[serde(default)]
    pub several_words: Option<SeveralWords>,
}

/// The rules for pieces of several words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeveralWords {
    /// The most words of a piece.
    pub max_words: Option<usize>,
    /// Characters of the script Common that are not numbers combine with any script.
    pub join_punctuation: bool,
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
            several_words: None,
        }
    }
}

/// The characters, spaces and words of a prefix, and whether its first and last characters are spaces.
#[derive(Clone, Copy, Default)]
struct Spaces {
    chars: usize,
    spaces: usize,
    /// The maximal runs of other characters than spaces.
    words: usize,
    has_run: bool,
    is_first: bool,
    is_last: bool,
}

impl PieceRules {
    /// Return whether a text may be a piece.
    ///
    /// ```
    /// use piecework_train::PieceRules;
    /// let piece_rules = PieceRules { split_by_whitespace: false, ..PieceRules::default() };
    /// let allowed = ["▁in▁the", "in▁", "F1", "▁日本の"].map(|text| piece_rules.allows(text));
    /// assert_eq!(allowed, [true, false, false, true]);
    /// ```
    #[must_use]
    pub fn allows(&self, text: &str) -> bool {
        self.longest(text) == Some(text.len())
    }

    /// Return the length in bytes of the longest prefix of a text that may be a piece.
    #[must_use]
    pub fn longest(&self, text: &str) -> Option<usize> {
        let script_of = script_of();
        let joins_punctuation = self.several_words.is_some_and(|rules| rules.join_punctuation);
        let mut script = Script::NONE;
        let mut spaces = Spaces::default();
        let mut longest = None;
        for (at, c) in text.char_indices().take(self.max_chars) {
            let is_digit = matches!(c, '0'..='9' | '\u{FF10}'..='\u{FF19}');
            let is_alone = self.split_digits && is_digit;
            if matches!(c, '\0' | '\t' | ' ' | UNKNOWN) || (is_alone && at > 0) {
                break;
            }
            spaces.push(c == METASPACE);
            if c != METASPACE {
                let combines = is_digit && !self.split_by_number;
                let own = if combines { Script::NONE } else { effective(script_of(c), script) };
                let is_joined = joins_punctuation && own == Script::COMMON && !c.is_numeric();
                if self.split_by_unicode_script && !is_joined && differ(own, script) {
                    break;
                }
                script = if is_joined { script } else { own };
            }
            if self.allows_spaces(spaces) {
                longest = Some(at + c.len_utf8());
            }
            if is_alone {
                break;
            }
        }
        longest
    }

    fn allows_spaces(&self, spaces: Spaces) -> bool {
        let Spaces { chars, spaces, words, has_run, is_first, is_last } = spaces;
        if self.allow_whitespace_only_pieces && spaces == chars {
            return true;
        }
        let (at_own_end, at_other_end) =
            if self.treat_whitespace_as_suffix { (is_last, is_first) } else { (is_first, is_last) };
        let is_inside = !at_other_end || chars == 1;
        match self.several_words.filter(|_| self.split_by_whitespace) {
            Some(rules) => is_inside && !has_run && rules.max_words.is_none_or(|most| words <= most),
            None if self.split_by_whitespace => spaces == usize::from(at_own_end),
            None => is_inside,
        }
    }
}

impl Spaces {
    fn push(&mut self, is_space: bool) {
        self.is_first |= self.chars == 0 && is_space;
        self.has_run |= is_space && self.is_last;
        self.words += usize::from(!is_space && (self.chars == 0 || self.is_last));
        self.chars += 1;
        self.spaces += usize::from(is_space);
        self.is_last = is_space;
    }
}

/// Return whether two scripts differ; `NONE` differs from no script.
fn differ(one: Script, two: Script) -> bool {
    one != two && one != Script::NONE && two != Script::NONE
}

/// Return the effective script of a character that follows one of script `before`.
fn effective(own: Script, before: Script) -> Script {
    match own {
        Script::INHERITED => before,
        Script::NONE => Script::COMMON,
        _ => own,
    }
}
