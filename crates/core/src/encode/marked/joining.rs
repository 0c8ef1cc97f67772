//! New words of ASCII and marks for models that join short ones at once: long ones part by part, and the parts of all,
//! in their order.

use std::ops::Range;

use piecework_kernels::merges::{ShortWords, MAX_WORDS};

use super::super::later::Held;
use super::form::MARK;
use super::source::Source;
use crate::model::{Model, ModelScratch, SentencePiece};
use crate::vocab::Vocab;

/// So many steps at most are put off.
const MOST_STEPS: usize = 4 * MAX_WORDS;

/// What is put off until there is enough to be joined at once.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    /// Text with spaces for marks.
    text: Vec<u8>,
    steps: Vec<Step>,
    joins: usize,
    marked: String,
}

#[derive(Clone, Debug)]
enum Step {
    /// Join a short part of a word with others.
    Join(Range<usize>),
    /// Segment another part.
    Run(Range<usize>),
    /// The word with this number ends.
    End(usize),
}

/// Segments words one after the other, some steps late.
pub(super) struct Joining<'s> {
    model: &'s Model,
    sentencepiece: &'s SentencePiece,
    vocab: &'s Vocab,
    scratch: &'s mut ModelScratch,
    waiting: &'s mut Waiting,
    pub(super) held: &'s mut Held,
    /// Where the ids of the word begin that is next to end.
    begun: usize,
}

impl<'s> Joining<'s> {
    /// Nothing, if the model joins no words at once.
    pub(super) fn new(
        model: &'s Model,
        vocab: &'s Vocab,
        scratch: &'s mut ModelScratch,
        waiting: &'s mut Waiting,
        held: &'s mut Held,
    ) -> Option<Self> {
        let Model::SentencePiece(sentencepiece) = model else { return None };
        let begun = held.ids.len();
        sentencepiece.merges_in_batches(scratch).then_some(Self {
            model,
            sentencepiece,
            vocab,
            scratch,
            waiting,
            held,
            begun,
        })
    }

    /// Take a word, given as ASCII with spaces for marks, that comes later with a number.
    pub(super) fn take(&mut self, word: &[u8], number: usize, source: Source<'_>) {
        match &source.form.pairs {
            Some(pairs) if word.len() > ShortWords::MAX_BYTES => {
                pairs
                    .split((0..).zip(marked(word)), word.len(), |from, to| self.take_part(&word[from..to]));
            }
            _ => self.take_part(word),
        }
        self.waiting.steps.push(Step::End(number));
    }

    fn take_part(&mut self, part: &[u8]) {
        if self.waiting.joins == MAX_WORDS || self.waiting.steps.len() >= MOST_STEPS {
            self.finish();
        }
        let Waiting { text, steps, joins, .. } = &mut *self.waiting;
        let from = text.len();
        text.extend_from_slice(part);
        let is_short = part.len() <= ShortWords::MAX_BYTES;
        *joins += usize::from(is_short);
        steps.push(if is_short { Step::Join(from..text.len()) } else { Step::Run(from..text.len()) });
    }

    /// Do what waits.
    pub(super) fn finish(&mut self) {
        let mut waiting = std::mem::take(self.waiting);
        let Waiting { text, steps, joins, .. } = &waiting;
        let mut words = [&[][..]; MAX_WORDS];
        let short =
            steps.iter().filter_map(|step| if let Step::Join(span) = step { Some(span) } else { None });
        words.iter_mut().zip(short).for_each(|(word, span)| *word = &text[span.clone()]);
        self.sentencepiece.merge_batch(&words[..*joins], self.scratch);
        let mut row = 0;
        for step in waiting.steps.drain(..) {
            match step {
                Step::Join(span) => {
                    if !self.sentencepiece.push_merged(row, self.scratch, &mut self.held.ids) {
                        self.run(&waiting.text[span], &mut waiting.marked);
                    }
                    row += 1;
                }
                Step::Run(span) => self.run(&waiting.text[span], &mut waiting.marked),
                Step::End(number) => {
                    self.held.words[number].ids = (self.begun, self.held.ids.len());
                    self.begun = self.held.ids.len();
                }
            }
        }
        waiting.text.clear();
        waiting.joins = 0;
        *self.waiting = waiting;
    }

    fn run(&mut self, part: &[u8], text: &mut String) {
        text.clear();
        text.extend(marked(part));
        self.model.run(text, self.vocab, self.scratch, &mut self.held.ids);
    }
}

/// The characters that ASCII with spaces for marks stands for.
fn marked(text: &[u8]) -> impl Iterator<Item = char> + '_ {
    text.iter().map(|&byte| if byte == b' ' { MARK } else { byte.into() })
}
