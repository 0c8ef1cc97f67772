//! Ids aligned with the ASCII spans of a text.
//!
//! A span of ASCII has as many characters as bytes, and so has the text between spans. The length of an entry says what
//! it covers; where it does not, the model segments the word again.

use super::super::stages::Stages;
use super::super::Scratch;
use super::Aligner;
use crate::error::Error;
use crate::model::{ModelScratch, TokenSpan};
use crate::stages::split::bert::{
    AsciiSpan, BertScratch, BertSplitter, FoundSpans, SpanChunk, SpanWord, WordBuffer,
};

/// Align ids with a text that begins at a byte of the original. Return `false` if the ids do not say how they cover it,
/// or if marks may have to be reordered.
pub(in super::super) fn align_ascii_spans(
    stages: &Stages,
    splitter: &BertSplitter,
    (text, start): (&str, usize),
    scratch: &mut Scratch,
    aligner: &mut Aligner<'_>,
) -> Result<bool, Error> {
    let Scratch { model, split, spans: tokens, .. } = scratch;
    let BertScratch { chunk, words } = &mut split.bert;
    let mut spans = SpanAligner { stages, splitter, words, model, tokens, aligner };
    let mut from = 0;
    while from < text.len() {
        let (fits, end) = match splitter.find(text, from, chunk) {
            FoundSpans::Chunk(end) => (spans.chunk(chunk, (text, start))?, end),
            FoundSpans::LongSpan(end) => (spans.split_span(&text[from..end], start + from)?, end),
        };
        if !fits {
            return Ok(false);
        }
        from = end;
    }
    Ok(true)
}

/// Aligns ids with spans.
struct SpanAligner<'s, 'l> {
    stages: &'s Stages,
    splitter: &'s BertSplitter,
    words: &'s mut WordBuffer,
    model: &'s mut ModelScratch,
    tokens: &'s mut Vec<TokenSpan>,
    aligner: &'s mut Aligner<'l>,
}

impl SpanAligner<'_, '_> {
    /// Align a chunk of a text that begins at `start`. Return `false` if the ids do not fit.
    fn chunk(&mut self, chunk: &SpanChunk, (text, start): (&str, usize)) -> Result<bool, Error> {
        let from = start + chunk.from;
        let ascii = |span: AsciiSpan| (!span.needs_actions).then_some((from + span.start, from + span.end));
        let mut all = chunk.spans().spans();
        while let Some(span) = self.aligner.ascii_words(&mut all, ascii) {
            let at = from + span.start;
            let fits = if span.needs_actions {
                self.split_span(chunk.raw(text, span), at)?
            } else {
                let before = self.aligner.char_at(at);
                self.by_model(chunk.lowered(span), |from, to| [before + from as u32, before + to as u32])
            };
            if !fits {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Align a span that is split into words.
    fn split_span(&mut self, span: &str, at: usize) -> Result<bool, Error> {
        let before = self.aligner.char_at(at);
        let splitter = self.splitter;
        let (mut words, mut fits) = (std::mem::take(self.words), true);
        let emit = |word: SpanWord<'_>| {
            let sources = word.sources;
            let chars_of = |from: usize, to: usize| [before + sources[from].0, before + sources[to - 1].1];
            // A byte piece that covers no text is empty.
            let or_empty =
                |from, to| if from < to { chars_of(from, to) } else { [before + sources[from].0; 2] };
            fits = fits
                && (self.aligner.word(word.bytes.len(), chars_of) || self.by_model(word.bytes, or_empty));
        };
        let is_split = splitter.traced_words(span, &mut words, emit);
        *self.words = words;
        self.aligner.pass_text(span);
        Ok(is_split? && fits)
    }

    /// Align a word by the tokens of the model.
    #[inline(never)]
    fn by_model(&mut self, word: &[u8], chars_of: impl Fn(usize, usize) -> [u32; 2]) -> bool {
        let Ok(word) = std::str::from_utf8(word) else { return false };
        self.tokens.clear();
        self.stages.model.run(word, &self.stages.vocab, self.model, self.tokens);
        self.aligner.tokens(self.tokens, chars_of)
    }
}
