//! Segments the queued words of a route.

use super::super::stages::Stages;
use super::super::words::WordParts;
use super::QueuedWords;
use crate::engine::word_cache::WordCache;
use crate::model::ModelScratch;

/// Segments queued words.
pub(in super::super) struct Segmenter<'s> {
    pub(in super::super) stages: &'s Stages,
    pub(in super::super) model: &'s mut ModelScratch,
    pub(in super::super) method: Method<'s>,
}

/// What the queued words of a route are.
pub(in super::super) enum Method<'s> {
    /// The text that the model segments.
    Text,
    /// Bytes of a byte-level vocabulary.
    Bytes,
    /// Text with spaces as `▁`, which is segmented part by part.
    Parts(WordParts<'s>),
}

impl Segmenter<'_> {
    /// Append the ids of words and set where they are. Return whether they may be stored. A word without bytes keeps its
    /// ids.
    pub(super) fn segment(
        &mut self,
        QueuedWords { text, escaped, words, .. }: &mut QueuedWords,
        cache: &mut WordCache,
        ids: &mut Vec<u32>,
    ) -> bool {
        let Self { stages, model, method } = self;
        match method {
            Method::Text => stages.model.run_batch(text, words, &stages.vocab, model, ids),
            Method::Bytes => stages.model.run_byte_level_batch(text, words, &stages.vocab, model, ids),
            Method::Parts(parts) => parts.run_batch(escaped, words, (stages, model), cache, ids),
        }
        !model.has_failed()
    }
}
