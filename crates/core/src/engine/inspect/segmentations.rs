//! Compute several segmentations of one input, n-best or sampled, each with its score: as an encoding, or as pieces with
//! their normalized text and their span in the original.
//!
//! The input is normalized and pre-tokenized once. Every segmentation is then written as `encode` writes its own. Added
//! tokens, templates and truncation do not apply to pieces.

use crate::encoding::{Encoding, Token};
use crate::engine::definition::TokenWriter;
use crate::engine::stages::{AddedSpaces, FoundToken, Part, Stages};
use crate::engine::{Input, Options, Scratch, Tokenizer};
use crate::error::Error;
use crate::model::{Path, Sampling, Segmentations, TokenSpan};
use crate::stages::split::SplitScratch;
use crate::text::{CharIndex, PreTokenizedText};

/// A segmentation with its score and probabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredSegmentation<T> {
    /// Its tokens: an encoding, truncated, post-processed and padded as that of `encode`; or pieces.
    pub tokens: T,
    /// The sum of the scores of its tokens before truncation.
    pub score: f64,
    /// The log-probability among all segmentations.
    pub log_probability: f64,
    /// The log-probability of inclusion, if sampled without replacement.
    pub log_inclusion: Option<f64>,
}

/// How segmentations are selected.
#[derive(Clone, Copy, Debug)]
pub enum Selection {
    /// The n best, by score.
    Best,
    /// Independent samples; the first has the row of the sampling.
    Sampled(Sampling),
    /// Distinct samples, without replacement.
    WithoutReplacement {
        /// The settings of the sampling.
        sampling: Sampling,
        /// Whether the best segmentation is always included, as the first.
        include_best: bool,
    },
}

impl Selection {
    /// Return the factor of the scores.
    fn alpha(self) -> f64 {
        match self {
            Self::Best => 1.0,
            Self::Sampled(sampling) | Self::WithoutReplacement { sampling, .. } => sampling.alpha,
        }
    }

    /// Return up to `n` paths; without replacement, each with its log-probability of inclusion.
    fn paths(self, all: &dyn Segmentations, n: usize) -> Result<Vec<(Path, Option<f64>)>, Error> {
        let unweighted = |paths: Vec<Path>| paths.into_iter().map(|path| (path, None)).collect();
        Ok(match self {
            Self::Best => unweighted(all.best(n)?),
            Self::Sampled(sampling) => unweighted(all.sample(n, sampling)?),
            Self::WithoutReplacement { sampling, include_best } => {
                let sampled = all.sample_without_replacement(n, sampling, include_best)?.into_iter();
                sampled.map(|found| (found.path, Some(found.log_inclusion))).collect()
            }
        })
    }
}

impl Stages {
    /// Select up to `n` segmentations of words; `write` makes the tokens of a path.
    fn select<T>(
        &self,
        words: &[&str],
        n: usize,
        selection: Selection,
        mut write: impl FnMut(&Path) -> Result<T, Error>,
    ) -> Result<Vec<ScoredSegmentation<T>>, Error> {
        let all = self.model.segmentations(words)?;
        let alpha = selection.alpha();
        let log_sum = all.log_sum(alpha);
        let scored = |(path, log_inclusion): (Path, _)| {
            let (tokens, score) = (write(&path)?, path.score);
            let log_probability = alpha * score - log_sum;
            Ok(ScoredSegmentation { tokens, score, log_probability, log_inclusion })
        };
        selection.paths(&*all, n)?.into_iter().map(scored).collect()
    }

    /// Sample one of the `n` best segmentations of words, for the first (0) or second (1) sequence.
    fn sample_of_best(
        &self,
        words: &[&str],
        sequence: u32,
        sampling: Sampling,
        n: usize,
    ) -> Result<Path, Error> {
        let named = |error: Error| error.at("sampling.nbest_size");
        let mut best = self.model.segmentations(words)?.best(n).map_err(named)?;
        let chosen = sampling.choose(sequence.into(), best.iter().map(|path| path.score));
        Ok(best.swap_remove(chosen))
    }
}

/// Reads the path of a text word by word.
struct PathReader<'p> {
    stages: &'p Stages,
    rest: &'p [TokenSpan],
    tokens: Vec<TokenSpan>,
}

impl<'p> PathReader<'p> {
    fn new(stages: &'p Stages, path: &'p Path) -> Self {
        Self { stages, rest: &path.tokens, tokens: Vec::new() }
    }

    /// Return the tokens of the next word.
    fn next_word(&mut self, word: &str) -> &[TokenSpan] {
        let last = self.rest.iter().position(|token| token.end as usize == word.len());
        let (path, rest) = self.rest.split_at(last.map_or(self.rest.len(), |at| at + 1));
        self.rest = rest;
        self.tokens.clear();
        self.stages.model.push_tokens(word, path, &self.stages.vocab, &mut self.tokens);
        &self.tokens
    }
}

/// Return the words of a text.
fn words_of(PreTokenizedText { text, spans }: &PreTokenizedText) -> impl Iterator<Item = &str> {
    spans.iter().map(|&(from, to)| &text.text()[from..to])
}

/// A normalized and pre-tokenized input.
struct PreTokenizedInput<'t> {
    input: Input<'t>,
    texts: Vec<(&'t str, Vec<OwnedPart>)>,
}

/// An added token, or the text between added tokens.
enum OwnedPart {
    Token(FoundToken),
    Words(PreTokenizedText),
}

