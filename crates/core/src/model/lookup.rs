//! The word and the character model: a lookup of the whole word, or of each of its characters.

use super::{TokenSink, TokenSpan};
use crate::error::Error;
use crate::spec::{CharSpec, WordSpec};
use crate::vocab::Vocab;

/// The compiled word model.
#[derive(Clone, Debug)]
pub struct WordModel {
    unk_id: u32,
}

impl WordModel {
    /// Compile the model; the unknown token must be in the vocabulary.
    pub fn compile(spec: &WordSpec, vocab: &Vocab) -> Result<Self, Error> {
        Ok(Self { unk_id: vocab.require(&spec.unk_token, "model.unk_token")? })
    }

    /// The id of the unknown token.
    pub(super) fn unk_id(&self) -> u32 {
        self.unk_id
    }

    /// Look the word up.
    pub fn run(&self, word: &str, vocab: &Vocab, out: &mut impl TokenSink) {
        let id = vocab.id_of(word).unwrap_or(self.unk_id);
        out.push(TokenSpan { id, start: 0, end: word.len() as u32 });
    }
}

/// The compiled character model.
#[derive(Clone, Debug)]
pub struct CharModel {
    unk_id: u32,
}

impl CharModel {
    /// Compile the model; the unknown token must be in the vocabulary.
    pub fn compile(spec: &CharSpec, vocab: &Vocab) -> Result<Self, Error> {
        Ok(Self { unk_id: vocab.require(&spec.unk_token, "model.unk_token")? })
    }

    /// The id of the unknown token.
    pub(super) fn unk_id(&self) -> u32 {
        self.unk_id
    }

    /// Look each character up.
    pub fn run(&self, word: &str, vocab: &Vocab, out: &mut impl TokenSink) {
        for (start, c) in word.char_indices() {
            let end = start + c.len_utf8();
            let id = vocab.id_of(&word[start..end]).unwrap_or(self.unk_id);
            out.push(TokenSpan { id, start: start as u32, end: end as u32 });
        }
    }
}
