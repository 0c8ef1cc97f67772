//! The generic route, for pipelines that no other route takes: the stages run one after the other, and the words of
//! normalized text go through the word cache.

mod words;

pub(super) use words::MissQueue;

use super::stages::{Part, Stages};
use super::{Options, Scratch};
use crate::engine::word_cache::{CachedWords, WINDOW};
use crate::error::Error;
use crate::text::PreTokenizedText;
use words::{PieceWords, Segmenter};

/// The route of pipelines that no other route takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Generic;

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
            Part::Token(found) => out.push(found.id),
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
