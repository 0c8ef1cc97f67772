//! The words of normalized text for the word cache, and the queue of misses.

use super::super::stages::Stages;
use crate::engine::word_cache::{CacheKey, QueueWord, SegmentBatch, WordCache, Words};
use crate::model::{BatchWord, ModelScratch};
use crate::word_key::WordKey;

/// The longest cached word, in bytes.
const MAX_CACHED_BYTES: usize = 64;
/// Memory that the queue keeps after a flush, in bytes.
const KEPT_BYTES: usize = 1 << 20;

/// Cache misses that wait for a batch.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct MissQueue {
    bytes: Vec<u8>,
    words: Vec<BatchWord>,
}

/// A window of words: spans of normalized text.
pub(super) struct PieceWords<'p> {
    pub(super) text: &'p str,
    pub(super) spans: &'p [(usize, usize)],
}

impl Words for PieceWords<'_> {
    fn len(&self) -> usize {
        self.spans.len()
    }

    fn short_keys(&self) -> impl Iterator<Item = WordKey> {
        self.spans.iter().map(|&(start, end)| WordKey::at_or_none(self.text.as_bytes(), start, end))
    }

    fn key(&self, number: usize) -> CacheKey<'_> {
        CacheKey::at(self.text, self.spans[number], MAX_CACHED_BYTES)
    }
}

/// Segments queued words.
pub(super) struct Segmenter<'s> {
    pub(super) stages: &'s Stages,
    pub(super) model: &'s mut ModelScratch,
    pub(super) queue: &'s mut MissQueue,
}

impl QueueWord<PieceWords<'_>> for Segmenter<'_> {
    type Error = std::convert::Infallible;

    fn queue(&mut self, words: &PieceWords<'_>, number: usize, _: &WordCache) -> Result<bool, Self::Error> {
        let (start, end) = words.spans[number];
        let MissQueue { bytes, words: queued } = &mut *self.queue;
        queued.push(BatchWord { bytes: (bytes.len(), bytes.len() + end - start), ids: (0, 0) });
        bytes.extend_from_slice(&words.text.as_bytes()[start..end]);
        Ok(true)
    }
}

impl SegmentBatch for Segmenter<'_> {
    fn segment<'s>(
        &mut self,
        _: &mut WordCache,
        spans_of_ids: impl Iterator<Item = &'s mut (usize, usize)>,
        ids: &mut Vec<u32>,
    ) -> bool {
        let Self { stages, model, queue: MissQueue { bytes, words } } = self;
        stages.model.run_batch(bytes, words, &stages.vocab, model, ids);
        spans_of_ids.zip(&*words).for_each(|(span, word)| *span = word.ids);
        bytes.clear();
        bytes.shrink_to(KEPT_BYTES);
        words.clear();
        !model.has_failed()
    }
}
