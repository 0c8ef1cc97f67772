//! The mutable state that the models of one thread share.

use super::sampling::SamplingRng;
use super::{bpe, sentencepiece, unigram, wordpiece};
use crate::error::{Error, ErrorKind};

/// Buffers that models reuse from word to word.
#[derive(Clone, Debug, Default)]
pub struct ModelScratch {
    pub(crate) suffixes: Vec<wordpiece::BestSuffix>,
    pub(crate) bpe: bpe::BpeScratch,
    pub(crate) unigram: unigram::UnigramScratch,
    pub(crate) sentencepiece: sentencepiece::SpmScratch,
    /// A word as printable characters.
    pub(crate) printable: String,
    /// The random numbers of sampled segmentations, if they are sampled.
    pub(crate) rng: Option<SamplingRng>,
    /// Whether a word had an unknown character and the model has no unknown token.
    pub(crate) missing_unk: bool,
}

impl ModelScratch {
    /// Return an error if a word since the last call could not be segmented. Such a word has no pieces.
    pub fn check(&mut self) -> Result<(), Error> {
        if std::mem::take(&mut self.missing_unk) {
            return Err(missing_unk());
        }
        Ok(())
    }
}

pub(super) fn missing_unk() -> Error {
    let found = "null, and a character that is not in the vocabulary";
    Error::new(ErrorKind::Vocabulary, "model.unk_id", found, "an entry for it")
}
