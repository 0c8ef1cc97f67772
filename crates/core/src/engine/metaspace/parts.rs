//! Segments a cache miss part by part, for models that segment each word independently. A part that would also be a word
//! is cached as that word.

use super::super::stages::Stages;
use super::word_rules::WordRules;
use crate::engine::word_cache::{CacheKey, WordCache};
use crate::model::ModelScratch;
use crate::word_key::WordKey;

/// The number of parts that are looked up together.
const WINDOW: usize = 64;

/// A part of a word.
#[derive(Clone, Copy, Debug)]
struct WordPart {
    start: usize,
    end: usize,
    begins_pre_token: bool,
    /// `None` for a long part.
    key: Option<WordKey>,
}

/// The parts of one word that are looked up together.
#[derive(Clone, Debug, Default)]
pub(super) struct WordParts(Vec<WordPart>);

/// Segments parts.
pub(super) struct PartSegmenter<'s> {
    pub(super) stages: &'s Stages,
    pub(super) scratch: &'s mut ModelScratch,
}

impl WordParts {
    /// Appends the ids of an escaped word: part by part if each part has the same ids in every word, otherwise each pre-token
    /// as a whole.
    pub(super) fn append(
        &mut self,
        escaped: &str,
        rules: &WordRules,
        cache: &mut WordCache,
        out: &mut Vec<u32>,
        mut segmenter: PartSegmenter<'_>,
    ) {
        let from = out.len();
        if !self.append_parts(escaped, rules, cache, out, &mut segmenter) {
            out.truncate(from);
            let PartSegmenter { stages, scratch } = segmenter;
            rules.pre_tokens(escaped, |start, end| {
                stages.model.run(&escaped[start..end], &stages.vocab, scratch, out);
            });
        }
    }

    /// Appends the ids of all parts of a word. Returns `false`, with only some ids appended, if a part may have other ids in
    /// another word.
    fn append_parts(
        &mut self,
        escaped: &str,
        rules: &WordRules,
        cache: &mut WordCache,
        out: &mut Vec<u32>,
        segmenter: &mut PartSegmenter<'_>,
    ) -> bool {
        let mut holds = segmenter.stages.model.supports_parts(escaped.len());
        rules.parts(escaped, |start, end, begins_pre_token| {
            if !holds {
                return;
            }
            if self.0.len() == WINDOW {
                holds = self.look_up(escaped, cache, out, segmenter);
            }
            let key = rules.key_of_part(escaped, start, end);
            if let Some(key) = key {
                cache.prefetch(key.lookup());
            }
            self.0.push(WordPart { start, end, begins_pre_token, key });
        });
        holds = holds && self.look_up(escaped, cache, out, segmenter);
        self.0.clear();
        holds
    }

    /// Appends the ids of the parts. Returns `false` at the first part that may have other ids in another word.
    fn look_up(
        &mut self,
        escaped: &str,
        cache: &mut WordCache,
        out: &mut Vec<u32>,
        segmenter: &mut PartSegmenter<'_>,
    ) -> bool {
        self.0.drain(..).all(|WordPart { start, end, begins_pre_token, key }| {
            if key.is_some_and(|key| cache.append_cached(key.lookup(), || CacheKey::Short(key), out)) {
                return true;
            }
            let from = out.len();
            if !segmenter.append(&escaped[start..end], begins_pre_token, out) {
                return false;
            }
            // A word without a segmentation must fail each time.
            if let Some(key) = key.filter(|_| !segmenter.scratch.has_failed()) {
                cache.insert_new(key, &out[from..]);
            }
            true
        })
    }
}

impl PartSegmenter<'_> {
    /// Appends the ids of a part. Returns whether the ids are the same in every word that has this part: always for the
    /// first part of a pre-token, because the sum of its scores begins at 0. In Unigram only a first part begins with a
    /// `▁`, so the two kinds of part never share a key.
    fn append(&mut self, part: &str, begins_pre_token: bool, out: &mut Vec<u32>) -> bool {
        let Self { stages, scratch } = self;
        if begins_pre_token {
            stages.model.run(part, &stages.vocab, scratch, out);
            return true;
        }
        stages.model.run_part(part, &stages.vocab, scratch, out)
    }
}
