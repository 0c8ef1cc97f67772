//! Segments the escaped text of cache misses part by part, for models that segment each word independently. A part that
//! would also be a word is cached as that word.
//!
//! ASCII misses of models that merge several short words at once are interleaved: long words are split into parts. Short
//! words and parts are merged in batches; the ids are appended in text order.

use std::ops::Range;

use piecework_kernels::merges::{ShortWordBatch, MAX_WORDS};

use super::layout::WordRules;
use crate::engine::stages::Stages;
use crate::engine::word_cache::{CacheKey, WordCache};
use crate::interrupt;
use crate::model::{BatchWord, Model, ModelScratch};
use crate::text::{METASPACE, METASPACE_STR};
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
    /// `None` for a long part.
    key: Option<WordKey>,
}

/// Memory of one thread.
#[derive(Clone, Debug, Default)]
pub(in super::super::super) struct PartScratch {
    /// The parts of one word that are looked up together.
    parts: Vec<WordPart>,
    steps: StepQueue,
    /// A word in ASCII.
    ascii: Vec<u8>,
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
        if self.interleaves() {
            self.run_interleaved(text.as_bytes(), words);
        }
        for word in words.iter_mut().filter(|word| word.bytes.0 < word.bytes.1) {
            let start = self.ids.len();
            self.append(&text[word.bytes.0..word.bytes.1]);
            word.ids = (start, self.ids.len());
        }
    }

    /// Append the ids of the words that are ASCII apart from `▁`; they have no bytes afterwards.
    fn run_interleaved(&mut self, text: &[u8], words: &mut [BatchWord]) {
        let mut ascii = std::mem::take(&mut self.scratch.ascii);
        for (number, word) in words.iter_mut().enumerate() {
            if write_ascii(&text[word.bytes.0..word.bytes.1], &mut ascii) {
                self.push(&ascii, number);
                word.bytes = (0, 0);
            }
        }
        self.finish();
        self.scratch.ascii = ascii;
        self.scratch.steps.spans.drain(..).for_each(|(number, span)| words[number].ids = span);
    }

    /// Append the ids of an escaped word: part by part if each part has the same ids in every word, otherwise each
    /// pre-token as a whole.
    fn append(&mut self, escaped: &str) {
        let from = self.ids.len();
        if self.append_parts(escaped) {
            return;
        }
        self.ids.truncate(from);
        let mut start = 0;
        while start < escaped.len() {
            let end = self.rules.pre_token_end(escaped, start);
            self.stages.model.run(&escaped[start..end], &self.stages.vocab, self.model, self.ids);
            interrupt::check(1);
            start = end;
        }
    }

    /// Append the ids of all parts of a word. Return `false`, with only some ids appended, if a part may have other ids in
    /// another word.
    fn append_parts(&mut self, escaped: &str) -> bool {
        let mut holds = self.stages.model.supports_parts(escaped.len());
        let (mut start, mut pre_token) = (0, 0..0);
        let mut parts = std::mem::take(&mut self.scratch.parts);
        while holds && start < escaped.len() {
            self.find(escaped, &mut start, &mut pre_token, &mut parts);
            holds = parts.drain(..).all(|part| self.append_part(part, escaped));
            if start < escaped.len() {
                interrupt::check(WINDOW);
            }
        }
        self.scratch.parts = parts;
        holds
    }

    /// Find the parts from byte `start` on that are looked up together. `pre_token` is the last one that was found.
    fn find(
        &self,
        escaped: &str,
        start: &mut usize,
        pre_token: &mut Range<usize>,
        parts: &mut Vec<WordPart>,
    ) {
        let rules = self.rules;
        while parts.len() < WINDOW && *start < escaped.len() {
            if *start == pre_token.end {
                *pre_token = *start..rules.pre_token_end(escaped, *start);
            }
            let whole = &escaped[..pre_token.end];
            let end = rules.pairs.as_ref().map_or(whole.len(), |pairs| pairs.part_end(whole, *start));
            let key = rules.key_of_part(escaped, *start..end);
            if let Some(key) = key {
                self.cache.prefetch(key.lookup());
            }
            parts.push(WordPart { start: *start, end, begins_pre_token: *start == pre_token.start, key });
            *start = end;
        }
    }

    /// Append the ids of a part. Return `false` if it may have other ids in another word.
    fn append_part(&mut self, part: WordPart, escaped: &str) -> bool {
        let Self { stages, model, cache, ids, .. } = self;
        let WordPart { start, end, begins_pre_token, key } = part;
        if key.is_some_and(|key| cache.append_cached(key.lookup(), || CacheKey::Short(key), ids)) {
            return true;
        }
        let (from, text) = (ids.len(), &escaped[start..end]);
        // The sum of the scores of a first part begins at 0. In Unigram only a first part begins with a `▁`, so the two
        // kinds of part never share a key.
        if begins_pre_token {
            stages.model.run(text, &stages.vocab, model, *ids);
        } else if !stages.model.run_part(text, &stages.vocab, model, *ids) {
            return false;
        }
        // A word without a segmentation must fail each time.
        if let Some(key) = key.filter(|_| !model.has_failed()) {
            cache.insert_new(key, &ids[from..]);
        }
        true
    }
}

