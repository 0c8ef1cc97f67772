//! The byte-level route: words are spans of the text up to the model, which is not rewritten unless there is a normalizer.
//!
//! words    words of a text, and the queue of cache misses
//! offsets  ids aligned with the words

mod offsets;
mod words;

#[cfg(test)]
mod tests;

pub(super) use words::MissQueue;

use super::stages::Stages;
use super::{Options, Scratch};
use crate::engine::word_cache::CachedWords;
use crate::error::Error;
use crate::spec::ModelSpec;
use crate::stages::added_tokens::Segment;
use crate::stages::normalize::Normalizer;
use words::{append_words, Segmenter};

/// The route of byte-level pipelines.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByteLevel {
    aligns: bool,
}

impl ByteLevel {
    /// Returns the route of compiled stages.
    pub(super) fn of(stages: &Stages) -> Self {
        Self { aligns: aligns(stages) }
    }

    /// Whether ids can be aligned with their text.
    pub(super) fn aligns(self) -> bool {
        self.aligns
    }

    /// Append the ids of a span of raw text, except those of pending words.
    pub(super) fn ids(
        self,
        stages: &Stages,
        span: &str,
        options: Options<'_>,
        scratch: &mut Scratch,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let Scratch { cache, lookup, model, split, route, .. } = scratch;
        let queue = &mut route.byte_level;
        let mut long = std::mem::take(&mut queue.long);
        let text = match stages.splitter.normalizer() {
            Normalizer::Identity => span,
            normalizer => {
                split.normalized.clear();
                normalizer.run(span, 0, &mut split.normalized)?;
                split.normalized.as_str()
            }
        };
        let mut words =
            CachedWords { cache, scratch: lookup, segmenter: Segmenter { stages, model, queue } };
        let mut result = Ok(());
        stages.added_tokens.split_normalized(text, options.parse_special, |segment| match segment {
            _ if result.is_err() => {}
            Segment::Token(id, ..) => out.push(id),
            Segment::Text(start, end) => {
                let pre_tokenizer = stages.splitter.pre_tokenizer();
                result = pre_tokenizer.split_raw(&text[start..end], &mut split.scan, |span, _, found| {
                    append_words(span, found, &mut words, &mut long, out);
                });
            }
        });
        words.segmenter.queue.long = long;
        result
    }

    /// Segment all pending words and splice their ids into the output.
    pub(super) fn flush(self, stages: &Stages, scratch: &mut Scratch, out: &mut Vec<u32>) {
        let Scratch { cache, lookup, model, route, .. } = scratch;
        let segmenter = Segmenter { stages, model, queue: &mut route.byte_level };
        CachedWords { cache, scratch: lookup, segmenter }.flush(out);
    }
}

/// Whether the tokens of a text are its bytes in their order.
fn aligns(stages: &Stages) -> bool {
    let ModelSpec::Bpe(spec) = &*stages.model_spec else { return false };
    stages.splitter.splits_raw() && !spec.has_affixes() && !spec.byte_fallback
}
