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
mod form;
mod independent;
mod interleaved;
mod marked_text;
mod packed_entries;
mod parts;
mod scanner;
mod scored;
mod single_chars;
mod source;
mod spaces;
#[cfg(test)]
mod tests;

use super::stages::Stages;
use super::Scratch;
use crate::error::Error;
use crate::model::Model;
use crate::pretokenize::PreTokenizer;
use form::Form;
use scanner::Masks;
use source::{Source, Word};

/// The route of metaspace pipelines.
#[derive(Clone, Debug)]
pub(super) struct Metaspace {
    /// Words of raw text.
    raw: Option<Form>,
    /// SentencePiece's text that is normalized and marked as a whole.
    whole: Option<Whole>,
}

/// What is a word of marked text.
#[derive(Clone, Debug)]
enum Whole {
    /// The parts between cuts.
    Words(Box<Form>),
    /// All of it: no place is cut.
    Text,
}

/// Memory of one thread.
#[derive(Clone, Debug, Default)]
pub(super) struct MetaspaceScratch {
    masks: Masks,
    /// The words of a window.
    words: Vec<Word>,
    marked: String,
    normalized: String,
    queue: independent::MissQueue,
    unscored: scored::UnscoredWords,
}

impl Metaspace {
    /// Returns the route of compiled stages, if they have one.
    pub(super) fn of(stages: &Stages) -> Option<Self> {
        let (raw, whole) = (Form::of(stages), whole(stages));
        (raw.is_some() || whole.is_some()).then_some(Self { raw, whole })
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
        if let Some(form) = self.raw.as_ref().filter(|form| form.takes(span)) {
            words_ids(stages, Source { form, normalizer, text: span, start }, scratch, out)?;
            return Ok(true);
        }
        let Some(whole) = &self.whole else { return Ok(false) };
        // Pending words of raw text are those of another form.
        self.flush(stages, scratch, out);
        let mut text = std::mem::take(&mut scratch.split.normalized);
        text.clear();
        let result = normalizer.run(span, 0, &mut text).and_then(|()| match whole {
            Whole::Text => {
                stages.model.run(&text, &stages.vocab, &mut scratch.model, out);
                Ok(())
            }
            Whole::Words(form) => {
                let result =
                    words_ids(stages, Source { form, normalizer, text: &text, start: 0 }, scratch, out);
                independent::flush(stages, form, scratch, out);
                result
            }
        });
        scratch.split.normalized = text;
        result.map(|()| true)
    }

    /// Segment all pending words and splice their ids into the output.
    pub(super) fn flush(&self, stages: &Stages, scratch: &mut Scratch, out: &mut Vec<u32>) {
        if let Some(form) = &self.raw {
            independent::flush(stages, form, scratch, out);
        }
    }
}

/// Returns the words of SentencePiece's marked text, for a model that gets every text whole.
fn whole(stages: &Stages) -> Option<Whole> {
    let is_whole = matches!(stages.splitter.pre_tokenizer(), PreTokenizer::Whole);
    let Model::SentencePiece(model) = &stages.model else { return None };
    is_whole
        .then(|| model.split_rule().map_or(Whole::Text, |cut| Whole::Words(Box::new(Form::marked(cut)))))
}

/// Append the ids of a text, word by word.
fn words_ids(
    stages: &Stages,
    source: Source<'_>,
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
