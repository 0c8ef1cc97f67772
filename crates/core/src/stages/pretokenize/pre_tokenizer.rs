//! A compiled pre-tokenizer: one split by classes of characters, or stages that run one after the other.

use piecework_unicode::Class;

use super::compile::compile_into;
use super::simple::split_at_classes;
use super::stage::PreTokenizerStage;
use crate::error::{Error, ErrorKind};
use crate::spec::{check_steps, PreTokenizerSpec, SplitBehavior};
use crate::text::{PreTokenizedText, MAX_GROWTH};

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
    spec: PreTokenizerSpec,
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
    pub fn compile_at(spec: &PreTokenizerSpec, place: &str) -> Result<Self, Error> {
        let (mut stages, mut places) = (Vec::new(), Vec::new());
        compile_into(spec, place, &mut stages, &mut places)?;
        check_steps(stages.len(), place)?;
        Ok(match (spec, stages.as_slice()) {
            (PreTokenizerSpec::Sequence(_), _) => {
                Self::Stages(Box::new(PreTokenizerStages { spec: spec.clone(), stages, places }))
            }
            (_, &[PreTokenizerStage::Classes { removed, isolated }]) => Self::Classes { removed, isolated },
            _ => Self::Stages(Box::new(PreTokenizerStages { spec: spec.clone(), stages, places })),
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
    pub fn split_words(&self, words: &mut PreTokenizedText, max: usize) -> Result<(), Error> {
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
    #[must_use]
    pub fn divides_at_spaces(&self) -> bool {
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

    /// Return the specification that it was compiled from.
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
