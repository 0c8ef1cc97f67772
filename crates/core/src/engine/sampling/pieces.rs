//! Segment texts into pieces with their normalized text and their span in the original.
//!
//! Added tokens, templates and truncation do not apply.

use super::super::{Scratch, Tokenizer};
use super::{words_of, PathReader, ScoredSegmentation, Selection};
use crate::error::Error;
use crate::model::{Path, Sampling, TokenSpan};
use crate::text::PreTokenizedText;

/// A piece's id, its normalized text, and its byte span in the original text.
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
        let words = &mut split.words;
        stages.splitter.pre_tokenize(text, 0, words)?;
        if let Some((sampling, n)) = sampling.and_then(|sampling| Some((sampling, sampling.nbest?))) {
            let listed: Vec<&str> = words_of(words).collect();
            return Ok(self.pieces_of(words, &stages.sample_of_best(&listed, 0, (sampling, n))?));
        }
        stages.model.begin(sampling, 0, model)?;
        let mut found = Vec::new();
        for (word, &(from, _)) in words_of(words).zip(&words.spans) {
            spans.clear();
            stages.model.run(word, &stages.vocab, model, spans);
            push_spanned(words, from, spans, &mut found);
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
        let words = &mut scratch.split.words;
        self.stages().splitter.pre_tokenize(text, 0, words)?;
        let listed: Vec<&str> = words_of(words).collect();
        self.stages().select(&listed, n, selection, |path| Ok(self.pieces_of(words, path)))
    }

    /// Normalize a text. Also return, for the start of each normalized character and for the end, the byte offset in
    /// the original.
    pub fn normalize_with_offsets(
        &self,
        text: &str,
        scratch: &mut Scratch,
    ) -> Result<(String, Vec<u32>), Error> {
        let normalized = &mut scratch.split.words.text;
        normalized.clear();
        self.stages().splitter.normalizer().run(text, 0, normalized)?;
        let chars = normalized.text().char_indices();
        let mut offsets: Vec<u32> =
            chars.map(|(at, c)| normalized.source_of(at, at + c.len_utf8()).0).collect();
        offsets.extend(match normalized.text().len() {
            0 => self.stages().splitter.normalizer().end_of_empty(text).map(|at| at as u32),
            end => Some(normalized.source_of(end - 1, end).1),
        });
        Ok((normalized.text().to_owned(), offsets))
    }

    /// Return the pieces of a path.
    fn pieces_of(&self, words: &PreTokenizedText, path: &Path) -> Vec<SpannedPiece> {
        let (mut found, mut path) = (Vec::new(), PathReader::new(self.stages(), path));
        for (word, &(from, _)) in words_of(words).zip(&words.spans) {
            push_spanned(words, from, path.next_word(word), &mut found);
        }
        found
    }
}

/// Append the pieces of the word that begins at byte `from`.
fn push_spanned(
    PreTokenizedText { text, .. }: &PreTokenizedText,
    from: usize,
    pieces: &[TokenSpan],
    found: &mut Vec<SpannedPiece>,
) {
    found.extend(pieces.iter().map(|piece| {
        let (start, end) = (from + piece.start as usize, from + piece.end as usize);
        (piece.id, text.text()[start..end].to_owned(), text.source_of(start, end))
    }));
}
