//! Encodes words through the word cache, for models that segment each word independently.

use super::super::stages::Stages;
use super::super::Scratch;
use super::interleaved::{interleaves, Interleaved, StepQueue};
use super::parts::{PartSegmenter, WordParts};
use super::word_rules::WordRules;
use super::word_source::{SourceWords, WordSource};
use super::MetaspaceScratch;
use crate::error::Error;
use crate::model::ModelScratch;
use crate::text::ExpansionLimit;
use crate::word_cache::{CachedWords, QueueWord, SegmentBatch, WordCache, WINDOW};

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
    let interleaves = interleaves(stages, model);
    let segmenter =
        Segmenter { stages, rules: source.rules, model, queue, interleaves, buffers: Some(buffers) };
    let mut cached = CachedWords { cache, scratch: lookup, segmenter };
    let mut result = Ok(());
    words.clear();
    source.words(masks, |word| {
        words.push(word);
        if words.len() == WINDOW {
            if result.is_ok() {
                result = cached.append(&SourceWords { source, words }, out);
            }
            words.clear();
        }
    });
    result.and_then(|()| cached.append(&SourceWords { source, words }, out))
}

/// Segments all pending words and splices their ids into the output.
pub(super) fn flush(stages: &Stages, rules: &WordRules, scratch: &mut Scratch, out: &mut Vec<u32>) {
    let Scratch { cache, lookup, model, route, .. } = scratch;
    let queue = &mut route.metaspace.queue;
    let interleaves = interleaves(stages, model);
    let segmenter = Segmenter { stages, rules, model, queue, interleaves, buffers: None };
    CachedWords { cache, scratch: lookup, segmenter }.flush(out);
}

/// Segments queued words.
pub(super) struct Segmenter<'s> {
    stages: &'s Stages,
    rules: &'s WordRules,
    model: &'s mut ModelScratch,
    queue: &'s mut MissQueue,
    /// Whether the model merges several ASCII words at once.
    interleaves: bool,
    /// Buffers to escape words; `None` while flushing.
    buffers: Option<Buffers<'s>>,
}

/// Buffers and the length limit for escaping words.
struct Buffers<'s> {
    escaped: &'s mut String,
    normalized: &'s mut String,
    limit: &'s mut ExpansionLimit,
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
        !model.missing_unk
    }
}
