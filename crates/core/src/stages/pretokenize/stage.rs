//! One compiled pre-tokenizer of a sequence.

use piecework_unicode::{class_of, Class};

use super::custom::CustomPreTokenizer;
use super::scanners::Scanner;
use super::split::{split_at_chars, MatchSplitter};
use super::{rewrite, simple};
use crate::error::Error;
use crate::spec::{ByteLevelSpec, MetaspaceSpec, SplitBehavior};
use crate::text::{Pattern, PreTokenizedText};

/// A text for which every table is looked up.
const SAMPLE: &str = "a 1\u{E9}";

/// The work of one pre-tokenizer.
#[derive(Clone, Debug)]
pub(super) enum PreTokenizerStage {
    Classes {
        removed: Option<Class>,
        isolated: Option<Class>,
    },
    Punctuation(SplitBehavior),
    Delimiter(char),
    Digits(SplitBehavior),
    FixedLength(usize),
    UnicodeScripts,
    Whitespace,
    /// Isolates the matches of a known pattern.
    Scanner(Scanner),
    Split {
        pattern: Pattern,
        behavior: SplitBehavior,
        invert: bool,
    },
    ByteLevel(ByteLevelSpec),
    Metaspace(MetaspaceSpec),
    Custom(CustomPreTokenizer),
}

impl PreTokenizerStage {
    pub(super) fn run(&self, words: &mut PreTokenizedText) -> Result<(), Error> {
        match self {
            Self::ByteLevel(spec) => rewrite::byte_level(*spec, words),
            Self::Metaspace(spec) => rewrite::metaspace(*spec, words),
            _ => return words.try_split(|text, emit| self.split(text, emit)),
        }
        Ok(())
    }

    /// Build the tables of characters, which all tokenizers share.
    pub(super) fn warm_up(&self) {
        if !matches!(self, Self::Custom(_)) {
            // Patterns have a limit of steps, which a short text does not reach.
            let _ = self.split(SAMPLE, &mut |_, _| {});
        }
    }

    /// Split a text; stages that only rewrite return it whole.
    pub(super) fn split(&self, text: &str, emit: &mut dyn FnMut(usize, usize)) -> Result<(), Error> {
        match self {
            Self::Classes { removed, isolated } => {
                simple::split_at_classes(text, *removed, *isolated, emit);
            }
            Self::Punctuation(behavior) => {
                split_at_chars(text, *behavior, emit, |c| class_of(c).has(Class::PUNCTUATION));
            }
            Self::Delimiter(delimiter) => {
                split_at_chars(text, SplitBehavior::Removed, emit, |c| c == *delimiter);
            }
            Self::Digits(behavior) => {
                let numeric = simple::numeric();
                split_at_chars(text, *behavior, emit, |c| numeric.get(c) != 0);
            }
            Self::FixedLength(length) => simple::split_lengths(text, *length, emit),
            Self::UnicodeScripts => simple::split_at_scripts(text, emit),
            Self::Whitespace => simple::split_whitespace(text, emit),
            Self::Scanner(scanner) => scanner.split(text, emit),
            Self::Split { pattern, behavior, invert } => {
                let mut splitter = MatchSplitter::new(*behavior, *invert, emit);
                pattern.for_each_match(text, |start, end| splitter.matched(start, end))?;
                splitter.finish(text.len());
            }
            Self::ByteLevel(ByteLevelSpec { use_regex: true, .. }) => Scanner::GPT2.split(text, emit),
            Self::Custom(custom) => custom.split(text, emit)?,
            Self::ByteLevel(_) | Self::Metaspace(_) => emit(0, text.len()),
        }
        Ok(())
    }

    /// Return whether `split` may return more than the whole text.
    pub(super) fn splits(&self) -> bool {
        !matches!(self, Self::ByteLevel(ByteLevelSpec { use_regex: false, .. }) | Self::Metaspace(_))
    }

    /// Return whether a word begins or ends before every space that follows a letter or digit, and the words on each side
    /// do not depend on the other one.
    pub(super) fn divides_at_spaces(&self) -> bool {
        match self {
            Self::Classes { removed, .. } => removed.is_some_and(|class| class.has(Class::WHITESPACE)),
            Self::Delimiter(delimiter) => *delimiter == ' ',
            Self::Scanner(scanner) => scanner.divides_at_spaces(),
            Self::ByteLevel(spec) => spec.use_regex,
            Self::Whitespace => true,
            _ => false,
        }
    }

    /// Return whether both characters at a boundary of words decide that it is one, and words stay as they are.
    pub(super) fn looks_at_neighbors(&self) -> bool {
        match self {
            Self::Classes { removed, .. } => removed.is_none(),
            Self::Delimiter(delimiter) => *delimiter != ' ',
            Self::Punctuation(_) | Self::Digits(_) => true,
            _ => false,
        }
    }

    /// Return whether the words that a word is split into do not depend on other words.
    pub(super) fn splits_each_word(&self) -> bool {
        !matches!(self, Self::Metaspace(_) | Self::Custom(_))
    }

    pub(super) fn rewrites(&self) -> bool {
        matches!(self, Self::ByteLevel(_) | Self::Metaspace(_))
    }
}
