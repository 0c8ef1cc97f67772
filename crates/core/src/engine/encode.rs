//! The loop of encoding: find the words of a text, look them up in the word cache, segment the misses, splice their ids
//! into the output.

use std::ops::Range;

use super::misses::{Method, MissQueue, Segmenter};
use super::route::Route;
use super::sentencepiece_unigram::{append_scored_words, Scoring};
use super::stages::{Part, Stages};
use super::word_cache::{hash_of, CacheKey, Lookups, State, WordCache};
use super::words::{
    AsciiSpans, ByteSpans, MetaspaceText, MetaspaceWords, NormalizedWords, WordParts, WordRules, Words,
};
use super::{Input, Options, Scratch};
use crate::error::Error;
use crate::interrupt;
use crate::model::Model;
use crate::stages::added_tokens::Segment;
use crate::stages::normalize::Normalizer;
use crate::stages::split::bert::BertSplitter;

/// The word cache of a thread, a window of lookups, the queue of misses, and what segments them.
struct CachedWords<'s> {
    cache: &'s mut WordCache,
    lookups: &'s mut Lookups,
    misses: &'s mut MissQueue,
    segmenter: Segmenter<'s>,
}

impl Route {
    /// Append the ids of an input, except those of misses, which wait for [`Route::flush`].
    #[inline]
    pub(super) fn ids(
        &self,
        stages: &Stages,
        input: Input<'_>,
        options: Options<'_>,
        scratch: &mut Scratch,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        for text in input.texts() {
            for segment in stages.added_tokens.raw_segments(text, options.parse_special) {
                match segment {
                    Segment::Token(id, ..) => {
                        interrupt::check(1);
                        out.push(id);
                    }
                    Segment::Text(start, end) => {
                        self.span_ids(stages, (&text[start..end], start), options, scratch, out)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Append the ids of a span of raw text that begins at byte `start` of the original.
    fn span_ids(
        &self,
        stages: &Stages,
        (span, start): (&str, usize),
        options: Options<'_>,
        scratch: &mut Scratch,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        match self {
            Self::ByteLevel { .. } => byte_level_ids(stages, span, options, scratch, out),
            Self::Bert(splitter) => bert_ids(stages, splitter, span, scratch, out),
            Self::Generic => generic_ids(stages, (span, start), options, scratch, out),
            Self::Metaspace(rules) | Self::SentencePieceUnigram(rules) => match rules.supports(span) {
                true => metaspace_ids(stages, rules, (span, start), scratch, out),
                false => {
                    // Pending misses are segmented in parts, those of the generic route are not.
                    self.flush(stages, scratch, out);
                    let result = generic_ids(stages, (span, start), options, scratch, out);
                    Self::Generic.flush(stages, scratch, out);
                    result
                }
            },
        }
    }

    /// Segment all misses and splice their ids into the output.
    #[inline]
    pub(super) fn flush(&self, stages: &Stages, scratch: &mut Scratch, out: &mut Vec<u32>) {
        let Scratch { cache, lookups, misses, model, parts: scratch, .. } = scratch;
        if misses.is_empty() {
            return misses.finish_rows();
        }
        let method = match self {
            Self::ByteLevel { .. } => Method::Bytes,
            Self::Bert(_) | Self::Generic => Method::Text,
            Self::Metaspace(rules) | Self::SentencePieceUnigram(rules) => {
                Method::Parts(WordParts { rules, scratch })
            }
        };
        let segmenter = Segmenter { stages, model, method };
        CachedWords { cache, lookups, misses, segmenter }.flush(out);
    }
}

/// Append the ids of a span of byte-level text, which is not rewritten unless there is a normalizer.
fn byte_level_ids(
    stages: &Stages,
    span: &str,
    options: Options<'_>,
    scratch: &mut Scratch,
    out: &mut Vec<u32>,
) -> Result<(), Error> {
    let Scratch { cache, lookups, misses, model, split, long_words, .. } = scratch;
    let text = match stages.splitter.normalizer() {
        Normalizer::Identity => span,
        normalizer => {
            split.normalized.clear();
            normalizer.run(span, 0, &mut split.normalized)?;
            split.normalized.as_str()
        }
    };
    let pre_tokenizer = stages.splitter.pre_tokenizer();
    let adjacency = stages.model.byte_adjacency(text.len(), &stages.vocab);
    let segmenter = Segmenter { stages, model, method: Method::Bytes };
    let mut words = CachedWords { cache, lookups, misses, segmenter };
    for segment in stages.added_tokens.normalized_segments(text, options.parse_special) {
        match segment {
            Segment::Token(id, ..) => out.push(id),
            Segment::Text(start, end) => {
                let text = pre_tokenizer.prefixed(&text[start..end], &mut split.prefixed);
                let spans = ByteSpans::new(pre_tokenizer, adjacency, text, &mut split.scan, long_words);
                words.append(spans, out)?;
            }
        }
    }
    Ok(())
}

/// Append the ids of a span of raw text whose stages decide character by character.
fn bert_ids(
    stages: &Stages,
    splitter: &BertSplitter,
    span: &str,
    scratch: &mut Scratch,
    out: &mut Vec<u32>,
) -> Result<(), Error> {
    let Scratch { cache, lookups, misses, model, split, .. } = scratch;
    let spans = AsciiSpans::new(stages, splitter, span, &mut split.bert, &mut split.normalized);
    let segmenter = Segmenter { stages, model, method: Method::Text };
    CachedWords { cache, lookups, misses, segmenter }.append(spans, out)
}

/// Append the ids of a span of raw text, by all stages before the model.
fn generic_ids(
    stages: &Stages,
    (span, start): (&str, usize),
    options: Options<'_>,
    scratch: &mut Scratch,
    out: &mut Vec<u32>,
) -> Result<(), Error> {
    let Scratch { cache, lookups, misses, model, split, .. } = scratch;
    let segmenter = Segmenter { stages, model, method: Method::Text };
    let mut words = CachedWords { cache, lookups, misses, segmenter };
    let mut parts = stages.parts(span, start as u32, options)?;
    while let Some(part) = parts.next(split)? {
        match part {
            Part::Token(found) => out.push(found.id),
            Part::Words(text) => words.append(NormalizedWords::new(text), out)?,
        }
    }
    Ok(())
}

/// Append the ids of a span of text whose words the model sees with a `▁` for each space.
fn metaspace_ids(
    stages: &Stages,
    rules: &WordRules,
    (text, start): (&str, usize),
    scratch: &mut Scratch,
    out: &mut Vec<u32>,
) -> Result<(), Error> {
    let Scratch { cache, lookups, misses, model, metaspace, parts, unscored, .. } = scratch;
    let text = MetaspaceText { rules, normalizer: stages.splitter.normalizer(), text, start };
    let words = MetaspaceWords::new(text, metaspace);
    if let Model::UnigramF32(unigram) = &*stages.model {
        let scoring = Scoring { model: unigram, scratch: &mut model.unigram_f32, unscored };
        return append_scored_words(words, (cache, lookups), scoring, out);
    }
    let method = Method::Parts(WordParts { rules, scratch: parts });
    let segmenter = Segmenter { stages, model, method };
    CachedWords { cache, lookups, misses, segmenter }.append(words, out)
}

impl CachedWords<'_> {
    /// Append the ids of words, except those of misses, which are segmented when enough of them wait.
    fn append<W: Words>(&mut self, mut words: W, out: &mut Vec<u32>) -> Result<(), Error> {
        loop {
            let count = words.fill(self.lookups, self.cache)?;
            if count == 0 {
                return Ok(());
            }
            interrupt::check(count);
            let mut number = self.append_hits(0..count, out);
            while number < count {
                self.append_miss(&mut words, number, out)?;
                number += 1;
                number += self.append_hits(number..count, out);
            }
            if self.misses.is_full() {
                self.flush(out);
            }
        }
    }

    /// Append the ids of the words of a window up to the first miss. Return their number.
    #[inline(always)]
    fn append_hits(&self, numbers: Range<usize>, out: &mut Vec<u32>) -> usize {
        self.cache.append_hits(self.lookups.range(numbers.start, numbers.end), out)
    }

    /// Append the ids of a word that is not in the table of short words, or queue it.
    #[cold]
    #[inline(never)]
    fn append_miss<W: Words>(
        &mut self,
        words: &mut W,
        number: usize,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let Self { cache, lookups, misses, .. } = self;
        let lookup = lookups.range(number, number + 1)[0];
        let (key, hash, state) = (words.key(number), hash_of(lookup), cache.state(lookup));
        if let Some(ids) = cache.long_ids(state, key, hash) {
            out.extend_from_slice(ids);
            return Ok(());
        }
        let same = match (state, key) {
            (Some(State::Pending(miss)), _) => Some(miss as usize),
            (_, CacheKey::Long(word, kind)) => misses.same_long(word, kind, hash),
            _ => None,
        };
        if let Some(miss) = same {
            misses.push_same(miss, out.len());
            return Ok(());
        }
        let short = if let CacheKey::Short(key) = key { Some(key) } else { None };
        let written = words.write_miss(number, cache, &mut misses.words);
        if written.is_err() {
            misses.words.drop_unfinished();
        }
        let key = match written? {
            true => short.map_or_else(|| words.key(number), CacheKey::Short),
            false => CacheKey::Uncached,
        };
        let miss = misses.push(key, hash, out.len());
        if let CacheKey::Short(key) = key {
            cache.set_pending(key, hash, state.is_some(), miss as u32);
        }
        Ok(())
    }

    /// Segment all misses, store their ids in the cache and splice them into the output.
    #[cold]
    #[inline(never)]
    fn flush(&mut self, out: &mut Vec<u32>) {
        let Self { cache, misses, segmenter, .. } = self;
        let are_final = misses.segment(segmenter, cache);
        misses.store(are_final, cache);
        misses.splice(out);
    }
}
