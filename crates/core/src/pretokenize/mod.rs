//! Pre-tokenizers: normalized text in, byte spans of words out, the text rewritten by some. Linear.

mod byte_level;
mod classes;
mod custom;
mod cut;
mod empty;
mod metaspace;
mod raw;
mod scanners;
mod scripts;
mod simple;
#[cfg(test)]
mod tests;

use piecework_unicode::{class_of, Class};

use crate::error::{Error, ErrorKind};
use crate::spec::{
    check_steps, ByteLevelSpec, MetaspaceSpec, PatternSpec, PreTokenizerSpec, SplitBehavior,
};
use crate::text::{max_grown_len, Pattern, Pieces, MAX_GROWTH};
use custom::Custom;
use cut::{cut_at_chars, Cutter};
pub use empty::refuse_empty_matches;
pub use raw::{write_printable, Words};
pub use scanners::ScanScratch;
use scanners::{Digits, Scanner, CLIP, DEEPSEEK, DEEPSEEK_CODER};

/// A compiled pre-tokenizer.
#[derive(Clone, Debug)]
pub enum PreTokenizer {
    /// The whole text is one word.
    Whole,
    /// Words are what stands between and on these classes.
    Classes {
        /// Characters of this class end a word and are dropped.
        removed: Option<Class>,
        /// Characters of this class are words of their own.
        isolated: Option<Class>,
    },
    /// Anything else.
    Stages(Box<Stages>),
}

/// Pre-tokenizers one after the other.
#[derive(Clone, Debug)]
pub struct Stages {
    spec: PreTokenizerSpec,
    stages: Vec<Stage>,
    /// Where each stage stands in its file.
    places: Vec<String>,
}

#[derive(Clone, Debug)]
enum Stage {
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
    /// The isolated matches of a pattern that has a scanner.
    Known(Scanner),
    Split {
        pattern: Pattern,
        behavior: SplitBehavior,
        invert: bool,
    },
    ByteLevel(ByteLevelSpec),
    Metaspace(MetaspaceSpec),
    Custom(Custom),
}

impl PreTokenizer {
    /// Compile a pre-tokenizer; none leaves the text whole.
    pub fn compile(spec: Option<&PreTokenizerSpec>) -> Result<Self, Error> {
        spec.map_or(Ok(Self::Whole), |spec| Self::compile_at(spec, "pre_tokenizer"))
    }

    /// Compile a pre-tokenizer that stands at `place` in its file.
    pub fn compile_at(spec: &PreTokenizerSpec, place: &str) -> Result<Self, Error> {
        let (mut stages, mut places) = (Vec::new(), Vec::new());
        compile_into(spec, place, &mut stages, &mut places)?;
        check_steps(stages.len(), place)?;
        Ok(match (spec, stages.as_slice()) {
            (PreTokenizerSpec::Sequence(_), _) => {
                Self::Stages(Box::new(Stages { spec: spec.clone(), stages, places }))
            }
            (_, &[Stage::Classes { removed, isolated }]) => Self::Classes { removed, isolated },
            _ => Self::Stages(Box::new(Stages { spec: spec.clone(), stages, places })),
        })
    }

    /// Cut, and where the kind does so rewrite, every piece.
    ///
    /// Fails only where a regular expression gives up, a function from outside fails, or a stage writes more than
    /// [`max_grown_len`] of the text.
    pub fn run_pieces(&self, pieces: &mut Pieces) -> Result<(), Error> {
        match self {
            Self::Whole => {}
            Self::Classes { removed, isolated } => {
                pieces.split(|text, emit| classes::cut(text, *removed, *isolated, emit));
            }
            Self::Stages(compiled) => return compiled.run(pieces),
        }
        Ok(())
    }

    /// Give the byte span of every word, in order, for the kinds that have a fast path.
    ///
    /// `Stages` may rewrite the text or fail: for them the whole text is one span; use `run_pieces`.
    pub fn run(&self, text: &str, mut emit: impl FnMut(usize, usize)) {
        match self {
            Self::Classes { removed, isolated } => classes::cut(text, *removed, *isolated, emit),
            Self::Whole | Self::Stages(_) if text.is_empty() => {}
            Self::Whole | Self::Stages(_) => emit(0, text.len()),
        }
    }

