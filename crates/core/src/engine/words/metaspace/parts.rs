//! Segments the escaped text of cache misses part by part, for models that segment each word independently. A part that
//! would also be a word is cached as that word.
//!
//! Misses of frequent characters, of models that merge several short words at once, are interleaved: long words are split
//! into parts. Short words and parts are merged in batches; the ids are appended in text order.

use std::ops::Range;

use piecework_kernels::merges::{ShortWordBatch, MAX_WORDS};

use super::layout::WordRules;
use crate::engine::stages::Stages;
use crate::engine::word_cache::{CacheKey, Lookup, WordCache};
use crate::interrupt;
use crate::model::{BatchWord, CharCodes, Model, ModelScratch};
use crate::word_key::WordKey;

/// The number of parts that are looked up together.
const WINDOW: usize = 64;
/// The longest word, in bytes, that is merged together with others.
const MAX_INTERLEAVED: usize = 512;

/// A part of a word.
#[derive(Clone, Copy, Debug)]
struct WordPart {
    start: usize,
    end: usize,
    begins_pre_token: bool,
    /// `None` for a long part, and for one that is the whole word, which is a miss.
    lookup: Option<Lookup>,
}

/// Memory of one thread.
#[derive(Clone, Debug, Default)]
pub(in super::super::super) struct PartScratch {
    /// The parts of one word that are looked up together.
    parts: Vec<WordPart>,
    steps: StepQueue,
    /// A word as the bytes for its characters.
    bytes: Vec<u8>,
}

/// Segments words by the rules of their pipeline.
pub(in super::super::super) struct WordParts<'s> {
    pub(in super::super::super) rules: &'s WordRules,
    pub(in super::super::super) scratch: &'s mut PartScratch,
    pub(in super::super::super) stages: &'s Stages,
    pub(in super::super::super) model: &'s mut ModelScratch,
    pub(in super::super::super) cache: &'s mut WordCache,
    pub(in super::super::super) ids: &'s mut Vec<u32>,
}

impl WordParts<'_> {
    /// Append the ids of escaped words and set where they are.
    pub(in super::super::super) fn run_batch(&mut self, text: &str, words: &mut [BatchWord]) {
        if let Some(codes) = self.codes() {
            self.run_interleaved(codes, text.as_bytes(), words);
        }
        for word in words.iter_mut().filter(|word| word.bytes.0 < word.bytes.1) {
            let start = self.ids.len();
            self.append(text, word.bytes.0..word.bytes.1);
            word.ids = (start, self.ids.len());
        }
    }

    /// Append the ids of the words of frequent characters; they have no bytes afterwards.
    fn run_interleaved(&mut self, codes: &CharCodes, text: &[u8], words: &mut [BatchWord]) {
        let mut bytes = std::mem::take(&mut self.scratch.bytes);
        for (number, word) in words.iter_mut().enumerate() {
            if codes.write(&text[word.bytes.0..word.bytes.1], MAX_INTERLEAVED, &mut bytes) {
                self.push(codes, &bytes, number);
                word.bytes = (0, 0);
            }
        }
        self.finish(codes);
        self.scratch.bytes = bytes;
        self.scratch.steps.spans.drain(..).for_each(|(number, span)| words[number].ids = span);
    }

    /// Append the ids of an escaped word of a text: part by part if each part has the same ids in every word, otherwise
    /// each pre-token as a whole.
    fn append(&mut self, text: &str, word: Range<usize>) {
        let from = self.ids.len();
        if self.append_parts(text, word.clone()) {
            return;
        }
        self.ids.truncate(from);
        let mut start = word.start;
        while start < word.end {
            let end = self.rules.pre_token_end(&text[..word.end], start);
            self.stages.model.run(&text[start..end], &self.stages.vocab, self.model, self.ids);
            interrupt::check(1);
            start = end;
        }
    }

    /// Append the ids of all parts of a word. Return `false`, with only some ids appended, if a part may have other ids in
    /// another word.
    fn append_parts(&mut self, text: &str, word: Range<usize>) -> bool {
        let mut holds = self.stages.model.supports_parts(word.len());
        let (mut start, mut pre_token) = (word.start, word.start..word.start);
        let mut parts = std::mem::take(&mut self.scratch.parts);
        while holds && start < word.end {
            self.find((text, word.clone()), &mut start, &mut pre_token, &mut parts);
            holds = parts.drain(..).all(|part| self.append_part(part, text));
            if start < word.end {
                interrupt::check(WINDOW);
            }
        }
        self.scratch.parts = parts;
        holds
    }

    /// Find the parts of a word of a text from byte `start` on that are looked up together. `pre_token` is the last one
    /// that was found.
    fn find(
        &self,
        (text, word): (&str, Range<usize>),
        start: &mut usize,
        pre_token: &mut Range<usize>,
        parts: &mut Vec<WordPart>,
    ) {
        let (rules, mut first) = (self.rules, None);
        while parts.len() < WINDOW && *start < word.end {
            if *start == pre_token.end {
                *pre_token = *start..rules.pre_token_end(&text[..word.end], *start);
                first = None;
            }
            let whole = &text[..pre_token.end];
            let end =
                rules.pairs.as_ref().map_or(whole.len(), |pairs| pairs.part_end(whole, *start, &mut first));
            let lookup = match *start..end {
                part if part == word && rules.has_keys_of_words() => None,
                part => rules.key_of_part(text, part).map(WordKey::lookup),
            };
            if let Some(lookup) = lookup {
                self.cache.prefetch(lookup);
            }
            parts.push(WordPart {
                start: *start,
                end,
                begins_pre_token: *start == pre_token.start,
                lookup,
            });
            *start = end;
        }
    }

    /// Append the ids of a part. Return `false` if it may have other ids in another word.
    fn append_part(&mut self, part: WordPart, text: &str) -> bool {
        let Self { stages, model, cache, ids, .. } = self;
        let WordPart { start, end, begins_pre_token, lookup } = part;
        // Only long words are looked up by their bytes.
        if lookup.is_some_and(|lookup| cache.append_cached(lookup, || CacheKey::Uncached, ids)) {
            return true;
        }
        let (from, text) = (ids.len(), &text[start..end]);
        // The sum of the scores of a first part begins at 0. In Unigram only a first part begins with a `▁`, so the two
        // kinds of part never share a key.
        if begins_pre_token {
            stages.model.run(text, &stages.vocab, model, *ids);
        } else if !stages.model.run_part(text, &stages.vocab, model, *ids) {
            return false;
        }
        // A word without a segmentation must fail each time.
        if let Some(lookup) = lookup.filter(|_| !model.has_failed()) {
            cache.insert_new(lookup, &ids[from..]);
        }
        true
    }
}

