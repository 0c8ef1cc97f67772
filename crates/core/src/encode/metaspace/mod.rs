//! Words that begin with `▁` for the space before them: found in the raw text, one by one, where no piece can cross a
//! space.
//!
//! form            which pipelines these are, and what is a word
//! source          one text: its words, their keys, and their marked text
//! scanner         where words are, 64 bytes at a time
//! single_chars    characters that are pieces by themselves, without the cache
//! spaces          where runs of spaces are words
//! independent     words of models that segment each word by itself, through the word cache
//! marked_text     the parts of the marked text of a word, and their keys
//! parts           a miss segmented part by part
//! interleaved     misses of ASCII, several at once
//! contextual      words of SentencePiece's Unigram, whose sums begin with the text
//! scored          the score of the text so far, and whether a cached word holds after it
//! packed_entries  the cache entries of these words: ids with their score
//!
//! The key of a word is its raw text. Only a miss is normalized and marked. If the raw text has a `▁` itself, SentencePiece's
//! text is normalized and marked as a whole, and its words are found in the result.

mod contextual;
mod escaped_text;
mod independent;
mod interleaved;
mod packed_entries;
mod parts;
mod scanner;
mod single_chars;
mod space_runs;
#[cfg(test)]
mod tests;
mod text_score;
mod word_rules;
mod word_source;

use super::stages::Stages;
use super::Scratch;
use crate::error::Error;
use crate::model::Model;
use crate::pretokenize::PreTokenizer;
use scanner::Masks;
use word_rules::WordRules;
use word_source::{WordSource, WordSpan};

/// The route of metaspace pipelines.
#[derive(Clone, Debug)]
pub(super) struct Metaspace {
    /// Words of raw text.
    raw: Option<WordRules>,
    /// SentencePiece's text that is normalized and marked as a whole.
    normalized: Option<NormalizedWords>,
}

/// What is a word of marked text.
#[derive(Clone, Debug)]
enum NormalizedWords {
    /// The parts between cuts.
    Words(Box<WordRules>),
    /// All of it: no place is cut.
    Text,
}

/// Memory of one thread.
#[derive(Clone, Debug, Default)]
pub(super) struct MetaspaceScratch {
    masks: Masks,
    /// The words of a window.
    words: Vec<WordSpan>,
    escaped: String,
    normalized: String,
    queue: independent::MissQueue,
    unscored: text_score::UnscoredWords,
}

impl Metaspace {
    /// Returns the route of compiled stages, if they have one.
    pub(super) fn of(stages: &Stages) -> Option<Self> {
        let (raw, normalized) = (WordRules::of(stages), normalized(stages));
        (raw.is_some() || normalized.is_some()).then_some(Self { raw, normalized })
    }

    /// Append the ids of a span of raw text that begins at a byte of the original, except those of pending words. Returns
    /// `false` and appends nothing if the words of the span cannot be found.
    pub(super) fn ids(
        &self,
        stages: &Stages,
        (span, start): (&str, usize),
        scratch: &mut Scratch,
        out: &mut Vec<u32>,
    ) -> Result<bool, Error> {
        let normalizer = stages.splitter.normalizer();
        if let Some(rules) = self.raw.as_ref().filter(|rules| rules.supports(span)) {
            append_words(stages, WordSource { rules, normalizer, text: span, start }, scratch, out)?;
            return Ok(true);
        }
        let Some(normalized) = &self.normalized else { return Ok(false) };
        // Pending words of raw text are those of another form.
        self.flush(stages, scratch, out);
        let mut text = std::mem::take(&mut scratch.split.normalized);
        text.clear();
        let result = normalizer.run(span, 0, &mut text).and_then(|()| match normalized {
            NormalizedWords::Text => {
                stages.model.run(&text, &stages.vocab, &mut scratch.model, out);
                Ok(())
            }
            NormalizedWords::Words(rules) => {
                let result = append_words(
                    stages,
                    WordSource { rules, normalizer, text: &text, start: 0 },
                    scratch,
                    out,
                );
                independent::flush(stages, rules, scratch, out);
                result
            }
        });
        scratch.split.normalized = text;
        result.map(|()| true)
    }

    /// Segment all pending words and splice their ids into the output.
    pub(super) fn flush(&self, stages: &Stages, scratch: &mut Scratch, out: &mut Vec<u32>) {
        if let Some(rules) = &self.raw {
            independent::flush(stages, rules, scratch, out);
        }
    }
}

/// Returns the words of SentencePiece's marked text, for a model that gets every text whole.
fn normalized(stages: &Stages) -> Option<NormalizedWords> {
    let is_whole = matches!(stages.splitter.pre_tokenizer(), PreTokenizer::Whole);
    let Model::SentencePiece(model) = &stages.model else { return None };
    is_whole.then(|| {
        model.split_rule().map_or(NormalizedWords::Text, |rule| {
            NormalizedWords::Words(Box::new(WordRules::escaped(rule)))
        })
    })
}

/// Append the ids of a text, word by word.
fn append_words(
    stages: &Stages,
    source: WordSource<'_>,
    scratch: &mut Scratch,
    out: &mut Vec<u32>,
) -> Result<(), Error> {
    match &stages.model {
        Model::SentencePiece(model) if model.is_contextual() => {
            contextual::append(stages, model, source, scratch, out)
        }
        _ => independent::append(stages, source, scratch, out),
    }
}
