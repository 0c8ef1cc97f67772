//! The loop of encoding: find the words of a text, look them up in the word cache, segment the misses, splice their ids
//! into the output; and the state of a thread that it works with.

use std::ops::Range;

use super::misses::{Method, MissQueue, Segmenter};
use super::offsets::AlignedIds;
use super::route::Route;
use super::sentencepiece_unigram::{append_scored_words, Scoring, UnscoredWords};
use super::stages::{AddedSpaces, Input, Options, Part, Stages};
use super::word_cache::{hash_of, CacheKey, Lookups, State, WordCache};
use super::words::{
    AsciiSpans, ByteSpans, MetaspaceScratch, MetaspaceText, MetaspaceWords, NormalizedWords, PartScratch,
    SplitLongWords, WordRules, Words,
};
use crate::error::Error;
use crate::interrupt;
use crate::model::{Model, ModelScratch, TokenSpan};
use crate::stages::added_tokens::Segment;
use crate::stages::normalize::Normalizer;
use crate::stages::split::bert::BertSplitter;
use crate::stages::split::SplitScratch;
use crate::text::PreTokenizedText;

/// A call of a route: what it reads and writes.
pub(super) struct Call<'c> {
    pub(super) route: &'c Route,
    pub(super) stages: &'c Stages,
    pub(super) options: Options<'c>,
    pub(super) scratch: &'c mut Scratch,
    pub(super) ids: &'c mut Vec<u32>,
}