    /// The specification it was compiled from.
    #[must_use]
    pub fn spec(&self) -> Option<PreTokenizerSpec> {
        match self {
            Self::Whole | Self::Classes { removed: None, isolated: None } => None,
            Self::Classes { removed: Some(_), isolated: Some(_) } => Some(PreTokenizerSpec::Bert),
            Self::Classes { isolated: None, .. } => Some(PreTokenizerSpec::WhitespaceSplit),
            Self::Classes { removed: None, .. } => {
                Some(PreTokenizerSpec::Punctuation { behavior: SplitBehavior::Isolated })
            }
            Self::Stages(compiled) => Some(compiled.spec.clone()),
        }
    }
}

impl Stages {
    fn run(&self, pieces: &mut Pieces) -> Result<(), Error> {
        let max = max_grown_len(pieces.text.text().len());
        for (stage, place) in self.stages.iter().zip(&self.places) {
            stage.run(pieces)?;
            if pieces.text.text().len() > max {
                let found = format!("a pre-tokenizer that writes more than {max} bytes for one text");
                let expected = format!("at most {MAX_GROWTH} times its length and 1 MiB");
                return Err(Error::new(ErrorKind::Argument, place.as_str(), found, expected));
            }
        }
        Ok(())
    }
}

impl Stage {
    fn run(&self, pieces: &mut Pieces) -> Result<(), Error> {
        match self {
            Self::ByteLevel(spec) => byte_level::run(*spec, pieces),
            Self::Metaspace(spec) => metaspace::run(*spec, pieces),
            _ => return pieces.try_split(|text, emit| self.cut(text, emit)),
        }
        Ok(())
    }

    /// Cut a text; the stages that rewrite it leave it whole.
    fn cut(&self, text: &str, emit: &mut dyn FnMut(usize, usize)) -> Result<(), Error> {
        match self {
            Self::Classes { removed, isolated } => classes::cut(text, *removed, *isolated, emit),
            Self::Punctuation(behavior) => {
                cut_at_chars(text, *behavior, emit, |c| class_of(c).has(Class::PUNCTUATION));
            }
            Self::Delimiter(delimiter) => {
                cut_at_chars(text, SplitBehavior::Removed, emit, |c| c == *delimiter);
            }
            Self::Digits(behavior) => {
                let numeric = simple::numeric();
                cut_at_chars(text, *behavior, emit, |c| numeric.get(c) != 0);
            }
            Self::FixedLength(length) => simple::cut_lengths(text, *length, emit),
            Self::UnicodeScripts => scripts::cut(text, emit),
            Self::Whitespace => simple::cut_whitespace(text, emit),
            Self::Known(scanner) => scanner.cut(text, emit),
            Self::Split { pattern, behavior, invert } => {
                let mut cutter = Cutter::new(*behavior, *invert, emit);
                pattern.for_each_match(text, |start, end| cutter.matched(start, end))?;
                cutter.finish(text.len());
            }
            Self::ByteLevel(ByteLevelSpec { use_regex: true, .. }) => Scanner::GPT2.cut(text, emit),
            Self::Custom(custom) => custom.cut(text, emit)?,
            Self::ByteLevel(_) | Self::Metaspace(_) => emit(0, text.len()),
        }
        Ok(())
    }

    /// Whether there is anything for `cut` to do.
    fn cuts(&self) -> bool {
        !matches!(self, Self::ByteLevel(ByteLevelSpec { use_regex: false, .. }) | Self::Metaspace(_))
    }

    fn rewrites(&self) -> bool {
        matches!(self, Self::ByteLevel(_) | Self::Metaspace(_))
    }
}

