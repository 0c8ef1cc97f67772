//! The definition of encoding: the stages one after the other, without a cache. It also encodes where segmentations are
//! drawn at random.

use super::stages::{AddedSpaces, FoundToken, Part, Stages, WordNumber};
use super::{estimated_tokens, Input, Options, Scratch};
use crate::encoding::Token;
use crate::error::Error;
use crate::interrupt;
use crate::model::{ModelScratch, TokenSpan};
use crate::text::{Aligned, CharIndex, PreTokenizedText};

/// Append the ids of an input.
pub(super) fn ids(
    stages: &Stages,
    input: Input<'_>,
    options: Options<'_>,
    scratch: &mut Scratch,
    out: &mut Vec<u32>,
) -> Result<(), Error> {
    let Scratch { model, split, .. } = &mut *scratch;
    for text in input.texts() {
        stages.visit_text(text, options, split, |part| match part {
            Part::Token(found) => out.push(found.id),
            Part::Words(PreTokenizedText { text, spans: words }) => {
                for &(from, to) in words {
                    interrupt::check(1);
                    stages.model.run(&text.text()[from..to], &stages.vocab, model, out);
                }
            }
        })?;
    }
    scratch.model.check()
}

/// Return the tokens of an input, before truncation and post-processing. `index` is 0 for the first sequence of a row
/// and 1 for the second.
///
/// The spans of pre-tokenized words count from the beginning of each word.
pub(super) fn tokens(
    stages: &Stages,
    input: Input<'_>,
    index: u32,
    options: Options<'_>,
    scratch: &mut Scratch,
) -> Result<Vec<Token>, Error> {
    let mut tokens = Vec::with_capacity(estimated_tokens(input.bytes()));
    let Scratch { model, split, spans, added_spaces, .. } = &mut *scratch;
    for (number, text) in input.texts().enumerate() {
        let mut writer = TokenWriter::new(stages, input, number, text, index, &mut tokens, added_spaces);
        stages.visit_text(text, options, split, |part| writer.part(part, model, spans))?;
    }
    scratch.model.check()?;
    Ok(tokens)
}

/// Writes the tokens of one text.
pub(super) struct TokenWriter<'w> {
    stages: &'w Stages,
    chars: CharIndex<'w>,
    sequence: u32,
    number: WordNumber,
    tokens: &'w mut Vec<Token>,
    added_spaces: &'w mut AddedSpaces,
}

impl<'w> TokenWriter<'w> {
    /// Begin a text that has a number among those of its input. `sequence` is 0 or 1.
    pub(super) fn new(
        stages: &'w Stages,
        input: Input<'_>,
        number: usize,
        text: &'w str,
        sequence: u32,
        tokens: &'w mut Vec<Token>,
        added_spaces: &'w mut AddedSpaces,
    ) -> Self {
        let (chars, number) = (CharIndex::new(text), WordNumber::of(input, number));
        Self { stages, chars, sequence, number, tokens, added_spaces }
    }

    /// Write the tokens of a part, which the model segments.
    fn part(&mut self, part: Part<'_>, model: &mut ModelScratch, spans: &mut Vec<TokenSpan>) {
        match part {
            Part::Token(found) => self.added(found),
            Part::Words(PreTokenizedText { text, spans: words }) => {
                for &(from, to) in words {
                    interrupt::check(1);
                    spans.clear();
                    self.stages.model.run(&text.text()[from..to], &self.stages.vocab, model, spans);
                    self.word(text, from, spans);
                }
            }
        }
    }

    /// Write an added token.
    pub(super) fn added(&mut self, found: FoundToken) {
        let word = self.number.take();
        self.push(found.id, found.source, word);
        if let (Some(spaces), Some(token)) = (found.spaces, self.tokens.last_mut()) {
            token.spaces = self.added_spaces.len() as u32;
            self.added_spaces.push(spaces);
        }
    }

    /// Write the tokens of a word that begins at byte `from` of a normalized text.
    pub(super) fn word(&mut self, text: &Aligned, from: usize, spans: &[TokenSpan]) {
        let word = self.number.take();
        for span in spans {
            let covered = (from + span.start as usize, from + span.end as usize);
            self.push(span.id, text.source_of(covered.0, covered.1), word);
        }
    }

    fn push(&mut self, id: u32, source: (u32, u32), word: u32) {
        let chars = [source.0, source.1].map(|byte| self.chars.chars_before(byte));
        self.tokens.push(Token::of_word(id, chars, word, self.sequence));
    }
}