impl Call<'_> {
    /// Append the ids of an input; the ids of misses wait for [`Call::flush`].
    #[inline]
    pub(super) fn input(&mut self, input: Input<'_>) -> Result<(), Error> {
        for text in input.texts() {
            for segment in self.stages.added_tokens.raw_segments(text, self.options.parse_special) {
                match segment {
                    Segment::Token(id, ..) => {
                        interrupt::check(1);
                        self.ids.push(id);
                    }
                    Segment::Text(start, end) => self.span(&text[start..end], start)?,
                }
            }
        }
        Ok(())
    }

    /// Append all ids of an input, and check that the model has segmented every word.
    pub(super) fn whole_input(&mut self, input: Input<'_>) -> Result<(), Error> {
        let result = self.input(input);
        self.flush();
        result.and_then(|()| self.scratch.model.check())
    }

    /// Append the ids of a span of raw text that begins at byte `start` of the original.
    fn span(&mut self, span: &str, start: usize) -> Result<(), Error> {
        let Some(other) = self.route.instead_for(span) else { return self.words(span, start) };
        // The misses of a route are segmented by its own method.
        self.flush();
        let route = std::mem::replace(&mut self.route, other);
        let result = self.words(span, start);
        self.flush();
        self.route = route;
        result
    }

    /// Append the ids of a span by the words of the route.
    fn words(&mut self, span: &str, start: usize) -> Result<(), Error> {
        match self.route {
            Route::ByteLevel { .. } => self.byte_level(span),
            Route::Bert(splitter) => self.bert(splitter, span),
            Route::Metaspace(rules) | Route::SentencePieceUnigram(rules) => {
                self.metaspace(rules, span, start)
            }
            Route::Generic => self.generic(span, start),
        }
    }

    /// Append the ids of a span of byte-level text, which is not rewritten unless there is a normalizer.
    fn byte_level(&mut self, span: &str) -> Result<(), Error> {
        let Self { route, stages, options, scratch, ids } = self;
        let Scratch { words, model, parts, split, long_words, .. } = &mut **scratch;
        let text = normalized(stages.splitter.normalizer(), span, &mut split.normalized)?;
        let pre_tokenizer = stages.splitter.pre_tokenizer();
        let adjacency = stages.model.byte_adjacency(text.len(), &stages.vocab);
        let mut segmenter = route.segmenter(stages, model, parts);
        for segment in stages.added_tokens.normalized_segments(text, options.parse_special) {
            match segment {
                Segment::Token(id, ..) => ids.push(id),
                Segment::Text(start, end) => {
                    let text = pre_tokenizer.prefixed(&text[start..end], &mut split.prefixed);
                    let spans = ByteSpans::new(pre_tokenizer, adjacency, text, &mut split.scan, long_words);
                    words.append(spans, &mut segmenter, ids)?;
                }
            }
        }
        Ok(())
    }

    /// Append the ids of a span of raw text whose stages decide character by character.
    fn bert(&mut self, splitter: &BertSplitter, span: &str) -> Result<(), Error> {
        let Scratch { words, model, parts, split, .. } = &mut *self.scratch;
        let spans = AsciiSpans::new(self.stages, splitter, span, &mut split.bert, &mut split.normalized);
        words.append(spans, &mut self.route.segmenter(self.stages, model, parts), self.ids)
    }

    /// Append the ids of a span of raw text, by all stages before the model.
    fn generic(&mut self, span: &str, start: usize) -> Result<(), Error> {
        let Scratch { words, model, parts, split, .. } = &mut *self.scratch;
        let mut segmenter = self.route.segmenter(self.stages, model, parts);
        if self.stages.pre_tokenizer_spec.is_none() && !self.stages.added_tokens.has_normalized() {
            // The text is one word, and ids need no sources.
            let text = normalized(self.stages.splitter.normalizer(), span, &mut split.normalized)?;
            let whole = [(0, text.len())];
            let spans = &whole[..usize::from(!text.is_empty())];
            return words.append(NormalizedWords::new(text, spans), &mut segmenter, self.ids);
        }
        let mut text_parts = self.stages.parts(span, start as u32, self.options)?;
        while let Some(part) = text_parts.next(split)? {
            match part {
                Part::Token(found) => self.ids.push(found.id),
                Part::Words(PreTokenizedText { text, spans }) => {
                    words.append(NormalizedWords::new(text.text(), spans), &mut segmenter, self.ids)?;
                }
            }
        }
        Ok(())
    }

    /// Append the ids of a span of text whose words the model sees with a `▁` for each space.
    fn metaspace(&mut self, rules: &WordRules, text: &str, start: usize) -> Result<(), Error> {
        let Self { route, stages, scratch, ids, .. } = self;
        let Scratch { words, model, parts, metaspace, unscored, .. } = &mut **scratch;
        let text = MetaspaceText { rules, normalizer: stages.splitter.normalizer(), text, start };
        let spans = MetaspaceWords::new(text, metaspace);
        if let Model::UnigramF32(unigram) = &*stages.model {
            let scoring = Scoring { model: unigram, scratch: &mut model.unigram_f32, unscored };
            return append_scored_words(spans, &mut words.cache, &mut words.lookups, scoring, ids);
        }
        words.append(spans, &mut route.segmenter(stages, model, parts), ids)
    }

    /// Segment all misses and splice their ids into the output.
    #[inline]
    pub(super) fn flush(&mut self) {
        let Scratch { words, model, parts, .. } = &mut *self.scratch;
        match words.misses.is_empty() {
            true => words.misses.finish_rows(),
            false => words.segment_misses(&mut self.route.segmenter(self.stages, model, parts), self.ids),
        }
    }
}

/// Return a text as normalized, without its sources; `out` is memory for it.
fn normalized<'t>(normalizer: &Normalizer, text: &'t str, out: &'t mut String) -> Result<&'t str, Error> {
    if matches!(normalizer, Normalizer::Identity) {
        return Ok(text);
    }
    out.clear();
    normalizer.run(text, 0, out)?;
    Ok(out)
}

impl Route {
    /// Return what segments the queued words of the route.
    fn segmenter<'s>(
        &'s self,
        stages: &'s Stages,
        model: &'s mut ModelScratch,
        scratch: &'s mut PartScratch,
    ) -> Segmenter<'s> {
        let method = match self {
            Self::ByteLevel { .. } => Method::Bytes,
            Self::Bert(_) | Self::Generic => Method::Text,
            Self::Metaspace(rules) | Self::SentencePieceUnigram(rules) => Method::Parts(rules, scratch),
        };
        Segmenter { stages, model, method }
    }
}

/// The word cache of a thread, a window of lookups, and the queue of misses.
#[derive(Clone, Debug)]
pub(super) struct CachedWords {
    cache: WordCache,
    lookups: Lookups,
    pub(super) misses: MissQueue,
}

