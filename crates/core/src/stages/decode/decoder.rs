//! A compiled decoder, which runs its stages in sequence.

use super::edits;
use super::edits::{clean_up_text, text_clean_up, DecodeStageError, TokenTexts};
use super::sentencepiece::SentencePieceDecoder;
use crate::error::{Error, ErrorKind};
use crate::spec::{check_steps, DecoderSpec, PatternSpec, PrependScheme};
use crate::text::{max_grown_len, Pattern, MAX_GROWTH};

/// A compiled decoder without nested sequences.
#[derive(Clone, Debug)]
pub struct Decoder {
    pub(super) spec: Option<DecoderSpec>,
    pub(super) stages: Vec<DecoderStage>,
    /// The place of each stage in the file.
    places: Vec<String>,
    /// The specification ends with the steps that clean up the whole text, which `stages` lacks.
    cleans_text: bool,
}

impl Decoder {
    /// Compile a decoder; fails for invalid regular expressions.
    pub fn compile(spec: Option<&DecoderSpec>) -> Result<Self, Error> {
        let (mut stages, mut places) = (Vec::new(), Vec::new());
        let bare = spec.and_then(before_clean_up);
        if let Some(spec) = bare.as_ref().or(spec) {
            compile_into(spec, "decoder", &mut stages, &mut places)?;
            check_steps(stages.len(), "decoder")?;
        }
        Ok(Self { spec: spec.cloned(), stages, places, cleans_text: bare.is_some() })
    }

    /// Return whether the whole text is cleaned up after the stages.
    pub(crate) fn cleans_text(&self, clean_up: Option<bool>) -> bool {
        self.cleans_text && clean_up.unwrap_or(true)
    }

    /// Return the specification that it was compiled from.
    #[must_use]
    pub fn spec(&self) -> Option<DecoderSpec> {
        self.spec.clone()
    }

    /// Return whether the only stage is `ByteLevel`.
    #[must_use]
    pub fn is_byte_level(&self) -> bool {
        matches!(self.stages.as_slice(), [DecoderStage::ByteLevel])
    }

    /// Return SentencePiece's decoder, if it is the only stage.
    pub(super) fn sentencepiece(&self) -> Option<&SentencePieceDecoder> {
        match self.stages.as_slice() {
            [DecoderStage::SentencePiece(decoder)] => Some(decoder),
            _ => None,
        }
    }

    /// Return the setting of `clean_up` that gives the same text: `None` if no decoder cleans up; if one does, its own
    /// setting instead of `None`.
    pub(crate) fn own_clean_up(&self, clean_up: Option<bool>) -> Option<bool> {
        let mut own = self.stages.iter().filter_map(DecoderStage::clean_up);
        match (own.next(), own.next()) {
            (None, _) => None,
            (Some(own), None) => Some(clean_up.unwrap_or(own)),
            (Some(_), Some(_)) => clean_up,
        }
    }

    /// Decode tokens to text; `clean_up` overrides the decoders' own settings.
    ///
    /// Fails if a regular expression exceeds its step bound, or a stage writes more than `max_grown_len`
    /// of the tokens' bytes, plus one for each token.
    pub fn run<'t>(
        &self,
        tokens: impl Iterator<Item = &'t str> + Clone,
        clean_up: Option<bool>,
    ) -> Result<String, Error> {
        let mut text = self.run_stages(tokens, clean_up)?;
        if self.cleans_text(clean_up) {
            clean_up_text(&mut text, 0);
        }
        Ok(text)
    }

    /// Decode tokens to a text that is not cleaned up yet. Fails as [`Self::run`] does.
    pub(crate) fn run_stages<'t>(
        &self,
        tokens: impl Iterator<Item = &'t str> + Clone,
        clean_up: Option<bool>,
    ) -> Result<String, Error> {
        let Some((first, rest)) = self.stages.split_first() else {
            return Ok(joined(tokens, if self.spec.is_none() { " " } else { "" }));
        };
        let max = max_grown_len(tokens.clone().map(|token| token.len() + 1).sum());
        let mut pieces = TokenTexts::default();
        first.run(tokens, clean_up, max, &mut pieces).map_err(|fault| self.error(fault, 0))?;
        for (at, stage) in rest.iter().enumerate() {
            let mut next = TokenTexts::default();
            stage
                .run(pieces.iter(), clean_up, max, &mut next)
                .map_err(|fault| self.error(fault, at + 1))?;
            pieces = next;
        }
        Ok(pieces.into_text())
    }

    /// Return the error of a stage.
    fn error(&self, fault: DecodeStageError, stage: usize) -> Error {
        match fault {
            DecodeStageError::TooLong { max } => {
                let found = format!("a decoder that writes more than {max} bytes for one text");
                let expected = format!("at most {MAX_GROWTH} times the length of its tokens and 64 KiB");
                Error::new(ErrorKind::Argument, self.places[stage].as_str(), found, expected)
            }
            DecodeStageError::Pattern(error) => *error,
        }
    }
}

/// Return a decoder without the steps at its end that clean up the text as transformers does; `None` for one that
/// does not end so.
fn before_clean_up(spec: &DecoderSpec) -> Option<DecoderSpec> {
    let DecoderSpec::Sequence(steps) = spec else { return None };
    let replace = |(old, new): (&str, &str)| DecoderSpec::Replace {
        pattern: PatternSpec::Text(old.to_owned()),
        content: new.to_owned(),
    };
    let steps_of_clean_up: Vec<_> =
        std::iter::once(DecoderSpec::Fuse).chain(text_clean_up().map(replace)).collect();
    steps.strip_suffix(steps_of_clean_up.as_slice()).map(|bare| DecoderSpec::Sequence(bare.to_vec()))
}

fn joined<'t>(tokens: impl Iterator<Item = &'t str>, glue: &str) -> String {
    let mut text = String::new();
    for (at, token) in tokens.enumerate() {
        text.push_str(if at > 0 { glue } else { "" });
        text.push_str(token);
    }
    text
}

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
            Self::ByteLevel => edits::byte_level(tokens, out),
            Self::ByteFallback => edits::byte_fallback(tokens, out),
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