impl PreTokenizedInput<'_> {
    /// Return the words that the model segments, in order.
    fn words(&self) -> Vec<&str> {
        let parts = self.texts.iter().flat_map(|(_, parts)| parts);
        let words = parts.filter_map(|part| match part {
            OwnedPart::Token(_) => None,
            OwnedPart::Words(words) => Some(words_of(words)),
        });
        words.flatten().collect()
    }
}

impl Tokenizer {
    /// Return up to `n` segmentations of an input.
    pub fn segmentations(
        &self,
        input: Input<'_>,
        n: usize,
        selection: Selection,
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<Vec<ScoredSegmentation<Encoding>>, Error> {
        let input = self.pre_tokenize_input(input, options, &mut scratch.split)?;
        self.stages().select(&input.words(), n, selection, |path| {
            scratch.added_spaces.clear();
            let sequence = self.write_path(&input, path, 0, &mut scratch.added_spaces);
            self.finished(vec![sequence], options, scratch)
        })
    }

    /// Return the entropy of the segmentations of an input, in nats.
    pub fn entropy(
        &self,
        input: Input<'_>,
        alpha: f64,
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<f64, Error> {
        let input = self.pre_tokenize_input(input, options, &mut scratch.split)?;
        let segmentations = self.stages().model.segmentations(&input.words())?;
        Ok(segmentations.entropy(alpha))
    }

    /// Sample one sequence from the `n` best segmentations of an input.
    pub(in super::super) fn sample_of_best(
        &self,
        input: Input<'_>,
        sequence: u32,
        options: Options<'_>,
        sampling: Sampling,
        n: usize,
        scratch: &mut Scratch,
    ) -> Result<Encoding, Error> {
        let input = self.pre_tokenize_input(input, options, &mut scratch.split)?;
        let path = self.stages().sample_of_best(&input.words(), sequence, sampling, n)?;
        Ok(self.write_path(&input, &path, sequence, &mut scratch.added_spaces))
    }

    fn pre_tokenize_input<'t>(
        &self,
        input: Input<'t>,
        options: Options<'_>,
        split: &mut SplitScratch,
    ) -> Result<PreTokenizedInput<'t>, Error> {
        let mut texts = Vec::new();
        for text in input.texts() {
            let mut parts = Vec::new();
            self.stages().visit_text(text, options, split, |part| {
                parts.push(match part {
                    Part::Token(found) => OwnedPart::Token(found),
                    Part::Words(words) => OwnedPart::Words(words.clone()),
                });
            })?;
            texts.push((text, parts));
        }
        Ok(PreTokenizedInput { input, texts })
    }

    /// Return the tokens of a path.
    fn write_path(
        &self,
        PreTokenizedInput { input, texts }: &PreTokenizedInput<'_>,
        path: &Path,
        sequence: u32,
        added_spaces: &mut AddedSpaces,
    ) -> Encoding {
        let (mut tokens, mut path): (Vec<Token>, _) = (Vec::new(), PathReader::new(self.stages(), path));
        for (number, (text, parts)) in texts.iter().enumerate() {
            let mut writer =
                TokenWriter::new(self.stages(), *input, number, text, sequence, &mut tokens, added_spaces);
            for part in parts {
                match part {
                    OwnedPart::Token(found) => writer.added(*found),
                    OwnedPart::Words(words) => {
                        for (word, &(from, _)) in words_of(words).zip(&words.spans) {
                            writer.word(&words.text, from, path.next_word(word));
                        }
                    }
                }
            }
        }
        Encoding::new(tokens)
    }
}

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
            return Ok(self.pieces_of(words, &stages.sample_of_best(&listed, 0, sampling, n)?, &chars));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{ModelSpec, PreTokenizerSpec, TokenizerSpec, UnigramSpec};
    use crate::stages::added_tokens::Selector;

    const OPTIONS: Options<'_> =
        Options { add_special_tokens: true, parse_special: &Selector::All, sampling: None };

    fn tokenizer() -> Tokenizer {
        let scores = ["<unk>", "a", "b", "ab", "ba"].iter().zip(0..);
        let vocab = scores.map(|(token, id)| ((*token).to_owned(), -f64::from(id))).collect();
        let model = ModelSpec::Unigram(UnigramSpec { vocab, unk_id: Some(0), byte_fallback: false });
        Tokenizer::compile(TokenizerSpec {
            pre_tokenizer: Some(PreTokenizerSpec::WhitespaceSplit),
            ..TokenizerSpec::of(model)
        })
        .unwrap()
    }

    #[test]
    fn the_best_segmentation_is_that_of_encode_and_probabilities_add_up_to_1() {
        let (tokenizer, text) = (tokenizer(), "abab b aba");
        let mut scratch = tokenizer.scratch();
        let input = Input::Text(text);
        let found = tokenizer.segmentations(input, 1000, Selection::Best, OPTIONS, &mut scratch).unwrap();
        let expected = tokenizer.encode(input, None, OPTIONS, &mut scratch).unwrap();
        assert_eq!(found[0].tokens, expected);
        let pieces = tokenizer.piece_segmentations(text, 1000, Selection::Best, &mut scratch).unwrap();
        assert_eq!(pieces[0].tokens, tokenizer.pieces(text, None, &mut scratch).unwrap());
        for probabilities in [
            found.iter().map(|found| found.log_probability.exp()).sum::<f64>(),
            pieces.iter().map(|found| found.log_probability.exp()).sum::<f64>(),
        ] {
            assert!((probabilities - 1.0).abs() < 1e-9, "{probabilities}");
        }
    }
}