/// Write an escaped word with a space for each `▁`. Return `false` if the rest is not ASCII, or the word is long.
fn write_ascii(escaped: &[u8], out: &mut Vec<u8>) -> bool {
    out.clear();
    let mut rest = escaped;
    while let Some(&byte) = rest.first() {
        if let Some(after) = rest.strip_prefix(METASPACE_STR.as_bytes()) {
            out.push(b' ');
            rest = after;
        } else if byte.is_ascii() && byte != b' ' {
            out.push(byte);
            rest = &rest[1..];
        } else {
            return false;
        }
    }
    (1..=MAX_INTERLEAVED).contains(&out.len())
}

/// The maximum number of queued steps.
const MAX_STEPS: usize = 4 * MAX_WORDS;

/// Steps that are queued until a batch of short words is full.
#[derive(Clone, Debug, Default)]
struct StepQueue {
    /// The ASCII text of the steps, with a space for each `▁`.
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
impl WordParts<'_> {
    /// Return whether the model merges several words at once.
    fn interleaves(&self) -> bool {
        matches!(&*self.stages.model, Model::ScoredBpe(model) if model.merges_in_batches(&self.stages.vocab))
    }

    /// Append a word, given as ASCII with a space for each `▁`.
    fn push(&mut self, word: &[u8], number: usize) {
        if self.scratch.steps.steps.is_empty() {
            self.scratch.steps.word_start = self.ids.len();
        }
        match &self.rules.pairs {
            Some(pairs) if word.len() > ShortWordBatch::MAX_BYTES => {
                pairs
                    .split((0..).zip(escape(word)), word.len(), |from, to| self.push_part(&word[from..to]));
            }
            _ => self.push_part(word),
        }
        self.scratch.steps.steps.push(Step::End(number));
    }

    fn push_part(&mut self, part: &[u8]) {
        if self.scratch.steps.short_count == MAX_WORDS || self.scratch.steps.steps.len() >= MAX_STEPS {
            self.finish();
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
    fn finish(&mut self) {
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
                        self.segment(&queue.text[span], &mut queue.escaped);
                    }
                    row += 1;
                }
                Step::Segment(span) => self.segment(&queue.text[span], &mut queue.escaped),
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

    fn segment(&mut self, part: &[u8], text: &mut String) {
        text.clear();
        text.extend(escape(part));
        self.stages.model.run(text, &self.stages.vocab, self.model, self.ids);
    }
}

/// Return the characters of ASCII text with a `▁` for each space.
fn escape(text: &[u8]) -> impl Iterator<Item = char> + '_ {
    text.iter().map(|&byte| if byte == b' ' { METASPACE } else { byte.into() })
}
