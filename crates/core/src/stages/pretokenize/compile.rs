//! From the specification of a pre-tokenizer to its stages; patterns of published models become scanners.

use piecework_unicode::Class;

use super::custom::CustomPreTokenizer;
use super::scanners::{NumberSplit, Scanner, CLIP, DEEPSEEK};
use super::stage::PreTokenizerStage;
use crate::error::{Error, ErrorKind};
use crate::ranks::RanksSpec;
use crate::spec::{ByteLevelSpec, PatternSpec, PreTokenizerSpec, SplitBehavior};
use crate::text::Pattern;

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
mod tests {
    use super::*;

    #[test]
    fn patterns_that_match_nothing_are_refused() {
        let check = |pattern: &str| refuse_empty_match(&PatternSpec::Regex(pattern.into()));
        assert!(check(r"\w+|\s+").is_ok());
        assert!(check(r"\w*").unwrap_err().to_string().contains("matches the empty text"));
        assert!(check("").is_err());
    }
}
