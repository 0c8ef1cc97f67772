//! Listed, sampled and scored segmentations of a text.

use super::super::sampling::SamplingRng;
use super::super::unigram::{BestPaths, Path, PieceLattice, Segmentations, WordLattices};
use super::super::{TokenSink, TokenSpan};
use super::nbest::nbest;
use super::piece_writer::PieceWriter;
use super::unigram::{SpmUnigram, SpmUnigramScratch};
use super::{Algorithm, SentencePiece, SpmScratch};
use crate::spec::PieceType;
use crate::vocab::Vocab;

/// An id that no piece has.
const NO_ID: u32 = u32::MAX;

/// The model's own segmentation first; for several, the order of `sentencepiece`.
struct SpmBestPaths<'w> {
    unigram: &'w SpmUnigram,
    words: Vec<&'w str>,
}

impl<'w> BestPaths<PieceLattice<'w>> for SpmBestPaths<'w> {
    fn best(&self, words: &[PieceLattice<'w>], n: usize) -> Vec<Path> {
        match n {
            1 => vec![self.chosen()],
            _ => nbest(words, n),
        }
    }
}

impl SpmBestPaths<'_> {
    /// The model's own segmentation, with its score summed from the right as in lists.
    fn chosen(&self) -> Path {
        let (mut tokens, mut lattice): (Vec<TokenSpan>, _) = (Vec::new(), SpmUnigramScratch::default());
        for word in &self.words {
            // Unknown characters are not fused.
            self.unigram.run(
                word,
                0.0,
                &mut lattice,
                &mut PieceWriter::new(word, NO_ID, None, &mut tokens),
            );
        }
        let scores = tokens.iter().rev().map(|token| self.unigram.score_of(token.id) as f32);
        let score = f64::from(scores.fold(0.0, |sum, score| score + sum));
        Path { tokens, score }
    }
}

impl SentencePiece {
    /// Whether segmentations have scores.
    #[must_use]
    pub fn scores_segmentations(&self) -> bool {
        matches!(self.algorithm, Algorithm::Unigram(_))
    }

    /// Whether the model has merges that dropout can skip.
    #[must_use]
    pub fn has_merges(&self) -> bool {
        matches!(self.algorithm, Algorithm::Bpe(_))
    }

    /// All segmentations of the words of a text, if they have scores.
    pub fn segmentations<'w>(&'w self, words: &[&'w str]) -> Option<impl Segmentations + 'w> {
        let Algorithm::Unigram(unigram) = &self.algorithm else { return None };
        let lattices = words.iter().map(|word| unigram.lattice(word, Vec::new())).collect();
        Some(WordLattices { words: lattices, best: SpmBestPaths { unigram, words: words.to_vec() } })
    }

    /// The score that a piece adds to a segmentation. The bytes of a character add up to the score of an unknown
    /// character.
    #[must_use]
    pub fn score_of(&self, id: u32) -> Option<f64> {
        let Algorithm::Unigram(unigram) = &self.algorithm else { return None };
        match self.symbols.kinds.get(id as usize)? {
            PieceType::Control => None,
            PieceType::Byte if self.is_continuation(id) => Some(0.0),
            PieceType::Byte => Some(unigram.score_of(self.symbols.unk_id)),
            _ => Some(unigram.score_of(id)),
        }
    }

    /// Whether a byte piece never begins a character.
    fn is_continuation(&self, id: u32) -> bool {
        self.bytes.as_ref().is_some_and(|bytes| (0x80..0xC0).any(|byte| bytes.id(byte) == id))
    }

    /// Append the tokens of a path through a word.
    pub fn push_tokens(&self, word: &str, path: &[TokenSpan], out: &mut impl TokenSink) {
        let mut writer = PieceWriter::new(word, self.symbols.unk_id, self.bytes.as_ref(), out);
        path.iter().for_each(|piece| writer.push(piece.id, piece.start as usize, piece.end as usize));
        writer.finish();
    }

    /// Segment a text at random.
    pub(super) fn sample(
        &self,
        text: &str,
        vocab: &Vocab,
        SpmScratch { symbols, sampler, .. }: &mut SpmScratch,
        rng: &mut SamplingRng,
        out: &mut impl TokenSink,
    ) {
        let mut writer = PieceWriter::new(text, self.symbols.unk_id, self.bytes.as_ref(), out);
        match &self.algorithm {
            Algorithm::Unigram(unigram) => {
                let path = sampler.sample(rng, |states| unigram.lattice(text, states));
                path.iter()
                    .for_each(|piece| writer.push(piece.id, piece.start as usize, piece.end as usize));
            }
            Algorithm::Bpe(bpe) => bpe.run(text, &self.symbols, vocab, symbols, Some(rng), &mut writer),
            Algorithm::Word | Algorithm::Char => {}
        }
        writer.finish();
    }
}
