//! One input as tokens with character spans.

use rustc_hash::FxHashMap;

use super::{room_for, Input, Options, Scratch, SplitScratch, Tokenizer};
use crate::added_tokens::Segment;
use crate::encoding::{Encoding, Token};
use crate::error::Error;
use crate::model::{ModelScratch, Piece};
use crate::text::{Aligned, CharIndex, PreTokenizedText};

/// A stretch of text: a token found in it, with its bytes in the original, or pieces for the model.
#[derive(Clone, Copy)]
pub(super) enum Part<'p> {
    Token(u32, (u32, u32)),
    Pieces(&'p PreTokenizedText),
}

/// The number of a word: counted on, or that of the word given.
#[derive(Clone, Copy)]
pub(super) enum WordNumber {
    Next(u32),
    Fixed(u32),
}

impl WordNumber {
    /// For the text with a number among those of its input.
    pub(super) fn of(input: Input<'_>, number: usize) -> Self {
        match input {
            Input::Text(_) => Self::Next(0),
            Input::Words(_) => Self::Fixed(number as u32),
        }
    }

    #[inline]
    pub(super) fn take(&mut self) -> u32 {
        match self {
            Self::Fixed(number) => *number,
            Self::Next(number) => {
                *number += 1;
                *number - 1
            }
        }
    }
}

/// The text of added tokens that stripped whitespace, with that whitespace.
///
/// The key has the sequence, the word id and the first character; each pre-tokenized word counts its own characters.
pub(super) type Swallowed = FxHashMap<(u32, u32, u32), String>;

/// Writes the tokens of one text.
pub(super) struct TokenWriter<'w> {
    pipeline: &'w Tokenizer,
    text: &'w str,
    chars: CharIndex<'w>,
    sequence: u32,
    number: WordNumber,
    tokens: &'w mut Vec<Token>,
    swallowed: &'w mut Swallowed,
}

impl<'w> TokenWriter<'w> {
    /// For the text with a number among those of its input, the first (0) or second (1) of its row.
    pub(super) fn new(
        pipeline: &'w Tokenizer,
        (input, number, text): (Input<'_>, usize, &'w str),
        sequence: u32,
        tokens: &'w mut Vec<Token>,
        swallowed: &'w mut Swallowed,
    ) -> Self {
        let (chars, number) = (CharIndex::new(text), WordNumber::of(input, number));
        Self { pipeline, text, chars, sequence, number, tokens, swallowed }
    }

    /// Write a token that was found whole.
    pub(super) fn added(&mut self, id: u32, source: (u32, u32)) {
        let word = self.number.take();
        let place = (self.sequence, word, self.chars.chars_before(source.0));
        let text = &self.text[source.0 as usize..source.1 as usize];
        self.pipeline.note_swallowed(id, text, place, self.swallowed);
        self.push(id, source, word);
    }

    /// Write the tokens of a word that stands at byte `from` of a normalized text.
    pub(super) fn word(&mut self, text: &Aligned, from: usize, pieces: &[Piece]) {
        let word = self.number.take();
        for piece in pieces {
            let span = (from + piece.start as usize, from + piece.end as usize);
            self.push(piece.id, text.source_of(span.0, span.1), word);
        }
    }

    fn push(&mut self, id: u32, source: (u32, u32), word: u32) {
        let chars = [source.0, source.1].map(|byte| self.chars.chars_before(byte));
        self.tokens.push(Token::of_word(id, chars, word, self.sequence));
    }
}

