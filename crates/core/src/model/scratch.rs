//! The mutable state that the models of one thread share.

use super::bpe::{BpeScratch, ScoredBpeScratch};
use super::sampling::SamplingRng;
use super::unigram::{UnigramF32Scratch, UnigramScratch};
use super::wordpiece::BestSuffix;
use crate::error::{Error, ErrorKind};

/// Buffers that models reuse from word to word. A model sees only its own.
#[derive(Clone, Debug, Default)]
pub struct ModelScratch {
    pub(super) suffixes: Vec<BestSuffix>,
    pub(super) bpe: BpeScratch,
    pub(crate) scored_bpe: ScoredBpeScratch,
    pub(super) unigram: UnigramScratch,
    pub(crate) unigram_f32: UnigramF32Scratch,
    /// A word as printable characters.
    pub(super) printable: String,
    /// The random numbers of sampled segmentations, if they are sampled.
    pub(super) rng: Option<SamplingRng>,
}

impl ModelScratch {
    /// Prepare for a text whose segmentations are not sampled.
    pub(crate) fn begin_unsampled(&mut self) {
        self.rng = None;
    }

    /// Return an error if a word since the last call could not be segmented. Such a word has no pieces.
    pub fn check(&mut self) -> Result<(), Error> {
        if std::mem::take(&mut self.unigram.missing_unk) {
            return Err(missing_unk());
        }
        Ok(())
    }

    /// Return whether a word since the last [`ModelScratch::check`] could not be segmented.
    pub(crate) fn has_failed(&self) -> bool {
        self.unigram.missing_unk
    }
}

pub(super) fn missing_unk() -> Error {
    let found = "null, and a character that is not in the vocabulary";
    Error::new(ErrorKind::Vocabulary, "model.unk_id", found, "an entry for it")
}
