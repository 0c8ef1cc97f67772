//! Sampled, listed and scored segmentations, for the models that have several.

use super::scratch::missing_unk;
use super::{Model, ModelScratch, Sampling, Segmentations, TokenSink, TokenSpan};
use crate::error::{Error, ErrorKind};
use crate::vocab::Vocab;

impl Model {
    /// Prepare the scratch for the first (0) or second (1) sequence of an input, with or without sampling.
    pub fn begin(
        &self,
        sampling: Option<Sampling>,
        sequence: u64,
        scratch: &mut ModelScratch,
    ) -> Result<(), Error> {
        scratch.rng = sampling.map(|sampling| sampling.rng(sequence));
        let refused = |place: &str, found: String, expected: &str| {
            Err(Error::new(ErrorKind::Argument, place, found, expected))
        };
        match sampling {
            Some(Sampling { nbest: Some(n), .. }) if self.has_merges() => {
                let expected = "None, as the segmentations of a BPE model have no order";
                refused("sampling.nbest_size", n.to_string(), expected)
            }
            Some(Sampling { alpha, .. }) if self.has_merges() && alpha > 1.0 => {
                refused("sampling.alpha", alpha.to_string(), "a share from 0 to 1 of a BPE model's merges")
            }
            Some(_) if !self.has_merges() && !self.scores_segmentations() => {
                let found = "a model that always gives the same segmentation";
                refused("sampling", found.into(), "a BPE or Unigram model")
            }
            _ => Ok(()),
        }
    }

    /// Return whether the model segments by merges.
    fn has_merges(&self) -> bool {
        matches!(self, Self::Bpe(_) | Self::ScoredBpe(_))
    }

    /// Return whether segmentations have scores that they can be sampled by.
    #[must_use]
    pub fn scores_segmentations(&self) -> bool {
        matches!(self, Self::Unigram(_) | Self::UnigramF32(_))
    }

    /// Return all segmentations of the words of a text, for a model that scores them.
    pub fn segmentations<'w>(&'w self, words: &[&'w str]) -> Result<Box<dyn Segmentations + 'w>, Error> {
        let scoreless = || {
            let found = "a model that does not score segmentations";
            Error::new(ErrorKind::Argument, "model", found, "a Unigram model")
        };
        Ok(match self {
            Self::Unigram(model) => Box::new(model.segmentations(words).ok_or_else(missing_unk)?),
            Self::UnigramF32(model) => Box::new(model.segmentations(words)),
            _ => return Err(scoreless()),
        })
    }

    /// Return the score that an entry adds to a segmentation, for a model that scores them.
    #[must_use]
    pub fn score_of(&self, id: u32) -> Option<f64> {
        match self {
            Self::Unigram(model) => model.score_of(id),
            Self::UnigramF32(model) => model.score_of(id),
            _ => None,
        }
    }

    /// Append the tokens of a path that [`Segmentations`] returned.
    pub fn push_tokens(&self, word: &str, pieces: &[TokenSpan], vocab: &Vocab, out: &mut impl TokenSink) {
        match self {
            Self::Unigram(model) => model.push_tokens(word, pieces, vocab, out),
            Self::UnigramF32(model) => model.pieces().push_tokens(word, pieces, out),
            _ => pieces.iter().for_each(|&piece| out.push(piece)),
        }
    }
}
