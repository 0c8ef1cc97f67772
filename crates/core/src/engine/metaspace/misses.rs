//! The queue of cache misses.

use super::super::stages::Stages;
use super::interleaved::{Interleaved, StepQueue};
use super::parts::{PartSegmenter, WordParts};
use super::word_rules::WordRules;
use super::word_source::SourceWords;
use crate::engine::word_cache::{QueueWord, SegmentBatch, WordCache};
use crate::error::Error;
use crate::model::ModelScratch;
use crate::text::ExpansionLimit;

/// The text capacity of the queue after a flush, in bytes.
const KEPT_BYTES: usize = 1 << 20;

/// Pending words: cache misses that are segmented in one batch.
#[derive(Clone, Debug, Default)]
pub(super) struct MissQueue {
    text: String,
    words: Vec<QueuedWord>,
    parts: WordParts,
    steps: StepQueue,
}

/// A pending word.
#[derive(Clone, Copy, Debug)]
struct QueuedWord {
    /// The byte span in the text of the queue.
    text: (usize, usize),
    /// Whether the text is ASCII with a space for each `▁`.
    is_ascii: bool,
    /// The span of the ids.
    ids: (usize, usize),
}

impl MissQueue {
    /// Appends a word.
    fn push(&mut self, text: &str, is_ascii: bool) {
        let from = self.text.len();
        self.text.push_str(text);
        self.words.push(QueuedWord { text: (from, self.text.len()), is_ascii, ids: (0, 0) });
    }
}

/// Segments queued words.
pub(super) struct Segmenter<'s> {
    pub(super) stages: &'s Stages,
    pub(super) rules: &'s WordRules,
    pub(super) model: &'s mut ModelScratch,
    pub(super) queue: &'s mut MissQueue,
    /// Whether the model merges several ASCII words at once.
    pub(super) interleaves: bool,
    /// Buffers to escape words; `None` while flushing.
    pub(super) buffers: Option<Buffers<'s>>,
}

/// Buffers and the length limit for escaping words.
pub(super) struct Buffers<'s> {
    pub(super) escaped: &'s mut String,
    pub(super) normalized: &'s mut String,
    pub(super) limit: &'s mut ExpansionLimit,
}

impl QueueWord<SourceWords<'_>> for Segmenter<'_> {
    type Error = Error;

    fn queue(&mut self, words: &SourceWords<'_>, number: usize, _: &WordCache) -> Result<bool, Error> {
        let (source, word) = (words.source, words.words[number]);
        let Some(Buffers { escaped, normalized, limit }) = &mut self.buffers else { return Ok(false) };
        if self.interleaves && source.is_plain(word) {
            source.write_ascii(word, escaped);
            self.queue.push(escaped, true);
        } else {
            source.write_escaped(word, normalized, escaped)?;
            limit.take(escaped.len())?;
            self.queue.push(escaped, false);
        }
        Ok(!source.depends_on_space(word))
    }
}

impl SegmentBatch for Segmenter<'_> {
    fn segment<'s>(
        &mut self,
        cache: &mut WordCache,
        spans: impl Iterator<Item = &'s mut (usize, usize)>,
        ids: &mut Vec<u32>,
    ) -> bool {
        let Self { stages, rules, model, queue, .. } = self;
        let MissQueue { text, words, parts, steps } = &mut **queue;
        if self.interleaves {
            let mut interleaved = Interleaved { stages, rules, model, steps, ids };
            for (number, word) in words.iter().enumerate().filter(|(_, word)| word.is_ascii) {
                interleaved.push(&text.as_bytes()[word.text.0..word.text.1], number);
            }
            interleaved.finish();
            steps.drain_spans().for_each(|(number, span)| words[number].ids = span);
        }
        for word in words.iter_mut().filter(|word| !word.is_ascii) {
            let from = ids.len();
            let segmenter = PartSegmenter { stages, scratch: model };
            parts.append(&text[word.text.0..word.text.1], rules, cache, ids, segmenter);
            word.ids = (from, ids.len());
        }
        spans.zip(&*words).for_each(|(span, word)| *span = word.ids);
        text.clear();
        text.shrink_to(KEPT_BYTES);
        words.clear();
        !model.has_failed()
    }
}
