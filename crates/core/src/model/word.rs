//! The word model: a word is an entry or it is unknown.

use super::{Piece, PieceSink};
use crate::error::Error;
use crate::spec::WordSpec;
use crate::vocab::Vocab;

/// The compiled word model.
#[derive(Clone, Debug)]
pub struct WordModel {
    unk_id: u32,
}

impl WordModel {
    /// Compile; the unknown token must be in the vocabulary.
    pub fn compile(spec: &WordSpec, vocab: &Vocab) -> Result<Self, Error> {
        Ok(Self { unk_id: vocab.require(&spec.unk_token, "model.unk_token")? })
    }

    /// Look one word up.
    pub fn run(&self, word: &str, vocab: &Vocab, out: &mut impl PieceSink) {
        let id = vocab.id_of(word).unwrap_or(self.unk_id);
        out.push(Piece { id, start: 0, end: word.len() as u32 });
    }
}