impl Tokenizer {
    /// One input as tokens, before truncation and template.
    ///
    /// The spans of pre-tokenized words count from the beginning of each word.
    pub(super) fn sequence(
        &self,
        input: Input<'_>,
        index: u32,
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<Encoding, Error> {
        self.tables.model.begin(options.sampling, index.into(), &mut scratch.model)?;
        if let Some((sampling, n)) = options.sampling.and_then(|sampling| Some((sampling, sampling.nbest?)))
        {
            return self.drawn_from_best(input, index, options, (sampling, n), scratch);
        }
        let mut tokens = Vec::with_capacity(room_for(input.bytes()));
        if !self.is_laid(options) || !self.laid_tokens(input, index, options, scratch, &mut tokens)? {
            tokens = self.plain_tokens(input, index, options, scratch)?;
        }
        Ok(Encoding::new(tokens))
    }

    /// The same, in the plain way.
    pub(super) fn plain_tokens(
        &self,
        input: Input<'_>,
        index: u32,
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<Vec<Token>, Error> {
        let mut tokens = Vec::with_capacity(room_for(input.bytes()));
        let mut swallowed = std::mem::take(&mut scratch.swallowed);
        for (number, text) in input.texts().enumerate() {
            let mut writer =
                TokenWriter::new(self, (input, number, text), index, &mut tokens, &mut swallowed);
            self.text_tokens(text, options, scratch, &mut writer)?;
        }
        scratch.swallowed = swallowed;
        scratch.model.check()?;
        Ok(tokens)
    }

    /// Write the tokens of a text.
    pub(super) fn text_tokens(
        &self,
        text: &str,
        options: Options<'_>,
        scratch: &mut Scratch,
        writer: &mut TokenWriter<'_>,
    ) -> Result<(), Error> {
        let Scratch { model, split, pieces, .. } = scratch;
        self.visit_text(text, options, split, |part| self.write_part(part, model, pieces, writer))
    }

    /// Keep the text of a token that was found whole, if it has swallowed whitespace.
    pub(super) fn note_swallowed(
        &self,
        id: u32,
        text: &str,
        place: (u32, u32, u32),
        swallowed: &mut Swallowed,
    ) {
        if self.tables.added.get(&id).is_some_and(|content| content.len() != text.len()) {
            swallowed.insert(place, text.to_owned());
        }
    }

    /// Write the tokens of a stretch of text.
    pub(super) fn write_part(
        &self,
        part: Part<'_>,
        model: &mut ModelScratch,
        pieces: &mut Vec<Piece>,
        writer: &mut TokenWriter<'_>,
    ) {
        match part {
            Part::Token(id, source) => writer.added(id, source),
            Part::Pieces(PreTokenizedText { text, spans }) => {
                for &(from, to) in spans {
                    pieces.clear();
                    self.tables.model.run(&text.text()[from..to], &self.tables.vocab, model, pieces);
                    writer.word(text, from, pieces);
                }
            }
        }
    }

    /// Give the tokens that are found whole in a text, and the pieces between them.
    pub(super) fn visit_text(
        &self,
        text: &str,
        options: Options<'_>,
        split: &mut SplitScratch,
        mut visit: impl FnMut(Part<'_>),
    ) -> Result<(), Error> {
        let mut result = Ok(());
        self.tables.special.split_raw(text, options.parse_special, |segment| match segment {
            _ if result.is_err() => {}
            Segment::Token(id, start, end) => visit(Part::Token(id, (start as u32, end as u32))),
            Segment::Text(start, end) => {
                result = self.visit_pieces(&text[start..end], start as u32, options, split, &mut visit);
            }
        });
        result
    }

    /// Normalize and cut a stretch of raw text, which stands at byte `start` of the original; tokens
    /// that are sought in normalized text come between the pieces.
    pub(super) fn visit_pieces(
        &self,
        stretch: &str,
        start: u32,
        options: Options<'_>,
        split: &mut SplitScratch,
        mut visit: impl FnMut(Part<'_>),
    ) -> Result<(), Error> {
        if !self.tables.special.has_normalized() {
            self.tables.splitter.pieces_into(stretch, start, &mut split.pieces)?;
            visit(Part::Pieces(&split.pieces));
            return Ok(());
        }
        let mut normalized = Aligned::default();
        self.tables.splitter.normalizer().run(stretch, start, &mut normalized)?;
        let mut segments = Vec::new();
        self.tables
            .special
            .split_normalized(normalized.text(), options.parse_special, |segment| segments.push(segment));
        for segment in segments {
            match segment {
                Segment::Token(id, from, to) => visit(Part::Token(id, normalized.source_of(from, to))),
                Segment::Text(from, to) => {
                    split.pieces.clear();
                    split.pieces.text.push_part(&normalized, from, to);
                    split.pieces.set_whole();
                    self.tables.splitter.pre_tokenizer().run_pieces(&mut split.pieces)?;
                    visit(Part::Pieces(&split.pieces));
                }
            }
        }
        Ok(())
    }
}
