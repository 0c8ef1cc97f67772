//! Segments texts into pieces with their normalized text and their span in the original.
//!
//! Added tokens, templates and truncation do not apply.

use super::super::{Scratch, Tokenizer};
use super::{take_word, Choice};
use crate::error::Error;
use crate::model::{Path, Sampling, TokenSpan};
use crate::text::PreTokenizedText;

/// A piece's id, its normalized text, and its byte span in the original text.
pub type SpannedPiece = (u32, String, (u32, u32));

/// A segmentation into pieces, with its score and probabilities; see [`super::TokenSegmentation`].
#[derive(Clone, Debug, PartialEq)]
pub struct PieceSegmentation {
    /// Its pieces.
    pub pieces: Vec<SpannedPiece>,
    /// The sum of their scores.
    pub score: f64,
    /// The log-probability among all segmentations.
    pub log_probability: f64,
    /// The log-probability of inclusion, if drawn without replacement.
    pub log_inclusion: Option<f64>,
}

impl Tokenizer {
    /// Segments a text; at random if `sampling` is set.
    pub fn pieces(
        &self,
        text: &str,
        sampling: Option<Sampling>,
        scratch: &mut Scratch,
    ) -> Result<Vec<SpannedPiece>, Error> {
        if let Some((sampling, n)) = sampling.and_then(|sampling| Some((sampling, sampling.nbest?))) {
            return self.pieces_of_best(text, n, sampling, scratch);
        }
        let Scratch { model, split, spans, .. } = scratch;
        self.stages().splitter.pre_tokenize(text, 0, &mut split.words)?;
        self.stages().model.begin(sampling, 0, model)?;
        let mut found = Vec::new();
        for &(from, to) in &split.words.spans {
            spans.clear();
            self.stages().model.run(&split.words.text.text()[from..to], &self.stages().vocab, model, spans);
            add_spanned(&split.words, from, spans, &mut found);
        }
        model.check()?;
        Ok(found)
    }

    /// Returns up to `n` segmentations of a text.
    pub fn piece_segmentations(
        &self,
        text: &str,
        n: usize,
        choice: Choice,
        scratch: &mut Scratch,
    ) -> Result<Vec<PieceSegmentation>, Error> {
        let pre_tokenized = &mut scratch.split.words;
        self.stages().splitter.pre_tokenize(text, 0, pre_tokenized)?;
        let all = self.stages().model.segmentations(&words(pre_tokenized))?;
        let (alpha, log_sum) = (choice.alpha(), all.log_sum(choice.alpha()));
        let whole = |(path, log_inclusion): (Path, Option<f64>)| PieceSegmentation {
            pieces: self.path_pieces(pre_tokenized, &path),
            score: path.score,
            log_probability: alpha * path.score - log_sum,
            log_inclusion,
        };
        Ok(choice.paths(&*all, n)?.into_iter().map(whole).collect())
    }

    /// Normalizes a text. Also returns, for the start of each normalized character and for the end, the byte offset in the
    /// original.
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

    /// Samples one of the `n` best segmentations.
    fn pieces_of_best(
        &self,
        text: &str,
        n: usize,
        sampling: Sampling,
        scratch: &mut Scratch,
    ) -> Result<Vec<SpannedPiece>, Error> {
        let pre_tokenized = &mut scratch.split.words;
        self.stages().splitter.pre_tokenize(text, 0, pre_tokenized)?;
        let named = |error: Error| Error { place: "sampling.nbest_size".into(), ..error };
        let best = self.stages().model.segmentations(&words(pre_tokenized))?.best(n).map_err(named)?;
        let chosen = sampling.choose(0, best.iter().map(|path| path.score));
        Ok(self.path_pieces(pre_tokenized, &best[chosen]))
    }

    fn path_pieces(&self, pre_tokenized: &PreTokenizedText, path: &Path) -> Vec<SpannedPiece> {
        let (mut found, mut written): (_, Vec<TokenSpan>) = Default::default();
        let mut rest = path.tokens.as_slice();
        for &(from, to) in &pre_tokenized.spans {
            let word = &pre_tokenized.text.text()[from..to];
            written.clear();
            self.stages().model.push_tokens(
                word,
                take_word(&mut rest, word.len()),
                &self.stages().vocab,
                &mut written,
            );
            add_spanned(pre_tokenized, from, &written, &mut found);
        }
        found
    }
}

fn words(pre_tokenized: &PreTokenizedText) -> Vec<&str> {
    pre_tokenized.spans.iter().map(|&(from, to)| &pre_tokenized.text.text()[from..to]).collect()
}

/// Appends the pieces of the word that begins at byte `from`.
fn add_spanned(
    pre_tokenized: &PreTokenizedText,
    from: usize,
    pieces: &[TokenSpan],
    found: &mut Vec<SpannedPiece>,
) {
    found.extend(pieces.iter().map(|piece| {
        let (start, end) = (from + piece.start as usize, from + piece.end as usize);
        (
            piece.id,
            pre_tokenized.text.text()[start..end].to_owned(),
            pre_tokenized.text.source_of(start, end),
        )
    }));
}
