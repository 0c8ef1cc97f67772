//! Segments ASCII cache misses for models that merge several short words at once.
//!
//! Long words are split into parts. Short words and parts are merged in batches; the ids are appended in text order.

use std::ops::Range;

use piecework_kernels::merges::{ShortWordBatch, MAX_WORDS};

use super::layout::WordRules;
use crate::engine::stages::Stages;
use crate::model::{Model, ModelScratch};
use crate::text::METASPACE;

/// The maximum number of queued steps.
const MAX_STEPS: usize = 4 * MAX_WORDS;

/// Steps that are queued until a batch of short words is full.
#[derive(Clone, Debug, Default)]
pub(super) struct StepQueue {
    /// The ASCII text of the steps, with a space for each `▁`.
    text: Vec<u8>,
    steps: Vec<Step>,
    short_count: usize,
    escaped: String,
    /// The index of the first id of the next word.
    word_start: usize,
    /// The number of each finished word and the span of its ids.
    spans: Vec<(usize, (usize, usize))>,
}

#[derive(Clone, Debug)]
enum Step {
    /// Merge a short part in a batch with others.
    Merge(Range<usize>),
    /// Segment a part that is too long for a batch.
    Segment(Range<usize>),
    /// Store the span of the word with this number.
    End(usize),
}

impl StepQueue {
    /// Remove and return the spans of finished words.
    pub(super) fn drain_spans(&mut self) -> impl Iterator<Item = (usize, (usize, usize))> + '_ {
        self.spans.drain(..)
    }
}

/// Return whether a model merges several words at once.
pub(super) fn interleaves(stages: &Stages) -> bool {
    matches!(&*stages.model, Model::ScoredBpe(model) if model.merges_in_batches(&stages.vocab))
}

/// Segments words and appends their ids in order; the last ones are queued until [`Interleaved::finish`].
pub(super) struct Interleaved<'s> {
    pub(super) stages: &'s Stages,
    pub(super) rules: &'s WordRules,
    pub(super) model: &'s mut ModelScratch,
    pub(super) steps: &'s mut StepQueue,
    pub(super) ids: &'s mut Vec<u32>,
}

impl Interleaved<'_> {
    /// Append a word, given as ASCII with a space for each `▁`.
    pub(super) fn push(&mut self, word: &[u8], number: usize) {
        if self.steps.steps.is_empty() {
            self.steps.word_start = self.ids.len();
        }
        match &self.rules.pairs {
            Some(pairs) if word.len() > ShortWordBatch::MAX_BYTES => {
                pairs
                    .split((0..).zip(escape(word)), word.len(), |from, to| self.push_part(&word[from..to]));
            }
            _ => self.push_part(word),
        }
        self.steps.steps.push(Step::End(number));
    }

    fn push_part(&mut self, part: &[u8]) {
        if self.steps.short_count == MAX_WORDS || self.steps.steps.len() >= MAX_STEPS {
            self.finish();
        }
        let StepQueue { text, steps, short_count, .. } = &mut *self.steps;
        let from = text.len();
        text.extend_from_slice(part);
        let is_short = part.len() <= ShortWordBatch::MAX_BYTES;
        *short_count += usize::from(is_short);
        let span = from..text.len();
        steps.push(if is_short { Step::Merge(span) } else { Step::Segment(span) });
    }

    /// Run all queued steps.
    pub(super) fn finish(&mut self) {
        let Model::ScoredBpe(model) = &*self.stages.model else { return };
        let mut queue = std::mem::take(self.steps);
        let StepQueue { text, steps, short_count, .. } = &queue;
        let mut words = [&[][..]; MAX_WORDS];
        let short =
            steps.iter().filter_map(|step| if let Step::Merge(span) = step { Some(span) } else { None });
        words.iter_mut().zip(short).for_each(|(word, span)| *word = &text[span.clone()]);
        model.merge_batch(&words[..*short_count], &self.stages.vocab, &mut self.model.scored_bpe);
        let mut row = 0;
        for step in queue.steps.drain(..) {
            match step {
                Step::Merge(span) => {
                    if !model.push_merged(row, &mut self.model.scored_bpe, self.ids) {
                        self.segment(&queue.text[span], &mut queue.escaped);
                    }
                    row += 1;
                }
                Step::Segment(span) => self.segment(&queue.text[span], &mut queue.escaped),
                Step::End(number) => {
                    queue.spans.push((number, (queue.word_start, self.ids.len())));
                    queue.word_start = self.ids.len();
                }
            }
        }
        queue.text.clear();
        queue.short_count = 0;
        *self.steps = queue;
    }

    fn segment(&mut self, part: &[u8], text: &mut String) {
        text.clear();
        text.extend(escape(part));
        self.stages.model.run(text, &self.stages.vocab, self.model, self.ids);
    }
}

/// Return the characters of ASCII text with a `▁` for each space.
fn escape(text: &[u8]) -> impl Iterator<Item = char> + '_ {
    text.iter().map(|&byte| if byte == b' ' { METASPACE } else { byte.into() })
}
