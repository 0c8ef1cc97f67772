//! Cutting without rewriting: for pre-tokenizers that end with the byte level, the words as they stand in
//! the text, for those who can write each distinct one as printable bytes themselves.

use super::{byte_level, classes, scripts, simple, Cutter, PreTokenizer, Stage};
use super::{class_of, cut_at_chars, Class, SplitBehavior};
use crate::error::Error;
use crate::text::printable_of;

/// Takes the span of a word.
type Emit<'e> = &'e mut dyn FnMut(usize, usize) -> Result<(), Error>;

impl PreTokenizer {
    /// Whether `cut_raw` gives the words of `run_pieces` but for `write_printable`.
    #[must_use]
    pub fn cuts_raw(&self) -> bool {
        let Self::Stages(compiled) = self else { return false };
        let Some((Stage::ByteLevel(last), before)) = compiled.stages.split_last() else { return false };
        let rewrites =
            |stage: &Stage| matches!(stage, Stage::ByteLevel(_) | Stage::Metaspace(_) | Stage::Custom(_));
        !last.add_prefix_space && !before.iter().any(rewrites)
    }

    /// Give the byte span of every word in the text as it stands, in order; only where `cuts_raw`.
    pub fn cut_raw(&self, text: &str, mut emit: impl FnMut(usize, usize)) -> Result<(), Error> {
        let Self::Stages(compiled) = self else { return Ok(()) };
        cut_by(&compiled.stages, text, &mut |start, end| {
            emit(start, end);
            Ok(())
        })
    }
}

/// Write a word as the byte level does: a printable character for each byte.
pub fn write_printable(word: &str, out: &mut String) {
    out.extend(word.bytes().map(printable_of));
}

/// Cut a text by the first stage and each piece by the others.
fn cut_by(stages: &[Stage], text: &str, emit: Emit<'_>) -> Result<(), Error> {
    let Some((first, rest)) = stages.split_first() else {
        return if text.is_empty() { Ok(()) } else { emit(0, text.len()) };
    };
    if rest.is_empty() {
        return first.cut(text, emit);
    }
    first.cut(text, &mut |start, end| {
        cut_by(rest, &text[start..end], &mut |from, to| emit(start + from, start + to))
    })
}

impl Stage {
    /// Cut a text and leave it as it is.
    fn cut(&self, text: &str, emit: Emit<'_>) -> Result<(), Error> {
        let mut result = Ok(());
        let mut emit = |start: usize, end: usize| {
            if result.is_ok() && start < end {
                result = emit(start, end);
            }
        };
        match self {
            Self::Classes { removed, isolated } => classes::cut(text, *removed, *isolated, emit),
            Self::Punctuation(behavior) => {
                cut_at_chars(text, *behavior, &mut emit, |c| class_of(c).has(Class::PUNCTUATION));
            }
            Self::Delimiter(delimiter) => {
                cut_at_chars(text, SplitBehavior::Removed, &mut emit, |c| c == *delimiter);
            }
            Self::Digits(behavior) => {
                let numeric = simple::numeric();
                cut_at_chars(text, *behavior, &mut emit, |c| numeric.get(c) != 0);
            }
            Self::FixedLength(length) => simple::cut_lengths(text, *length, &mut emit),
            Self::UnicodeScripts => scripts::cut(text, &mut emit),
            Self::Whitespace => simple::cut_whitespace(text, &mut emit),
            Self::Split { pattern, behavior, invert } => {
                let mut cutter = Cutter::new(*behavior, *invert, &mut emit);
                pattern.for_each_match(text, |start, end| cutter.matched(start, end))?;
                cutter.finish(text.len());
            }
            Self::ByteLevel(spec) if spec.use_regex => byte_level::cut(text, emit),
            Self::ByteLevel(_) | Self::Metaspace(_) | Self::Custom(_) => emit(0, text.len()),
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::spec::{ByteLevelSpec, PatternSpec, PreTokenizerSpec};
    use crate::text::{NormalizedSink, Pieces};

    fn byte_level(use_regex: bool) -> PreTokenizerSpec {
        PreTokenizerSpec::ByteLevel(ByteLevelSpec {
            add_prefix_space: false,
            trim_offsets: true,
            use_regex,
        })
    }

    fn pipelines() -> Vec<PreTokenizerSpec> {
        let split = PreTokenizerSpec::Split {
            pattern: PatternSpec::Regex(r"\p{N}{1,3}| ?\p{L}+|\s+".to_owned()),
            behavior: SplitBehavior::Isolated,
            invert: false,
        };
        let before = [
            split,
            PreTokenizerSpec::Digits { individual_digits: true },
            PreTokenizerSpec::UnicodeScripts,
            PreTokenizerSpec::Bert,
            PreTokenizerSpec::FixedLength { length: 3 },
        ];
        let mut all = vec![byte_level(true), byte_level(false)];
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

    fn by_pieces(compiled: &PreTokenizer, text: &str) -> Vec<String> {
        let mut pieces = Pieces::default();
        pieces.text.push_unchanged(text, 0);
        pieces.set_whole();
        compiled.run_pieces(&mut pieces).expect("a pattern that ends");
        pieces.spans.iter().map(|&(start, end)| pieces.text.text()[start..end].to_owned()).collect()
    }

    fn raw(compiled: &PreTokenizer, text: &str) -> Vec<String> {
        let mut words = Vec::new();
        let cut = compiled.cut_raw(text, |start, end| {
            let mut word = String::new();
            write_printable(&text[start..end], &mut word);
            words.push(word);
        });
        cut.expect("a pattern that ends");
        words
    }

    proptest! {
        #[test]
        fn gives_the_words_of_the_pieces(text in "[a-c'st0-9½.,/ \\n\\t\u{3000}éü日本ъ]{0,24}") {
            for spec in pipelines() {
                let compiled = PreTokenizer::compile(Some(&spec)).expect("a known stage");
                prop_assert!(compiled.cuts_raw());
                prop_assert_eq!(by_pieces(&compiled, &text), raw(&compiled, &text), "{:?}", spec);
            }
        }
    }
}
