//! The BERT route: the normalizer (BERT's or none) and the pre-tokenizer (BERT's or whitespace) decide character by
//! character. The words of the cache are ASCII spans of the raw text.
//!
//! A span of ASCII letters and digits is a word; its key is the lowercased word. Any other span has a key of another
//! kind, of its raw text with ASCII capitals lowercased: normalizing and splitting it happens once.
//!
//! window   the spans of a window, and their keys
//! misses   the queue of cache misses: spans split into words, and their ids
//! offsets  ids aligned with the spans

mod misses;
mod offsets;
mod window;

#[cfg(test)]
mod tests;

pub(super) use misses::MissQueue;

use std::sync::Arc;

use super::stages::Stages;
use super::Scratch;
use crate::engine::word_cache::{CachedWords, WINDOW};
use crate::error::Error;
use crate::stages::split::bert::{BertScratch, BertSplitter, SpanPart};
use crate::stages::split::SplitScratch;
use misses::Segmenter;
use window::SpanWindow;

/// The route of BERT's pipelines.
#[derive(Clone, Debug)]
pub(super) struct Bert {
    splitter: Arc<BertSplitter>,
}

impl Bert {
    /// Returns the route of a splitter.
    pub(super) fn of(splitter: &Arc<BertSplitter>) -> Self {
        Self { splitter: Arc::clone(splitter) }
    }

    /// Append the ids of a span of raw text, except those of pending words.
    pub(super) fn ids(
        &self,
        stages: &Stages,
        text: &str,
        scratch: &mut Scratch,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let splitter = &*self.splitter;
        let Scratch { cache, lookup, model, split, route, .. } = scratch;
        let SplitScratch { bert: BertScratch { finder, lowered, words }, normalized, .. } = split;
        let segmenter = Segmenter { stages, splitter, model, words, normalized, queue: &mut route.bert };
        let mut cached = CachedWords { cache, scratch: lookup, segmenter };
        splitter.parts(text, finder, lowered, |part| match part {
            SpanPart::Chunk(chunk) => chunk
                .finder
                .groups(WINDOW)
                .try_for_each(|spans| cached.append(&SpanWindow { chunk: &chunk, spans }, out)),
            SpanPart::LongSpan(span, _) => misses::append_long_span(span, &mut cached, out),
        })
    }

    /// Segment all pending spans and splice their ids into the output.
    pub(super) fn flush(&self, stages: &Stages, scratch: &mut Scratch, out: &mut Vec<u32>) {
        let Scratch { cache, lookup, model, split, route, .. } = scratch;
        let SplitScratch { bert: BertScratch { words, .. }, normalized, .. } = split;
        let splitter = &*self.splitter;
        let segmenter = Segmenter { stages, splitter, model, words, normalized, queue: &mut route.bert };
        CachedWords { cache, scratch: lookup, segmenter }.flush(out);
    }
}
