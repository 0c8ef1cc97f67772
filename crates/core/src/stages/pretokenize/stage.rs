//! One compiled pre-tokenizer of a sequence, and how a specification becomes a list of them: patterns of published models
//! become scanners.

use piecework_unicode::{class_of, Class};

use super::custom::CustomPreTokenizer;
use super::scanners::{NumberSplit, Scanner, CLIP, DEEPSEEK};
use super::simple;
use super::simple::{split_at_chars, MatchSplitter};
use crate::error::{Error, ErrorKind};
use crate::ranks::RanksSpec;
use crate::spec::{ByteLevelSpec, MetaspaceSpec, PatternSpec, PreTokenizerSpec, SplitBehavior};
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
            Self::ByteLevel(spec) => simple::byte_level(*spec, words),
            Self::Metaspace(spec) => simple::metaspace(*spec, words),
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

/// Append the stages of a specification and their places in the file; a nested sequence is its members.
pub(super) fn compile_into(
    spec: &PreTokenizerSpec,
    place: &str,
    stages: &mut Vec<PreTokenizerStage>,
    places: &mut Vec<String>,
) -> Result<(), Error> {
    stages.push(match spec {
        PreTokenizerSpec::Bert => PreTokenizerStage::Classes {
            removed: Some(Class::WHITESPACE),
            isolated: Some(Class::PUNCTUATION),
        },
        PreTokenizerSpec::WhitespaceSplit => {
            PreTokenizerStage::Classes { removed: Some(Class::WHITESPACE), isolated: None }
        }
        PreTokenizerSpec::Punctuation { behavior: SplitBehavior::Isolated } => {
            PreTokenizerStage::Classes { removed: None, isolated: Some(Class::PUNCTUATION) }
        }
        PreTokenizerSpec::Punctuation { behavior } => PreTokenizerStage::Punctuation(*behavior),
        PreTokenizerSpec::CharDelimiterSplit { delimiter } => PreTokenizerStage::Delimiter(*delimiter),
        PreTokenizerSpec::Digits { individual_digits: true } => {
            PreTokenizerStage::Digits(SplitBehavior::Isolated)
        }
        PreTokenizerSpec::Digits { individual_digits: false } => {
            PreTokenizerStage::Digits(SplitBehavior::Contiguous)
        }
        PreTokenizerSpec::FixedLength { length: 0 } => {
            return Err(Error::new(ErrorKind::Format, format!("{place}.length"), "0", "at least 1"));
        }
        PreTokenizerSpec::FixedLength { length } => PreTokenizerStage::FixedLength(*length),
        PreTokenizerSpec::UnicodeScripts => PreTokenizerStage::UnicodeScripts,
        PreTokenizerSpec::Whitespace => PreTokenizerStage::Whitespace,
        PreTokenizerSpec::Split { pattern, behavior, invert } => {
            match scanner_of(pattern, *behavior, *invert) {
                Some(scanner) => PreTokenizerStage::Scanner(scanner),
                None => PreTokenizerStage::Split {
                    pattern: compile_pattern(pattern, place)?,
                    behavior: *behavior,
                    invert: *invert,
                },
            }
        }
        PreTokenizerSpec::ByteLevel(spec) => PreTokenizerStage::ByteLevel(*spec),
        PreTokenizerSpec::Metaspace(spec) => PreTokenizerStage::Metaspace(*spec),
        PreTokenizerSpec::Custom(spec) => {
            PreTokenizerStage::Custom(CustomPreTokenizer::compile(spec, place))
        }
        PreTokenizerSpec::Sequence(members) => {
            let mut at = 0;
            while let Some(member) = members.get(at) {
                let place = format!("{place}.pretokenizers[{at}]");
                if let Some((scanner, count)) = scanner_of_sequence(&members[at..]) {
                    stages.extend(scanner);
                    places.resize(stages.len(), place);
                    at += count;
                } else {
                    compile_into(member, &place, stages, places)?;
                    at += 1;
                }
            }
            return Ok(());
        }
    });
    places.push(place.to_owned());
    Ok(())
}

fn compile_pattern(pattern: &PatternSpec, place: &str) -> Result<Pattern, Error> {
    Pattern::compile(pattern, &format!("{place}.pattern"))
}

fn scanner_of(pattern: &PatternSpec, behavior: SplitBehavior, invert: bool) -> Option<Scanner> {
    Scanner::of(isolated(pattern, behavior, invert)?)
}

