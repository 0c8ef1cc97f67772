//! Computes several segmentations of one input, n-best or sampled, each as an encoding with its score.
//!
//! The input is normalized and pre-tokenized once. Every segmentation is then written as `encode` writes its own.

mod pieces;

pub use pieces::{PieceSegmentation, SpannedPiece};

use super::plain::TokenWriter;
use super::stages::{AddedSpaces, FoundToken, Part};
use super::{Input, Options, Scratch, Tokenizer};
use crate::encoding::{Encoding, Token};
use crate::error::Error;
use crate::model::{Path, Sampling, Segmentations, TokenSpan};
use crate::stages::split::SplitScratch;
use crate::text::PreTokenizedText;

/// A segmentation with its score and probabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenSegmentation {
    /// Its tokens with every field, truncated, post-processed and padded as those of `encode`.
    pub encoding: Encoding,
    /// The sum of its pieces' scores before truncation.
    pub score: f64,
    /// The log-probability among all segmentations.
    pub log_probability: f64,
    /// The log-probability of inclusion, if drawn without replacement.
    pub log_inclusion: Option<f64>,
}

/// How segmentations are chosen.
#[derive(Clone, Copy, Debug)]
pub enum Choice {
    /// The n best, by score.
    Best,
    /// Independent samples; the first has the row of the sampling.
    Drawn(Sampling),
    /// Distinct samples, drawn without replacement.
    WithoutReplacement {
        /// The settings of the sampling.
        sampling: Sampling,
        /// Whether the best segmentation is always included, as the first.
        include_best: bool,
    },
}

impl Choice {
    /// Returns the factor of the scores.
    pub(super) fn alpha(self) -> f64 {
        match self {
            Self::Best => 1.0,
            Self::Drawn(sampling) | Self::WithoutReplacement { sampling, .. } => sampling.alpha,
        }
    }

    /// Returns up to `n` chosen paths; without replacement, each with its log-probability of inclusion.
    pub(super) fn paths(
        self,
        all: &dyn Segmentations,
        n: usize,
    ) -> Result<Vec<(Path, Option<f64>)>, Error> {
        Ok(match self {
            Self::Best => all.best(n)?.into_iter().map(|path| (path, None)).collect(),
            Self::Drawn(sampling) => {
                all.sample(n, sampling)?.into_iter().map(|path| (path, None)).collect()
            }
            Self::WithoutReplacement { sampling, include_best } => {
                let drawn = all.sample_without_replacement(n, sampling, include_best)?.into_iter();
                drawn.map(|found| (found.path, Some(found.log_inclusion))).collect()
            }
        })
    }
}

/// A normalized and pre-tokenized input.
struct Prepared<'t> {
    input: Input<'t>,
    /// The parts of each text.
    parts: Vec<(&'t str, Vec<OwnedPart>)>,
}

/// An added token or a pre-tokenized part of a text.
enum OwnedPart {
    Token(FoundToken),
    Words(PreTokenizedText),
}

impl Prepared<'_> {
    /// Returns the words that the model segments, in order.
    fn words(&self) -> Vec<&str> {
        let pieces = self.parts.iter().flat_map(|(_, parts)| parts).filter_map(|part| match part {
            OwnedPart::Token(_) => None,
            OwnedPart::Words(pieces) => Some(pieces),
        });
        pieces
            .flat_map(|PreTokenizedText { text, spans }| {
                spans.iter().map(|&(from, to)| &text.text()[from..to])
            })
            .collect()
    }
}

