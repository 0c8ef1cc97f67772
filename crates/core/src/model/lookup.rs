//! The word and the character models: a lookup of the whole word, or of each of its characters.

use super::pieces::Pieces;
use super::{TokenSink, TokenSpan};
use crate::error::Error;
use crate::interrupt;
use crate::spec::SentencePieceSpec;
use crate::vocab::Vocab;

/// What is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupUnit {
    /// A whole word; for SentencePiece a metaspace with the text up to the next one.
    Word,
    /// A character; for SentencePiece also a user-defined piece.
    Char,
}

/// The compiled word or character model.
#[derive(Clone, Debug)]
pub struct VocabLookup {
    unit: LookupUnit,
    unk_id: u32,
}

impl VocabLookup {
    /// Compile the model; the unknown token must be in the vocabulary.
    pub(super) fn compile(unit: LookupUnit, unk_token: &str, vocab: &Vocab) -> Result<Self, Error> {
        Ok(Self { unit, unk_id: vocab.require(unk_token, "model.unk_token")? })
    }

    /// Return the id of the unknown token.
    pub(super) fn unk_id(&self) -> u32 {
        self.unk_id
    }

    /// Look the word up, or each of its characters.
    pub(super) fn run(&self, word: &str, vocab: &Vocab, out: &mut impl TokenSink) {
        let mut look_up = |start: usize, end: usize| {
            let id = vocab.id_of(&word[start..end]).unwrap_or(self.unk_id);
            out.push(TokenSpan { id, start: start as u32, end: end as u32 });
        };
        match self.unit {
            LookupUnit::Word => look_up(0, word.len()),
            LookupUnit::Char => word.char_indices().for_each(|(start, c)| {
                interrupt::check(1);
                look_up(start, start + c.len_utf8());
            }),
        }
    }
}

/// The compiled word or character model of SentencePiece.
#[derive(Clone, Debug)]
pub struct PieceLookup {
    unit: LookupUnit,
    pieces: Pieces,
}

impl PieceLookup {
    /// Check the pieces and index them.
    pub fn compile(unit: LookupUnit, spec: &SentencePieceSpec, vocab: &Vocab) -> Result<Self, Error> {
        Ok(Self { unit, pieces: Pieces::compile(spec, vocab)? })
    }

    /// Return the pieces of the model.
    #[must_use]
    pub fn pieces(&self) -> &Pieces {
        &self.pieces
    }

    /// Look each word or character of a text up.
    pub fn run(&self, text: &str, vocab: &Vocab, out: &mut impl TokenSink) {
        let mut writer = self.pieces.writer(text, out);
        let mut look_up = |start, end| {
            interrupt::check(1);
            writer.push(self.pieces.id_of(&text[start..end], vocab), start, end);
        };
        match self.unit {
            LookupUnit::Word => self.pieces.for_each_word(text, look_up),
            LookupUnit::Char => {
                self.pieces.for_each_symbol(text, 0, |start, end, _| look_up(start, end));
            }
        }
        writer.finish();
    }
}
