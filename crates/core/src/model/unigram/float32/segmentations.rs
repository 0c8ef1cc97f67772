//! Listed, sampled and scored segmentations of a text.

use super::nbest::nbest;
use super::text_scorer::{begin, TextScorer};
use super::UnigramF32;
use crate::model::unigram::lattice::PieceLattice;
use crate::model::unigram::nbest::{BestPaths, Path};
use crate::model::unigram::segmentations::{Segmentations, WordLattices};
use crate::model::unigram::streaming::StreamingViterbi;
use crate::spec::PieceType;

/// The model's own segmentation first; for several, the order of `sentencepiece`.
struct ListedPaths<'w> {
    model: &'w UnigramF32,
    words: Vec<&'w str>,
}

impl<'w> BestPaths<PieceLattice<'w>> for ListedPaths<'w> {
    fn best(&self, words: &[PieceLattice<'w>], n: usize) -> Vec<Path> {
        match n {
            1 => vec![self.chosen()],
            _ => nbest(words, n),
        }
    }
}

impl ListedPaths<'_> {
    /// Return the model's own segmentation, with unknown characters apart and its score summed from the right as in
    /// lists.
    fn chosen(&self) -> Path {
        let (mut tokens, mut streaming) = (Vec::new(), StreamingViterbi::default());
        for word in &self.words {
            let sums = TextScorer::of(self.model, word);
            let _ = streaming.run(&sums, word, begin(0.0), |piece| tokens.push(piece));
        }
        let scores = tokens.iter().rev().map(|piece| self.model.listed_score(piece.id) as f32);
        let score = f64::from(scores.fold(0.0, |sum, score| score + sum));
        Path { tokens, score }
    }
}

impl UnigramF32 {
    /// Return all segmentations of the words of a text.
    pub fn segmentations<'w>(&'w self, words: &[&'w str]) -> impl Segmentations + 'w {
        let lattices = words.iter().map(|word| self.lattice(word, Vec::new())).collect();
        WordLattices { words: lattices, best: ListedPaths { model: self, words: words.to_vec() } }
    }

    /// Return the score that a piece adds to a segmentation. The bytes of a character add up to the score of an unknown
    /// character.
    #[must_use]
    pub fn score_of(&self, id: u32) -> Option<f64> {
        match self.pieces.kind(id)? {
            PieceType::Control => None,
            PieceType::Byte if self.pieces.is_continuation_byte(id) => Some(0.0),
            PieceType::Byte => Some(self.listed_score(self.pieces.unk_id())),
            _ => Some(self.listed_score(id)),
        }
    }
}
