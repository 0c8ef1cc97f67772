//! A compiled pre-tokenizer: one split by classes of characters, or stages that run one after the other.
//!
//! Or it splits without rewriting: if a pre-tokenizer ends with the byte level, the words are spans of the raw
//! text, and the caller maps each distinct word to printable characters itself.

use piecework_unicode::Class;

use super::scanners::{ScanScratch, Scanner, WordSpans};
use super::simple::split_at_classes;
use super::stage::{compile_into, PreTokenizerStage};
use crate::error::{Error, ErrorKind};
use crate::spec::{check_steps, ByteLevelSpec, PreTokenizerSpec};
use crate::text::{printable_of, PreTokenizedText, MAX_GROWTH};

/// A compiled pre-tokenizer.
#[derive(Clone, Debug)]
pub enum PreTokenizer {
    /// No pre-tokenizer: the whole text is one word.
    Whole,
    /// One split at classes of characters.
    Classes {
        /// Characters of this class separate words and are removed.
        removed: Option<Class>,
        /// Characters of this class are words of their own.
        isolated: Option<Class>,
    },
    /// All other kinds.
    Stages(Box<PreTokenizerStages>),
}

/// Pre-tokenizers in sequence.
#[derive(Clone, Debug)]
pub struct PreTokenizerStages {
    pub(super) stages: Vec<PreTokenizerStage>,
    /// The place of each stage in the file.
    places: Vec<String>,
}

impl PreTokenizer {
    /// Compile a pre-tokenizer; `None` leaves the text whole.
    pub fn compile(spec: Option<&PreTokenizerSpec>) -> Result<Self, Error> {
        spec.map_or(Ok(Self::Whole), |spec| Self::compile_at(spec, "pre_tokenizer"))
    }

    /// Compile the pre-tokenizer at `place` in its file.
    pub(crate) fn compile_at(spec: &PreTokenizerSpec, place: &str) -> Result<Self, Error> {
        let (mut stages, mut places) = (Vec::new(), Vec::new());
        compile_into(spec, place, &mut stages, &mut places)?;
        check_steps(stages.len(), place)?;
        let is_sequence = matches!(spec, PreTokenizerSpec::Sequence(_));
        Ok(match stages.as_slice() {
            &[PreTokenizerStage::Classes { removed, isolated }] if !is_sequence => {
                Self::Classes { removed, isolated }
            }
            _ => Self::Stages(Box::new(PreTokenizerStages { stages, places })),
        })
    }

    /// Build the tables of characters that are built at first use.
    pub fn warm_up(&self) {
        if let Self::Stages(compiled) = self {
            compiled.stages.iter().for_each(PreTokenizerStage::warm_up);
        }
    }

    /// Split every word, and rewrite it if the kind does so.
    ///
    /// Fails if a regular expression exceeds its step bound, a function of the user fails, or a stage
    /// writes more than `max` bytes: [`crate::text::max_grown_len`] of the raw text.
    pub(crate) fn split_words(&self, words: &mut PreTokenizedText, max: usize) -> Result<(), Error> {
        match self {
            Self::Whole => {}
            Self::Classes { removed, isolated } => {
                words.split(|text, emit| split_at_classes(text, *removed, *isolated, emit));
            }
            Self::Stages(compiled) => return compiled.run(words, max),
        }
        Ok(())
    }

    /// Emit the byte span of every word, for the kinds that only split.
    ///
    /// For `Stages`, which may rewrite the text or fail, the whole text is one span; use `split_words`
    /// instead.
    pub fn run(&self, text: &str, mut emit: impl FnMut(usize, usize)) {
        match self {
            Self::Classes { removed, isolated } => split_at_classes(text, *removed, *isolated, emit),
            Self::Whole | Self::Stages(_) if text.is_empty() => {}
            Self::Whole | Self::Stages(_) => emit(0, text.len()),
        }
    }

    /// Return whether a word begins or ends before every space that follows a letter or digit, and the words on each side
    /// do not depend on the other one.
    pub(crate) fn divides_at_spaces(&self) -> bool {
        match self {
            Self::Whole => false,
            Self::Classes { removed, .. } => removed.is_some_and(|class| class.has(Class::WHITESPACE)),
            Self::Stages(compiled) => {
                let mut stages = compiled.stages.iter();
                let divider = stages.find(|stage| !stage.looks_at_neighbors());
                // Further stages see one word at a time.
                divider.is_some_and(PreTokenizerStage::divides_at_spaces)
                    && stages.all(PreTokenizerStage::splits_each_word)
            }
        }
    }