impl CachedWords {
    /// Append the ids of words, except those of misses, which are segmented when enough of them wait.
    fn append<W: Words>(
        &mut self,
        mut words: W,
        segmenter: &mut Segmenter<'_>,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        loop {
            let count = words.fill(&mut self.lookups, &self.cache)?;
            if count == 0 {
                return Ok(());
            }
            interrupt::check(count);
            let (mut number, mut long_words) = (0, 0);
            while number < count {
                let long = self.lookups.long(long_words);
                let end = long.map_or(count, |(number, _)| number);
                number += self.append_hits(number..end, out);
                if number < end {
                    self.append_miss(&mut words, number, out)?;
                    number += 1;
                } else if let Some((_, hash)) = long {
                    if !self.cache.append_long(words.key(number), hash, out) {
                        self.append_miss(&mut words, number, out)?;
                    }
                    number += 1;
                    long_words += 1;
                }
            }
            if self.misses.is_full() {
                self.segment_misses(segmenter, out);
            }
        }
    }

    /// Append the ids of the words of a window up to the first miss. Return their number.
    #[inline(always)]
    fn append_hits(&self, numbers: Range<usize>, out: &mut Vec<u32>) -> usize {
        self.cache.append_hits(self.lookups.range(numbers.start, numbers.end), out)
    }

    /// Append the ids of a short word that has many, or queue a word.
    #[cold]
    #[inline(never)]
    fn append_miss<W: Words>(
        &mut self,
        words: &mut W,
        number: usize,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let Self { cache, lookups, misses } = self;
        let lookup = lookups.range(number, number + 1)[0];
        let (key, hash, state) = (words.key(number), hash_of(lookup), cache.state(lookup));
        if let Some(ids) = cache.stored_ids(state) {
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
    fn segment_misses(&mut self, segmenter: &mut Segmenter<'_>, out: &mut Vec<u32>) {
        let Self { cache, misses, .. } = self;
        let are_final = misses.segment(segmenter, cache);
        misses.store(are_final, cache);
        misses.splice(out);
    }
}

/// The mutable state of one thread; made by [`super::Tokenizer::scratch`].
#[derive(Clone, Debug)]
pub struct Scratch {
    pub(super) words: CachedWords,
    pub(super) model: ModelScratch,
    pub(super) split: SplitScratch,
    parts: PartScratch,
    metaspace: MetaspaceScratch,
    unscored: UnscoredWords,
    /// Byte-level words that are split.
    long_words: SplitLongWords,
    /// The ids of the first and the second sequence of a row.
    pub(super) first: Vec<u32>,
    pub(super) second: Vec<u32>,
    pub(super) row: Vec<u32>,
    /// Ids before they are aligned with their text, and the result.
    pub(super) unaligned: Vec<u32>,
    pub(super) aligned: AlignedIds,
    pub(super) spans: Vec<TokenSpan>,
    pub(super) added_spaces: AddedSpaces,
    /// A text of another encoding in UTF-8.
    pub(super) text: String,
}

impl Scratch {
    pub(super) fn new(cache_budget: usize, initial_bits: u32) -> Self {
        let cache = WordCache::within(cache_budget, initial_bits);
        Self {
            words: CachedWords { cache, lookups: Lookups::default(), misses: MissQueue::default() },
            model: ModelScratch::default(),
            split: SplitScratch::default(),
            parts: PartScratch::default(),
            metaspace: MetaspaceScratch::default(),
            unscored: UnscoredWords::default(),
            long_words: SplitLongWords::default(),
            first: Vec::new(),
            second: Vec::new(),
            row: Vec::new(),
            unaligned: Vec::new(),
            aligned: AlignedIds::default(),
            spans: Vec::new(),
            added_spaces: AddedSpaces::default(),
            text: String::new(),
        }
    }

    /// Return whether no word waits, and no row that ended.
    #[cfg(test)]
    pub(super) fn is_flushed(&self) -> bool {
        self.words.misses.is_flushed()
    }

    /// Return the memory of the word cache, used or not.
    pub(super) fn cache_memory(&self) -> usize {
        self.words.cache.memory()
    }
}
