//! Segment texts into pieces with their normalized text and their span in the original.
//!
//! Added tokens, templates and truncation do not apply.

use super::super::{Scratch, Tokenizer};
use super::{words_of, PathReader, ScoredSegmentation, Selection};
use crate::error::Error;
use crate::model::{Path, Sampling, TokenSpan};
use crate::text::{CharIndex, PreTokenizedText};

/// A piece's id, its normalized text, and its characters in the original text.
pub type SpannedPiece = (u32, String, (u32, u32));

impl Tokenizer {
    /// Segment a text; at random if `sampling` is set.
    pub fn pieces(
        &self,
        text: &str,
        sampling: Option<Sampling>,
        scratch: &mut Scratch,
    ) -> Result<Vec<SpannedPiece>, Error> {
        let (stages, Scratch { model, split, spans, .. }) = (self.stages(), scratch);
        let (words, chars) = (&mut split.words, CharIndex::new(text));
        stages.splitter.pre_tokenize(text, 0, words)?;
        if let Some((sampling, n)) = sampling.and_then(|sampling| Some((sampling, sampling.nbest?))) {
            let listed: Vec<&str> = words_of(words).collect();
            return Ok(self.pieces_of(words, &stages.sample_of_best(&listed, 0, (sampling, n))?, &chars));
        }
        stages.model.begin(sampling, 0, model)?;
        let mut found = Vec::new();
        for (word, &(from, _)) in words_of(words).zip(&words.spans) {
            spans.clear();
            stages.model.run(word, &stages.vocab, model, spans);
            push_spanned(words, from, spans, &chars, &mut found);
        }
        model.check()?;
        Ok(found)
    }

    /// Return up to `n` segmentations of a text.
    pub fn piece_segmentations(
        &self,
        text: &str,
        n: usize,
        selection: Selection,
        scratch: &mut Scratch,
    ) -> Result<Vec<ScoredSegmentation<Vec<SpannedPiece>>>, Error> {
        let (words, chars) = (&mut scratch.split.words, CharIndex::new(text));
        self.stages().splitter.pre_tokenize(text, 0, words)?;
        let listed: Vec<&str> = words_of(words).collect();
        self.stages().select(&listed, n, selection, |path| Ok(self.pieces_of(words, path, &chars)))
    }

    /// Return the pieces of a path.
    fn pieces_of(&self, words: &PreTokenizedText, path: &Path, chars: &CharIndex<'_>) -> Vec<SpannedPiece> {
        let (mut found, mut path) = (Vec::new(), PathReader::new(self.stages(), path));
        for (word, &(from, _)) in words_of(words).zip(&words.spans) {
            push_spanned(words, from, path.next_word(word), chars, &mut found);
        }
        found
    }
}

/// Append the pieces of the word that begins at byte `from`.
fn push_spanned(
    PreTokenizedText { text, .. }: &PreTokenizedText,
    from: usize,
    pieces: &[TokenSpan],
    chars: &CharIndex<'_>,
    found: &mut Vec<SpannedPiece>,
) {
    found.extend(pieces.iter().map(|piece| {
        let (start, end) = (from + piece.start as usize, from + piece.end as usize);
        (piece.id, text.text()[start..end].to_owned(), chars.span_of(text.source_of(start, end)))
    }));
}