    /// Return whether the only stage removes all whitespace.
    pub(crate) fn removes_whitespace(&self) -> bool {
        matches!(self, Self::Classes { removed: Some(class), .. } if class.has(Class::WHITESPACE))
    }
}

impl PreTokenizerStages {
    fn run(&self, words: &mut PreTokenizedText, max: usize) -> Result<(), Error> {
        for (stage, place) in self.stages.iter().zip(&self.places) {
            stage.run(words)?;
            if words.text.text().len() > max {
                let found = format!("a pre-tokenizer that writes more than {max} bytes for one text");
                let expected = format!("at most {MAX_GROWTH} times its length and 64 KiB");
                return Err(Error::new(ErrorKind::Argument, place.as_str(), found, expected));
            }
        }
        Ok(())
    }
}

impl PreTokenizer {
    /// Return whether `find_words` finds the words of `split_words` before `write_printable`.
    #[must_use]
    pub fn splits_raw(&self) -> bool {
        let Self::Stages(compiled) = self else { return false };
        let Some((PreTokenizerStage::ByteLevel(last), before)) = compiled.stages.split_last() else {
            return false;
        };
        !last.add_prefix_space && !before.iter().any(PreTokenizerStage::rewrites)
    }

    /// Return whether words are spans of the text, possibly after a space before it is added.
    #[must_use]
    pub fn is_byte_level(&self) -> bool {
        self.splits_raw() || matches!(self, Self::Stages(compiled) if adds_prefix_space(&compiled.stages))
    }

    /// Return the text that [`Self::find_words`] splits: with a space before it if the byte level adds one.
    pub(crate) fn prefixed<'t>(&self, text: &'t str, prefixed: &'t mut String) -> &'t str {
        let adds_space = matches!(self, Self::Stages(compiled) if adds_prefix_space(&compiled.stages));
        if !adds_space || text.is_empty() || text.starts_with(' ') {
            return text;
        }
        prefixed.clear();
        prefixed.extend([" ", text]);
        prefixed
    }

    /// Find the words of a window of the text that begins at byte `from`, not the end; requires `is_byte_level`. Return
    /// where the window ends. [`ScanScratch::words`] are the words.
    pub(crate) fn find_words(
        &self,
        text: &str,
        from: usize,
        scratch: &mut ScanScratch,
    ) -> Result<usize, Error> {
        let Self::Stages(compiled) = self else { return Ok(text.len()) };
        if let Some(scanner) = only_scanner(&compiled.stages) {
            return Ok(scanner.find_words(text, from, scratch));
        }
        scratch.split_by(&compiled.stages, &text[from..])?;
        Ok(text.len())
    }
}

impl ScanScratch {
    /// Split a text by the first stage and each word by the next.
    fn split_by(&mut self, stages: &[PreTokenizerStage], text: &str) -> Result<(), Error> {
        self.begin_list();
        let Self { starts, ends, words, .. } = self;
        if !text.is_empty() {
            starts.push(0);
            ends.push(text.len() as u32);
        }
        for stage in stages.iter().filter(|stage| stage.splits()) {
            words.clear();
            words.extend(WordSpans { starts, ends }.spans());
            starts.clear();
            ends.clear();
            for &(from, to) in &*words {
                stage.split(&text[from..to], &mut |start, end| {
                    if start < end {
                        starts.push((from + start) as u32);
                        ends.push((from + end) as u32);
                    }
                })?;
            }
        }
        Ok(())
    }
}

/// Return whether a space is added before a text that does not begin with one.
fn adds_prefix_space(stages: &[PreTokenizerStage]) -> bool {
    matches!(stages, [PreTokenizerStage::ByteLevel(ByteLevelSpec { add_prefix_space: true, .. })])
}

/// Return the scanner that does all the splitting, if one does.
fn only_scanner(stages: &[PreTokenizerStage]) -> Option<Scanner> {
    match stages {
        [PreTokenizerStage::ByteLevel(ByteLevelSpec { use_regex: true, .. })] => Some(Scanner::GPT2),
        [PreTokenizerStage::Scanner(scanner), PreTokenizerStage::ByteLevel(ByteLevelSpec { use_regex: false, .. })] => {
            Some(*scanner)
        }
        _ => None,
    }
}

/// Append a printable character for each byte of a word.
pub fn write_printable(word: &str, out: &mut String) {
    out.extend(word.bytes().map(printable_of));
}

#[cfg(test)]
mod raw_tests {
    use proptest::prelude::*;

