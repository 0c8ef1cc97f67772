//! Encodes words through the word cache, for models that segment each word independently.

use super::super::stages::Stages;
use super::super::Scratch;
use super::interleaved::interleaves;
use super::misses::{Buffers, Segmenter};
use super::scratch::MetaspaceScratch;
use super::word_rules::WordRules;
use super::word_source::{SourceWords, WordSource};
use crate::engine::word_cache::{CachedWords, WINDOW};
use crate::error::Error;
use crate::text::ExpansionLimit;

/// Appends the ids of all words of a text, except those of pending words.
pub(super) fn append(
    stages: &Stages,
    source: WordSource<'_>,
    scratch: &mut Scratch,
    out: &mut Vec<u32>,
) -> Result<(), Error> {
    let Scratch { cache, lookup, model, route, .. } = scratch;
    let MetaspaceScratch { masks, words, escaped, normalized, queue, .. } = &mut route.metaspace;
    let mut limit = ExpansionLimit::of(source.text.len());
    let buffers = Buffers { escaped, normalized, limit: &mut limit };
    let interleaves = interleaves(stages);
    let segmenter =
        Segmenter { stages, rules: source.rules, model, queue, interleaves, buffers: Some(buffers) };
    let mut cached = CachedWords { cache, scratch: lookup, segmenter };
    let mut result = Ok(());
    words.clear();
    source.words(masks, |word| {
        if result.is_err() {
            return;
        }
        cached.push(source.cache_key(word));
        words.push(word);
        if words.len() == WINDOW {
            result = cached.append(&SourceWords { source, words }, out);
            words.clear();
        }
    });
    result.and_then(|()| cached.append(&SourceWords { source, words }, out))
}

/// Segments all pending words and splices their ids into the output.
pub(super) fn flush(stages: &Stages, rules: &WordRules, scratch: &mut Scratch, out: &mut Vec<u32>) {
    let Scratch { cache, lookup, model, route, .. } = scratch;
    let queue = &mut route.metaspace.queue;
    let interleaves = interleaves(stages);
    let segmenter = Segmenter { stages, rules, model, queue, interleaves, buffers: None };
    CachedWords { cache, scratch: lookup, segmenter }.flush(out);
}