/// Return the expression of a pattern whose matches are isolated.
fn isolated(pattern: &PatternSpec, behavior: SplitBehavior, invert: bool) -> Option<&str> {
    match pattern {
        PatternSpec::Regex(source) if behavior == SplitBehavior::Isolated && !invert => Some(source),
        _ => None,
    }
}

/// Return one scanner for the first members of a sequence, with the rest of the last one's work, and how
/// many members it replaces.
fn scanner_of_sequence(members: &[PreTokenizerSpec]) -> Option<(Vec<PreTokenizerStage>, usize)> {
    if starts_with(members, &DEEPSEEK) {
        return Some((vec![PreTokenizerStage::Scanner(Scanner::DEEPSEEK)], DEEPSEEK.len()));
    }
    let [first, second, ..] = members else { return None };
    if keeps_clip_words(first) {
        return Some((vec![PreTokenizerStage::Scanner(Scanner::CLIP), without_regex(second)?], 2));
    }
    let digits = match first {
        PreTokenizerSpec::Digits { individual_digits: true } => NumberSplit::Numeric,
        first => NumberSplit::of(isolated_in(first)?)?,
    };
    let after_numbers = |scanner: Scanner| scanner.between_numbers(digits).map(PreTokenizerStage::Scanner);
    let stages = match without_regex(second) {
        Some(bytes) => vec![after_numbers(Scanner::GPT2)?, bytes],
        None => vec![after_numbers(Scanner::of(isolated_in(second)?)?)?],
    };
    Some((stages, 2))
}

/// Return a byte-level stage without its pattern.
fn without_regex(member: &PreTokenizerSpec) -> Option<PreTokenizerStage> {
    match *member {
        PreTokenizerSpec::ByteLevel(
            spec @ ByteLevelSpec { use_regex: true, add_prefix_space: false, .. },
        ) => Some(PreTokenizerStage::ByteLevel(ByteLevelSpec { use_regex: false, ..spec })),
        _ => None,
    }
}

fn keeps_clip_words(member: &PreTokenizerSpec) -> bool {
    let PreTokenizerSpec::Split { pattern, behavior, invert } = member else { return false };
    let keeps_matches = *behavior == SplitBehavior::Removed && *invert;
    keeps_matches && matches!(pattern, PatternSpec::Regex(source) if source == CLIP)
}

fn starts_with(members: &[PreTokenizerSpec], patterns: &[&str]) -> bool {
    members.len() >= patterns.len()
        && members.iter().zip(patterns).all(|(member, pattern)| isolated_in(member) == Some(pattern))
}

/// Return the expression of a `Split` that only isolates its matches.
fn isolated_in(member: &PreTokenizerSpec) -> Option<&str> {
    match member {
        PreTokenizerSpec::Split { pattern, behavior, invert } => isolated(pattern, *behavior, *invert),
        _ => None,
    }
}

/// Return an error if a split pattern of a pre-tokenizer matches the empty text: where only matches become words, it
/// would lose text.
pub fn refuse_empty_matches(spec: &PreTokenizerSpec) -> Result<(), Error> {
    match spec {
        PreTokenizerSpec::Sequence(members) => members.iter().try_for_each(refuse_empty_matches),
        PreTokenizerSpec::Split { pattern, .. } => refuse_empty_match(pattern),
        _ => Ok(()),
    }
}

/// Return a specification whose split patterns match no empty text; `place` is the field of the pattern in the file.
pub fn without_empty_matches(spec: RanksSpec, place: &str) -> Result<RanksSpec, Error> {
    let checked = spec.stages.pre_tokenizer.as_ref().map_or(Ok(()), refuse_empty_matches);
    checked.map_err(|error| error.at(place))?;
    Ok(spec)
}

fn refuse_empty_match(spec: &PatternSpec) -> Result<(), Error> {
    let mut matches = false;
    Pattern::compile(spec, "pattern")?.for_each_match("", |_, _| matches = true)?;
    if matches {
        let (PatternSpec::Text(source) | PatternSpec::Regex(source)) = spec;
        let found = format!("{source:?}, which matches the empty text");
        return Err(Error::new(
            ErrorKind::Argument,
            "pattern",
            found,
            "a pattern of at least one character",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod compile_tests {
    use super::*;

    #[test]
    fn patterns_that_match_nothing_are_refused() {
        let check = |pattern: &str| refuse_empty_match(&PatternSpec::Regex(pattern.into()));
        assert!(check(r"\w+|\s+").is_ok());
        assert!(check(r"\w*").unwrap_err().to_string().contains("matches the empty text"));
        assert!(check("").is_err());
    }
}
