//! All other pipelines, custom stages included: the stages run one after the other, and the words of normalized text go
//! through the word cache.

use super::stages::{Part, Stages};
use super::{Options, Scratch};
use crate::error::Error;
use crate::model::{BatchWord, ModelScratch};
use crate::text::PreTokenizedText;
use crate::word_cache::{CacheKey, CachedWords, QueueWord, SegmentBatch, WordCache, Words, WINDOW};
use crate::word_key::WordKey;

/// The longest cached word, in bytes.
const MAX_CACHED_BYTES: usize = 64;
/// Memory that the queue keeps after a flush, in bytes.
const KEPT_BYTES: usize = 1 << 20;

/// The route of pipelines that no other route takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Generic;

/// Cache misses that wait for a batch.
#[derive(Clone, Debug, Default)]
pub(super) struct MissQueue {
    bytes: Vec<u8>,
    words: Vec<BatchWord>,
}

impl Generic {
    /// Append the ids of a span of raw text that begins at byte `start` of the original, except those of pending words.
    pub(super) fn ids(
        self,
        stages: &Stages,
        span: &str,
        start: usize,
        options: Options<'_>,
        scratch: &mut Scratch,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let Scratch { cache, lookup, model, split, route, .. } = scratch;
        let segmenter = Segmenter { stages, model, queue: &mut route.generic };
        let mut cached = CachedWords { cache, scratch: lookup, segmenter };
        stages.visit_span(span, start as u32, options, split, |part| match part {
            Part::Token(id, _) => out.push(id),
            Part::Words(PreTokenizedText { text, spans }) => {
                for spans in spans.chunks(WINDOW) {
                    let Ok(()) = cached.append(&PieceWords { text: text.text(), spans }, out);
                }
            }
        })
    }

    /// Segment all pending words and splice their ids into the output.
    pub(super) fn flush(self, stages: &Stages, scratch: &mut Scratch, out: &mut Vec<u32>) {
        let Scratch { cache, lookup, model, route, .. } = scratch;
        let segmenter = Segmenter { stages, model, queue: &mut route.generic };
        CachedWords { cache, scratch: lookup, segmenter }.flush(out);
    }
}

/// A window of words: spans of normalized text.
struct PieceWords<'p> {
    text: &'p str,
    spans: &'p [(usize, usize)],
}

impl PieceWords<'_> {
    #[inline(always)]
    fn key_at(&self, (start, end): (usize, usize)) -> CacheKey<'_> {
        match WordKey::at(self.text.as_bytes(), start, end) {
            Some(key) => CacheKey::Short(key),
            None if (1..=MAX_CACHED_BYTES).contains(&(end - start)) => {
                CacheKey::Long(&self.text.as_bytes()[start..end], 0)
            }
            None => CacheKey::Uncached,
        }
    }
}

impl Words for PieceWords<'_> {
    fn len(&self) -> usize {
        self.spans.len()
    }

    fn keys(&self) -> impl Iterator<Item = CacheKey<'_>> {
        self.spans.iter().map(|&span| self.key_at(span))
    }

    fn key(&self, number: usize) -> CacheKey<'_> {
        self.key_at(self.spans[number])
    }
}

/// Segments queued words.
struct Segmenter<'s> {
    stages: &'s Stages,
    model: &'s mut ModelScratch,
    queue: &'s mut MissQueue,
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
        !model.missing_unk
    }
}
