//! The metaspace route: encodes word by word if the model writes `▁` for a space and no piece crosses a word boundary.
//!
//! word_rules      how the text of a pipeline splits into words
//! word_source     the words of one text, their cache keys and their escaped text
//! scanner         splits raw text into words, 64 bytes at a time
//! scanned_spans   the spans that it finds
//! single_chars    characters that every segmentation leaves alone; they bypass the cache
//! space_runs      splits a run of spaces from the word after it, for BPE
//! escaped_text    splits the escaped text of a word into parts and makes their cache keys
//! independent     encodes through the word cache, for models that segment each word independently
//! misses          the queue of cache misses
//! parts           segments a cache miss part by part
//! interleaved     segments several ASCII misses at once
//! contextual      encodes words of SentencePiece's Unigram, whose rounding depends on the score so far
//! text_score      a bound of the score so far; it decides whether a cached word is valid there
//! scratch         the mutable state of one thread
//! packed_entries  packs ids and a score into one cache entry
//!
//! The cache key of a word is its raw text. Only a miss is normalized and escaped, that is, spaces become `▁`. Raw text
//! that has a `▁` itself is ambiguous. For SentencePiece, such text is normalized and escaped first and then split.

mod contextual;
mod escaped_text;
mod independent;
mod interleaved;
mod misses;
mod packed_entries;
mod parts;
mod scanned_spans;
mod scanner;
mod scratch;
mod single_chars;
mod space_runs;
#[cfg(test)]
mod tests;
mod text_score;
mod word_rules;
mod word_source;

pub(super) use scratch::MetaspaceScratch;

use super::stages::Stages;
use super::Scratch;
use crate::error::Error;
use crate::model::Model;
use crate::stages::pretokenize::PreTokenizer;
use word_rules::WordRules;
use word_source::WordSource;

/// The route of metaspace pipelines.
#[derive(Clone, Debug)]
pub(super) struct Metaspace {
    /// Splits raw text.
    raw: Option<WordRules>,
    /// Splits text that SentencePiece has normalized, for raw text that has a `▁`.
    normalized: Option<NormalizedWords>,
}

/// How normalized text splits into words.
#[derive(Clone, Debug)]
enum NormalizedWords {
    /// At the boundaries of the model's split rule.
    Words(Box<WordRules>),
    /// Not at all: the model segments the whole text.
    Text,
}

impl Metaspace {
    /// Returns the route of compiled stages, or `None` if no rules apply to them.
    pub(super) fn of(stages: &Stages) -> Option<Self> {
        let (raw, normalized) = (WordRules::of(stages), normalized(stages));
        (raw.is_some() || normalized.is_some()).then_some(Self { raw, normalized })
    }

    /// Appends the ids of a span of raw text, except those of pending words; `start` is its byte offset in the original.
    ///
    /// Returns `false` and appends nothing if the span cannot be split into words.
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
        // Pending words of raw text were queued under other rules.
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

    /// Segments all pending words and splices their ids into the output.
    pub(super) fn flush(&self, stages: &Stages, scratch: &mut Scratch, out: &mut Vec<u32>) {
        if let Some(rules) = &self.raw {
            independent::flush(stages, rules, scratch, out);
        }
    }
}

/// Returns how normalized text splits, for a SentencePiece model without a pre-tokenizer.
fn normalized(stages: &Stages) -> Option<NormalizedWords> {
    let is_whole = matches!(stages.splitter.pre_tokenizer(), PreTokenizer::Whole);
    let pieces = stages.model.pieces()?;
    is_whole.then(|| {
        pieces.split_rule().map_or(NormalizedWords::Text, |rule| {
            NormalizedWords::Words(Box::new(WordRules::escaped(rule)))
        })
    })
}

/// Appends the ids of a text word by word.
fn append_words(
    stages: &Stages,
    source: WordSource<'_>,
    scratch: &mut Scratch,
    out: &mut Vec<u32>,
) -> Result<(), Error> {
    match &*stages.model {
        Model::UnigramF32(model) => contextual::append(model, source, scratch, out),
        _ => independent::append(stages, source, scratch, out),
    }
}
