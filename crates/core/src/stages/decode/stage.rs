//! One compiled decoder: a list of tokens to another list.

use super::sentencepiece::SentencePieceDecoder;
use super::token_texts::{DecodeStageError, TokenTexts};
use super::{bytes, edits};
use crate::error::Error;
use crate::spec::{DecoderSpec, PrependScheme};
use crate::text::Pattern;

/// The work of one decoder.
#[derive(Clone, Debug)]
pub(super) enum DecoderStage {
    WordPiece { prefix: String, clean_up: bool },
    ByteLevel,
    ByteFallback,
    Bpe { suffix: String },
    Metaspace { replacement: char, strips_first: bool },
    SentencePiece(Box<SentencePieceDecoder>),
    Ctc { pad_token: String, word_delimiter_token: String, clean_up: bool },
    Replace { pattern: Box<Pattern>, content: String },
    Fuse,
    Strip { content: char, start: usize, stop: usize },
}

impl DecoderStage {
    /// Return whether it cleans up; `None` if it never does.
    pub(super) fn clean_up(&self) -> Option<bool> {
        match self {
            Self::WordPiece { clean_up, .. } | Self::Ctc { clean_up, .. } => Some(*clean_up),
            _ => None,
        }
    }

    /// Append the decoded tokens, at most `max` bytes.
    pub(super) fn run<'t>(
        &self,
        tokens: impl Iterator<Item = &'t str>,
        clean_up: Option<bool>,
        max: usize,
        out: &mut TokenTexts,
    ) -> Result<(), DecodeStageError> {
        match self {
            Self::WordPiece { prefix, clean_up: own } => {
                edits::word_piece(tokens, prefix, clean_up.unwrap_or(*own), out);
            }
            Self::ByteLevel => bytes::byte_level(tokens, out),
            Self::ByteFallback => bytes::byte_fallback(tokens, out),
            Self::Bpe { suffix } => edits::bpe(tokens, suffix, out),
            Self::Metaspace { replacement, strips_first } => {
                edits::metaspace(tokens, *replacement, *strips_first, out);
            }
            Self::SentencePiece(decoder) => decoder.run(tokens, max, out),
            Self::Ctc { pad_token, word_delimiter_token, clean_up: own } => {
                edits::ctc(tokens, pad_token, word_delimiter_token, clean_up.unwrap_or(*own), out);
            }
            Self::Replace { pattern, content } => edits::replace(tokens, pattern, content, max, out)?,
            Self::Fuse => edits::fuse(tokens, out),
            Self::Strip { content, start, stop } => edits::strip(tokens, *content, *start, *stop, out),
        }
        // The other kinds make a text at most three times longer, so a check afterwards suffices.
        if out.len() > max {
            return Err(DecodeStageError::TooLong { max });
        }
        Ok(())
    }
}

/// Append the stages of a specification and their places in the file; a sequence is its members.
pub(super) fn compile_into(
    spec: &DecoderSpec,
    place: &str,
    stages: &mut Vec<DecoderStage>,
    places: &mut Vec<String>,
) -> Result<(), Error> {
    stages.push(match spec.clone() {
        DecoderSpec::WordPiece { prefix, cleanup } => DecoderStage::WordPiece { prefix, clean_up: cleanup },
        DecoderSpec::ByteLevel(_) => DecoderStage::ByteLevel,
        DecoderSpec::ByteFallback => DecoderStage::ByteFallback,
        DecoderSpec::Bpe { suffix } => DecoderStage::Bpe { suffix },
        DecoderSpec::Metaspace(spec) => DecoderStage::Metaspace {
            replacement: spec.replacement,
            strips_first: spec.prepend_scheme != PrependScheme::Never,
        },
        DecoderSpec::SentencePiece(spec) => {
            DecoderStage::SentencePiece(Box::new(SentencePieceDecoder::compile(&spec)))
        }
        DecoderSpec::Ctc { pad_token, word_delimiter_token, cleanup } => {
            DecoderStage::Ctc { pad_token, word_delimiter_token, clean_up: cleanup }
        }
        DecoderSpec::Replace { pattern, content } => {
            let pattern = Pattern::compile(&pattern, &format!("{place}.pattern"))?;
            DecoderStage::Replace { pattern: Box::new(pattern), content }
        }
        DecoderSpec::Fuse => DecoderStage::Fuse,
        DecoderSpec::Strip { content, start, stop } => DecoderStage::Strip { content, start, stop },
        DecoderSpec::Sequence(specs) => {
            return specs.iter().enumerate().try_for_each(|(at, spec)| {
                compile_into(spec, &format!("{place}.decoders[{at}]"), stages, places)
            });
        }
    });
    places.push(place.to_owned());
    Ok(())
}
