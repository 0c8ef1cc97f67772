//! Ids laid along the stretches of a text.
//!
//! A stretch of ASCII has as many characters as bytes, and so has what is between stretches: characters are
//! counted along the way. What an entry covers is told by its length; where it does not tell, the model says it.

use super::apart::{self, Word, Written};
use super::edges::Stretch;
use super::{Chunk, Part, StretchScratch, Stretches};
use crate::encode::laid::Line;
use crate::encode::{Scratch, Tokenizer};
use crate::error::Error;
use crate::model::{ModelScratch, Piece};

impl Tokenizer {
    /// Lay ids along a segment that begins at a byte of the text; false where they do not tell how they cover it, or
    /// where marks may have to be ordered, so that sources are no matter of one character.
    pub(in crate::encode) fn lay_stretches(
        &self,
        stretches: &Stretches,
        (segment, start): (&str, usize),
        scratch: &mut Scratch,
        line: &mut Line<'_>,
    ) -> Result<bool, Error> {
        let Scratch { model, split, pieces, .. } = scratch;
        let StretchScratch { edges, lowered, written, .. } = &mut split.stretches;
        let mut words = LaidWords { pipeline: self, model, pieces, line };
        let mut fits = true;
        stretches.parts(segment, edges, lowered, |part| {
            fits = fits
                && match part {
                    Part::Chunk(chunk) => words.chunk(&chunk, start, stretches, written)?,
                    Part::Stretch(stretch, at) => {
                        words.take_apart(stretch, start + at, stretches, written)?
                    }
                };
            Ok(())
        })?;
        Ok(fits)
    }
}

/// Lays ids along words.
struct LaidWords<'s, 'l> {
    pipeline: &'s Tokenizer,
    model: &'s mut ModelScratch,
    pieces: &'s mut Vec<Piece>,
    line: &'s mut Line<'l>,
}

impl LaidWords<'_, '_> {
    /// Lay ids along a chunk of a segment that begins at `start`; false where they do not fit.
    fn chunk(
        &mut self,
        chunk: &Chunk<'_>,
        start: usize,
        stretches: &Stretches,
        written: &mut Written,
    ) -> Result<bool, Error> {
        let from = start + chunk.from;
        let plain = |stretch: Stretch| {
            (!stretch.needs_tables).then_some((from + stretch.start, from + stretch.end))
        };
        let all = chunk.edges.all();
        let mut all = all.stretches();
        while let Some(stretch) = self.line.plain_words(&mut all, plain) {
            let at = from + stretch.start;
            let fits = if stretch.needs_tables {
                self.take_apart(chunk.raw(stretch), at, stretches, written)?
            } else {
                let before = self.line.char_at(at);
                self.by_model(chunk.lowered(stretch), |from, to| [before + from as u32, before + to as u32])
            };
            if !fits {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn take_apart(
        &mut self,
        stretch: &str,
        at: usize,
        stretches: &Stretches,
        written: &mut Written,
    ) -> Result<bool, Error> {
        let before = self.line.char_at(at);
        let tables = (&stretches.fates, self.pipeline.splitter().normalizer());
        let mut fits = true;
        let emit = |word: Word<'_>| {
            let sources = word.sources;
            let chars_of = |from: usize, to: usize| [before + sources[from].0, before + sources[to - 1].1];
            // A byte piece that covers no text is empty.
            let or_empty =
                |from, to| if from < to { chars_of(from, to) } else { [before + sources[from].0; 2] };
            fits =
                fits && (self.line.word(word.bytes.len(), chars_of) || self.by_model(word.bytes, or_empty));
        };
        let is_apart = apart::words::<true>(stretch, tables, written, emit)?.is_none();
        self.line.pass_text(stretch);
        Ok(is_apart && fits)
    }

    /// Lay ids along a word as the model segments it.
    #[inline(never)]
    fn by_model(&mut self, word: &[u8], chars_of: impl Fn(usize, usize) -> [u32; 2]) -> bool {
        let Ok(word) = std::str::from_utf8(word) else { return false };
        self.pieces.clear();
        let tables = &self.pipeline.tables;
        tables.model.run(word, &tables.vocab, self.model, self.pieces);
        self.line.pieces(self.pieces, chars_of)
    }
}