impl Tokenizer {
    /// Returns up to `n` segmentations of an input.
    pub fn segmentations(
        &self,
        input: Input<'_>,
        n: usize,
        choice: Choice,
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<Vec<TokenSegmentation>, Error> {
        let prepared = self.prepared(input, options, &mut scratch.split)?;
        let all = self.stages().model.segmentations(&prepared.words())?;
        let alpha = choice.alpha();
        let log_sum = all.log_sum(alpha);
        let whole = |(path, log_inclusion): (Path, _)| {
            scratch.added_spaces.clear();
            let sequence = self.rendered(&prepared, &path, 0, &mut scratch.added_spaces);
            let encoding = self.finished(vec![sequence], options, scratch)?;
            let log_probability = alpha * path.score - log_sum;
            Ok(TokenSegmentation { encoding, score: path.score, log_probability, log_inclusion })
        };
        choice.paths(&*all, n)?.into_iter().map(whole).collect()
    }

    /// Returns the entropy of the segmentations of an input, in nats.
    pub fn entropy(
        &self,
        input: Input<'_>,
        alpha: f64,
        options: Options<'_>,
        scratch: &mut Scratch,
    ) -> Result<f64, Error> {
        let prepared = self.prepared(input, options, &mut scratch.split)?;
        let segmentations = self.stages().model.segmentations(&prepared.words())?;
        Ok(segmentations.entropy(alpha))
    }

    /// Returns one sequence, sampled from its `n` best segmentations.
    pub(super) fn drawn_from_best(
        &self,
        input: Input<'_>,
        index: u32,
        options: Options<'_>,
        (sampling, n): (Sampling, usize),
        scratch: &mut Scratch,
    ) -> Result<Encoding, Error> {
        let prepared = self.prepared(input, options, &mut scratch.split)?;
        let named = |error: Error| Error { place: "sampling.nbest_size".into(), ..error };
        let best = self.stages().model.segmentations(&prepared.words())?.best(n).map_err(named)?;
        let scores = best.iter().map(|path| path.score);
        let chosen = sampling.choose(index.into(), scores);
        Ok(self.rendered(&prepared, &best[chosen], index, &mut scratch.added_spaces))
    }

    fn prepared<'t>(
        &self,
        input: Input<'t>,
        options: Options<'_>,
        split: &mut SplitScratch,
    ) -> Result<Prepared<'t>, Error> {
        let mut prepared = Prepared { input, parts: Vec::new() };
        for text in input.texts() {
            let mut parts = Vec::new();
            self.stages().visit_text(text, options, split, |part| {
                parts.push(match part {
                    Part::Token(found) => OwnedPart::Token(found),
                    Part::Words(pieces) => OwnedPart::Words(pieces.clone()),
                });
            })?;
            prepared.parts.push((text, parts));
        }
        Ok(prepared)
    }

    /// Returns the tokens of a path.
    fn rendered(
        &self,
        prepared: &Prepared<'_>,
        path: &Path,
        index: u32,
        added_spaces: &mut AddedSpaces,
    ) -> Encoding {
        let (mut tokens, mut written): (Vec<Token>, Vec<TokenSpan>) = Default::default();
        let mut rest = path.tokens.as_slice();
        for (number, (text, parts)) in prepared.parts.iter().enumerate() {
            let place = (prepared.input, number, *text);
            let mut writer = TokenWriter::new(self.stages(), place, index, &mut tokens, added_spaces);
            for part in parts {
                match part {
                    OwnedPart::Token(found) => writer.added(*found),
                    OwnedPart::Words(PreTokenizedText { text, spans }) => {
                        for &(from, to) in spans {
                            let word = &text.text()[from..to];
                            let pieces = take_word(&mut rest, word.len());
                            written.clear();
                            self.stages().model.push_tokens(
                                word,
                                pieces,
                                &self.stages().vocab,
                                &mut written,
                            );
                            writer.word(text, from, &written);
                        }
                    }
                }
            }
        }
        Encoding::new(tokens)
    }
}

/// Removes and returns the pieces of the next word, which has `bytes` bytes.
pub(super) fn take_word<'p>(rest: &mut &'p [TokenSpan], bytes: usize) -> &'p [TokenSpan] {
    let last = rest.iter().position(|piece| piece.end as usize == bytes);
    let (word, others) = rest.split_at(last.map_or(rest.len(), |at| at + 1));
    *rest = others;
    word
}