/// The maximum number of queued steps.
const MAX_STEPS: usize = 4 * MAX_WORDS;

/// Steps that are queued until a batch of short words is full.
#[derive(Clone, Debug, Default)]
struct StepQueue {
    /// The text of the steps as the bytes for its characters.
    text: Vec<u8>,
    steps: Vec<Step>,
    short_count: usize,
    escaped: String,
    /// The index of the first id of the next word.
    word_start: usize,
    /// The number of each finished word and the span of its ids.
    spans: Vec<(usize, (usize, usize))>,
}

#[derive(Clone, Debug)]
enum Step {
    /// Merge a short part in a batch with others.
    Merge(Range<usize>),
    /// Segment a part that is too long for a batch.
    Segment(Range<usize>),
    /// Store the span of the word with this number.
    End(usize),
}

/// Several words at once: the last ones are queued until [`WordParts::finish`].
impl<'s> WordParts<'s> {
    /// Return the bytes that stand for characters if the model merges several words at once.
    fn codes(&self) -> Option<&'s CharCodes> {
        match &*self.stages.model {
            Model::ScoredBpe(model) => model.codes(&self.stages.vocab),
            _ => None,
        }
    }

    /// Append a word, given as the bytes for its characters.
    fn push(&mut self, codes: &CharCodes, word: &[u8], number: usize) {
        if self.scratch.steps.steps.is_empty() {
            self.scratch.steps.word_start = self.ids.len();
        }
        match &self.rules.pairs {
            Some(pairs) if word.len() > ShortWordBatch::MAX_BYTES => {
                let chars = (0..).zip(codes.chars(word));
                pairs.split(chars, word.len(), |from, to| self.push_part(codes, &word[from..to]));
            }
            _ => self.push_part(codes, word),
        }
        self.scratch.steps.steps.push(Step::End(number));
    }

    fn push_part(&mut self, codes: &CharCodes, part: &[u8]) {
        if self.scratch.steps.short_count == MAX_WORDS || self.scratch.steps.steps.len() >= MAX_STEPS {
            self.finish(codes);
        }
        let StepQueue { text, steps, short_count, .. } = &mut self.scratch.steps;
        let from = text.len();
        text.extend_from_slice(part);
        let is_short = part.len() <= ShortWordBatch::MAX_BYTES;
        *short_count += usize::from(is_short);
        let span = from..text.len();
        steps.push(if is_short { Step::Merge(span) } else { Step::Segment(span) });
    }

    /// Run all queued steps.
    fn finish(&mut self, codes: &CharCodes) {
        let Model::ScoredBpe(model) = &*self.stages.model else { return };
        let mut queue = std::mem::take(&mut self.scratch.steps);
        let StepQueue { text, steps, short_count, .. } = &queue;
        let mut words = [&[][..]; MAX_WORDS];
        let short =
            steps.iter().filter_map(|step| if let Step::Merge(span) = step { Some(span) } else { None });
        words.iter_mut().zip(short).for_each(|(word, span)| *word = &text[span.clone()]);
        model.merge_batch(&words[..*short_count], &self.stages.vocab, &mut self.model.scored_bpe);
        let mut row = 0;
        for step in queue.steps.drain(..) {
            match step {
                Step::Merge(span) => {
                    if !model.push_merged(row, &mut self.model.scored_bpe, self.ids) {
                        self.segment(codes, &queue.text[span], &mut queue.escaped);
                    }
                    row += 1;
                }
                Step::Segment(span) => self.segment(codes, &queue.text[span], &mut queue.escaped),
                Step::End(number) => {
                    queue.spans.push((number, (queue.word_start, self.ids.len())));
                    queue.word_start = self.ids.len();
                }
            }
        }
        queue.text.clear();
        queue.short_count = 0;
        self.scratch.steps = queue;
    }

    fn segment(&mut self, codes: &CharCodes, part: &[u8], text: &mut String) {
        text.clear();
        text.extend(codes.chars(part));
        self.stages.model.run(text, &self.stages.vocab, self.model, self.ids);
    }
}