/// Append the stages of one specification; a sequence within a sequence is the same as its members.
fn compile_into(
    spec: &PreTokenizerSpec,
    place: &str,
    stages: &mut Vec<Stage>,
    places: &mut Vec<String>,
) -> Result<(), Error> {
    stages.push(match spec {
        PreTokenizerSpec::Bert => {
            Stage::Classes { removed: Some(Class::WHITESPACE), isolated: Some(Class::PUNCTUATION) }
        }
        PreTokenizerSpec::WhitespaceSplit => {
            Stage::Classes { removed: Some(Class::WHITESPACE), isolated: None }
        }
        PreTokenizerSpec::Punctuation { behavior: SplitBehavior::Isolated } => {
            Stage::Classes { removed: None, isolated: Some(Class::PUNCTUATION) }
        }
        PreTokenizerSpec::Punctuation { behavior } => Stage::Punctuation(*behavior),
        PreTokenizerSpec::CharDelimiterSplit { delimiter } => Stage::Delimiter(*delimiter),
        PreTokenizerSpec::Digits { individual_digits: true } => Stage::Digits(SplitBehavior::Isolated),
        PreTokenizerSpec::Digits { individual_digits: false } => Stage::Digits(SplitBehavior::Contiguous),
        PreTokenizerSpec::FixedLength { length: 0 } => {
            return Err(Error::new(ErrorKind::Format, format!("{place}.length"), "0", "at least 1"));
        }
        PreTokenizerSpec::FixedLength { length } => Stage::FixedLength(*length),
        PreTokenizerSpec::UnicodeScripts => Stage::UnicodeScripts,
        PreTokenizerSpec::Whitespace => Stage::Whitespace,
        PreTokenizerSpec::Split { pattern, behavior, invert } => match known(pattern, *behavior, *invert) {
            Some(scanner) => Stage::Known(scanner),
            None => Stage::Split {
                pattern: compile_pattern(pattern, place)?,
                behavior: *behavior,
                invert: *invert,
            },
        },
        PreTokenizerSpec::ByteLevel(spec) => Stage::ByteLevel(*spec),
        PreTokenizerSpec::Metaspace(spec) => Stage::Metaspace(*spec),
        PreTokenizerSpec::Custom(spec) => Stage::Custom(Custom::compile(spec, place)),
        PreTokenizerSpec::Sequence(members) => {
            let mut at = 0;
            while let Some(member) = members.get(at) {
                let place = format!("{place}.pretokenizers[{at}]");
                if let Some((known, count)) = known_sequence(&members[at..]) {
                    stages.extend(known);
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

fn known(pattern: &PatternSpec, behavior: SplitBehavior, invert: bool) -> Option<Scanner> {
    Scanner::of(isolated(pattern, behavior, invert)?)
}

/// The expression whose matches are isolated, if that is what is asked for.
fn isolated(pattern: &PatternSpec, behavior: SplitBehavior, invert: bool) -> Option<&str> {
    match pattern {
        PatternSpec::Regex(source) if behavior == SplitBehavior::Isolated && !invert => Some(source),
        _ => None,
    }
}

/// One scanner for several pre-tokenizers from the first on, with what else the last does, and for how many.
fn known_sequence(members: &[PreTokenizerSpec]) -> Option<(Vec<Stage>, usize)> {
    if starts_with(members, &DEEPSEEK) {
        return Some((vec![Stage::Known(Scanner::DEEPSEEK)], DEEPSEEK.len()));
    }
    let digits = members.get(DEEPSEEK_CODER.len());
    let cuts_digits = matches!(digits, Some(PreTokenizerSpec::Digits { individual_digits: true }));
    if cuts_digits && starts_with(members, &DEEPSEEK_CODER) {
        return Some((vec![Stage::Known(Scanner::DEEPSEEK_CODER)], DEEPSEEK_CODER.len() + 1));
    }
    let [first, second, ..] = members else { return None };
    if keeps_clip_words(first) {
        return Some((vec![Stage::Known(Scanner::CLIP), without_regex(second)?], 2));
    }
    let digits = match first {
        PreTokenizerSpec::Digits { individual_digits: true } => Digits::Numeric,
        first => Digits::of(isolated_in(first)?)?,
    };
    let known = |scanner: Scanner| scanner.between_numbers(digits).map(Stage::Known);
    let stages = match without_regex(second) {
        Some(bytes) => vec![known(Scanner::GPT2)?, bytes],
        None => vec![known(Scanner::of(isolated_in(second)?)?)?],
    };
    Some((stages, 2))
}

/// The rest of what the byte level does where it cuts.
fn without_regex(member: &PreTokenizerSpec) -> Option<Stage> {
    match *member {
        PreTokenizerSpec::ByteLevel(
            spec @ ByteLevelSpec { use_regex: true, add_prefix_space: false, .. },
        ) => Some(Stage::ByteLevel(ByteLevelSpec { use_regex: false, ..spec })),
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

/// The expression whose matches a pre-tokenizer isolates, if it does no more.
fn isolated_in(member: &PreTokenizerSpec) -> Option<&str> {
    match member {
        PreTokenizerSpec::Split { pattern, behavior, invert } => isolated(pattern, *behavior, *invert),
        _ => None,
    }
}
