//! From stretches to tokens with the characters behind them.
//!
//! A stretch of ASCII has as many characters as bytes, and so has what is between stretches: characters are
//! counted along the way. The ids of a word come from the memo, and tell its pieces by their lengths.

use super::apart::{self, Word, Written};
use super::edges::Stretch;
use super::one_by_one::WordIds;
use super::{Chunk, Part, StretchScratch, Stretches};
use crate::error::Error;
use crate::memo::{self, Key};
use crate::model::{Model, Piece};
use crate::normalize::Normalizer;
use crate::pipeline::tokens::TokenWriter;
use crate::pipeline::{Options, Pipeline, Scratch};

/// How many stretches are asked for before the first is looked up.
const GROUP: usize = 32;

impl Pipeline {
    /// Write the tokens of a text.
    pub(in crate::pipeline) fn stretch_tokens(
        &self,
        stretches: &Stretches,
        text: &str,
        options: Options<'_>,
        scratch: &mut Scratch,
        writer: &mut TokenWriter<'_>,
    ) -> Result<(), Error> {
        self.tokens_by(text, options, scratch, writer, |segment, start, scratch, writer| {
            self.segment_tokens(stretches, segment, start, scratch, writer)
        })
    }

    /// Write the tokens of a segment that stands at byte `start`; gives false where marks may have to be
    /// ordered, so that sources are no matter of one character.
    fn segment_tokens(
        &self,
        stretches: &Stretches,
        segment: &str,
        start: u32,
        scratch: &mut Scratch,
        writer: &mut TokenWriter<'_>,
    ) -> Result<bool, Error> {
        let Scratch { memo, texts, model: model_scratch, split, pieces, .. } = scratch;
        let StretchScratch { edges, lowered, written, ids, .. } = &mut split.stretches;
        let (model, vocab) = (&self.model, &self.vocab);
        let words = WordIds { model, vocab, memo, texts, scratch: model_scratch, out: ids };
        let chars = Chars { bytes: 0, chars: writer.chars_before(start) };
        let mut words = WordTokens { words, pieces, writer };
        let mut tokens =
            StretchTokens { stretches, normalizer: self.splitter.normalizer(), written, chars };
        let mut is_whole = true;
        stretches.parts(segment, edges, lowered, |part| {
            is_whole = is_whole
                && match part {
                    Part::Chunk(chunk) => tokens.chunk(&chunk, &mut words)?,
                    Part::Stretch(stretch, at) => tokens.take_apart(stretch, at, &mut words)?,
                };
            Ok(())
        })?;
        Ok(is_whole)
    }
}

/// Goes from stretch to stretch of a segment.
struct StretchTokens<'s> {
    stretches: &'s Stretches,
    normalizer: &'s Normalizer,
    written: &'s mut Written,
    chars: Chars,
}

/// Writes the tokens of words.
struct WordTokens<'s, 'w> {
    words: WordIds<'s>,
    pieces: &'s mut Vec<Piece>,
    writer: &'s mut TokenWriter<'w>,
}

/// A byte of the segment, and the characters of the text before it.
struct Chars {
    bytes: usize,
    chars: u32,
}

impl Chars {
    /// The characters before a stretch that follows, ASCII being between; goes on to its end.
    #[inline]
    fn pass(&mut self, start: usize, end: usize, chars: u32) -> u32 {
        let before = self.chars + (start - self.bytes) as u32;
        *self = Self { bytes: end, chars: before + chars };
        before
    }
}

impl StretchTokens<'_> {
    /// Write the tokens of a chunk; false where it cannot.
    fn chunk(&mut self, chunk: &Chunk<'_>, words: &mut WordTokens<'_, '_>) -> Result<bool, Error> {
        for group in chunk.edges.groups(GROUP) {
            let mut keys = [Key::ABSENT; GROUP];
            for (key, stretch) in keys.iter_mut().zip(group.stretches()).filter(|(_, s)| !s.needs_tables) {
                *key = chunk.key(stretch).unwrap_or(Key::ABSENT);
                words.words.memo.prefetch(*key);
            }
            for (&key, stretch) in keys.iter().zip(group.stretches()) {
                let at = chunk.from + stretch.start;
                if !stretch.needs_tables {
                    self.ascii(chunk, stretch, key, words);
                } else if !self.take_apart(chunk.raw(stretch), at, words)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    #[inline]
    fn ascii(&mut self, chunk: &Chunk<'_>, stretch: Stretch, key: Key, words: &mut WordTokens<'_, '_>) {
        let (start, end) = (chunk.from + stretch.start, chunk.from + stretch.end);
        let before = self.chars.pass(start, end, (end - start) as u32);
        let chars_of = |piece: Piece| (before + piece.start, before + piece.end);
        let word = chunk.lowered(stretch);
        match words.words.known(key) {
            Some(packed) => {
                let (ids, count) = memo::unpacked(packed);
                words.write_ids(&ids[..count], word, chars_of);
            }
            None => words.write(word, chars_of),
        }
    }

    fn take_apart(
        &mut self,
        stretch: &str,
        at: usize,
        words: &mut WordTokens<'_, '_>,
    ) -> Result<bool, Error> {
        let before = self.chars.pass(at, at + stretch.len(), stretch.chars().count() as u32);
        let tables = (&self.stretches.fates, self.normalizer);
        let emit = |word: Word<'_>| {
            let sources = word.sources;
            words.write(word.bytes, |piece| {
                let (first, last) = (piece.start as usize, (piece.end as usize).max(1) - 1);
                (before + sources[first].0, before + sources[last].1)
            });
        };
        Ok(apart::words::<true>(stretch, tables, self.written, emit)?.is_none())
    }
}

impl WordTokens<'_, '_> {
    /// Write the tokens of a word.
    fn write(&mut self, word: &[u8], chars_of: impl Fn(Piece) -> (u32, u32)) {
        self.words.out.clear();
        self.words.append(word);
        let ids = std::mem::take(self.words.out);
        self.write_ids(&ids, word, chars_of);
        *self.words.out = ids;
    }

    /// Write the tokens of a word whose ids are known.
    #[inline]
    fn write_ids(&mut self, ids: &[u32], word: &[u8], chars_of: impl Fn(Piece) -> (u32, u32)) {
        let word_number = self.writer.next_word();
        let mut emit = |piece: Piece| self.writer.push_chars(piece.id, chars_of(piece), word_number);
        let by_length = match self.words.model {
            Model::WordPiece(model) => model.pieces_of(ids, word.len() as u32, &mut emit),
            _ => false,
        };
        if by_length {
            return;
        }
        let Ok(word) = std::str::from_utf8(word) else { return };
        self.pieces.clear();
        self.words.model.run(word, self.words.vocab, self.words.scratch, self.pieces);
        self.pieces.iter().for_each(|&piece| emit(piece));
    }
}