    use super::*;
    use crate::spec::{ByteLevelSpec, PatternSpec, PreTokenizerSpec, SplitBehavior};
    use crate::stages::pretokenize::scanners::{CLIP, DEEPSEEK};
    use crate::text::{NormalizedSink, PreTokenizedText};

    fn byte_level(use_regex: bool) -> PreTokenizerSpec {
        byte_level_after(use_regex, false)
    }

    fn byte_level_after(use_regex: bool, add_prefix_space: bool) -> PreTokenizerSpec {
        PreTokenizerSpec::ByteLevel(ByteLevelSpec { add_prefix_space, trim_offsets: true, use_regex })
    }

    fn isolated(pattern: &str) -> PreTokenizerSpec {
        PreTokenizerSpec::Split {
            pattern: PatternSpec::Regex(pattern.to_owned()),
            behavior: SplitBehavior::Isolated,
            invert: false,
        }
    }

    fn pipelines() -> Vec<PreTokenizerSpec> {
        let before = [
            isolated(r"\p{N}{1,3}| ?\p{L}+|\s+"),
            isolated(r"\p{N}{1,3}"),
            PreTokenizerSpec::Digits { individual_digits: true },
            PreTokenizerSpec::UnicodeScripts,
            PreTokenizerSpec::Bert,
            PreTokenizerSpec::FixedLength { length: 3 },
        ];
        let mut all = vec![byte_level(true), byte_level(false)];
        all.extend([byte_level_after(true, true), byte_level_after(false, true)]);
        for stage in before {
            all.push(PreTokenizerSpec::Sequence(vec![stage.clone(), byte_level(true)]));
            all.push(PreTokenizerSpec::Sequence(vec![
                PreTokenizerSpec::Punctuation { behavior: SplitBehavior::MergedWithNext },
                stage,
                byte_level(false),
            ]));
        }
        all
    }

    fn by_stages(compiled: &PreTokenizer, text: &str) -> Vec<String> {
        let mut words = PreTokenizedText::default();
        words.text.push_unchanged(text, 0);
        words.set_whole();
        compiled.split_words(&mut words, usize::MAX).expect("a pattern that ends");
        words.spans.iter().map(|&(start, end)| words.text.text()[start..end].to_owned()).collect()
    }

    fn raw(compiled: &PreTokenizer, text: &str) -> Vec<String> {
        let mut words = Vec::new();
        let (mut prefixed, mut scratch, mut from) = (String::new(), ScanScratch::default(), 0);
        let text = compiled.prefixed(text, &mut prefixed);
        while from < text.len() {
            let to = compiled.find_words(text, from, &mut scratch).expect("a pattern that ends");
            scratch.words().spans().for_each(|(start, end)| {
                let mut word = String::new();
                write_printable(&text[from..to][start..end], &mut word);
                words.push(word);
            });
            from = to;
        }
        words
    }

    proptest! {
        #[test]
        fn raw_words_equal_those_of_the_stages(text in "[a-c'st0-9½.,/ \\n\\t\u{3000}éü日本ъ]{0,24}") {
            for spec in pipelines() {
                let compiled = PreTokenizer::compile(Some(&spec)).expect("a known stage");
                prop_assert!(compiled.is_byte_level());
                prop_assert_eq!(by_stages(&compiled, &text), raw(&compiled, &text), "{:?}", spec);
            }
        }
    }

    #[test]
    fn several_pre_tokenizers_have_one_scanner() {
        let digits = || PreTokenizerSpec::Digits { individual_digits: true };
        let clip = || PreTokenizerSpec::Split {
            pattern: PatternSpec::Regex(CLIP.to_owned()),
            behavior: SplitBehavior::Removed,
            invert: true,
        };
        let sequences = [
            (vec![digits(), byte_level(true)], true),
            (vec![isolated(r"\p{N}{1,3}"), byte_level(true)], true),
            (vec![isolated(r"\p{N}"), byte_level_after(true, true)], false),
            (vec![PreTokenizerSpec::Digits { individual_digits: false }, byte_level(true)], false),
            (vec![clip(), byte_level(true)], true),
            (vec![clip(), byte_level(false)], false),
            (DEEPSEEK.map(isolated).into_iter().chain([byte_level(false)]).collect(), true),
        ];
        for (members, has_one) in sequences {
            let spec = PreTokenizerSpec::Sequence(members);
            let PreTokenizer::Stages(compiled) = PreTokenizer::compile(Some(&spec)).expect("known stages")
            else {
                panic!("{spec:?} is compiled to stages");
            };
            assert_eq!(only_scanner(&compiled.stages).is_some(), has_one, "{spec:?}");
        }
    }
}
