//! A compiled decoder, which runs its stages in sequence.

use super::edits::{clean_up_text, text_clean_up};
use super::sentencepiece::SentencePieceDecoder;
use super::stage::{compile_into, DecoderStage};
use super::token_texts::{DecodeStageError, TokenTexts};
use crate::error::{Error, ErrorKind};
use crate::spec::{check_steps, DecoderSpec, PatternSpec};
use crate::text::{max_grown_len, MAX_GROWTH};

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
    #[must_use]
    pub fn own_clean_up(&self, clean_up: Option<bool>) -> Option<bool> {
        let mut own = self.stages.iter().filter_map(DecoderStage::clean_up);
        match (own.next(), own.next()) {
            (None, _) => None,
            (Some(own), None) => Some(clean_up.unwrap_or(own)),
            (Some(_), Some(_)) => clean_up,
        }
    }

    /// Decode tokens to text; `clean_up` overrides the decoders' own settings.
    ///
    /// Fails if a regular expression exceeds its step bound, or a stage writes more than [`max_grown_len`]
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
