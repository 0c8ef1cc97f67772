//! Decoders: tokens in, text out.
//!
//! Each decoder makes of a list of tokens another list; the last list is joined. Without a decoder the
//! tokens are joined by spaces.

mod bpe;
mod byte_fallback;
mod byte_level;
mod ctc;
mod decode_table;
mod fuse;
mod metaspace;
mod pieces;
mod replace;
mod sentencepiece;
mod stream;
mod strip;
mod tidy;
mod wordpiece;

use crate::error::{Error, ErrorKind};
use crate::spec::{check_steps, DecoderSpec, PrependScheme};
use crate::text::{max_grown_len, Pattern, MAX_GROWTH};

pub use decode_table::{DecodeTable, Tokens};
use pieces::TextPieces;
use sentencepiece::SentencePiece;
pub use stream::DecodeStream;

/// A compiled decoder: its stages in order, sequences within sequences laid flat.
#[derive(Clone, Debug)]
pub struct Decoder {
    spec: Option<DecoderSpec>,
    stages: Vec<Stage>,
    /// Where each stage stands in its file.
    places: Vec<String>,
}

/// One decoder of the list.
#[derive(Clone, Debug)]
enum Stage {
    WordPiece { prefix: String, clean_up: bool },
    ByteLevel,
    ByteFallback,
    Bpe { suffix: String },
    Metaspace { replacement: char, strips_first: bool },
    SentencePiece(Box<SentencePiece>),
    Ctc { pad_token: String, word_delimiter_token: String, clean_up: bool },
    Replace { pattern: Box<Pattern>, content: String },
    Fuse,
    Strip { content: char, start: usize, stop: usize },
}

impl Decoder {
    /// Compile a decoder; a regular expression that is none is an error.
    pub fn compile(spec: Option<&DecoderSpec>) -> Result<Self, Error> {
        let (mut stages, mut places) = (Vec::new(), Vec::new());
        if let Some(spec) = spec {
            compile_into(spec, "decoder", &mut stages, &mut places)?;
            check_steps(stages.len(), "decoder")?;
        }
        Ok(Self { spec: spec.cloned(), stages, places })
    }

    /// The specification it was compiled from.
    #[must_use]
    pub fn spec(&self) -> Option<DecoderSpec> {
        self.spec.clone()
    }

    /// Whether tokens are bytes written as printable characters, and nothing else is done to them.
    #[must_use]
    pub fn is_byte_level(&self) -> bool {
        matches!(self.stages.as_slice(), [Stage::ByteLevel])
    }

    /// The decoder of SentencePiece, if it is that alone.
    fn sentencepiece(&self) -> Option<&SentencePiece> {
        match self.stages.as_slice() {
            [Stage::SentencePiece(decoder)] => Some(decoder),
            _ => None,
        }
    }

    /// Turn tokens into text; `clean_up` overrides the decoders' own settings.
    ///
    /// A regular expression that gives up is an error, and a stage that writes more than
    /// [`max_grown_len`] of the tokens' bytes, each token one more.
    pub fn run<'t>(
        &self,
        tokens: impl Iterator<Item = &'t str> + Clone,
        clean_up: Option<bool>,
    ) -> Result<String, Error> {
        let Some((first, rest)) = self.stages.split_first() else {
            return Ok(joined(tokens, if self.spec.is_none() { " " } else { "" }));
        };
        let max = max_grown_len(tokens.clone().map(|token| token.len() + 1).sum());
        let mut pieces = TextPieces::default();
        first.run(tokens, clean_up, max, &mut pieces).map_err(|fault| self.error(fault, 0))?;
        for (at, stage) in rest.iter().enumerate() {
            let mut next = TextPieces::default();
            stage
                .run(pieces.iter(), clean_up, max, &mut next)
                .map_err(|fault| self.error(fault, at + 1))?;
            pieces = next;
        }
        Ok(pieces.into_text())
    }

    /// The error for what went wrong in a stage.
    fn error(&self, fault: Fault, stage: usize) -> Error {
        match fault {
            Fault::TooLong { max } => {
                let found = format!("a decoder that writes more than {max} bytes for one text");
                let expected = format!("at most {MAX_GROWTH} times the length of its tokens and 1 MiB");
                Error::new(ErrorKind::Argument, self.places[stage].as_str(), found, expected)
            }
            Fault::Pattern(error) => *error,
        }
    }
}

/// Why a stage fails.
enum Fault {
    /// It writes more than `max` bytes.
    TooLong { max: usize },
    /// A regular expression gives up.
    Pattern(Box<Error>),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Pattern(Box::new(error))
    }
}

impl Stage {
    /// Append what becomes of a list of tokens: no more than `max` bytes.
    fn run<'t>(
        &self,
        tokens: impl Iterator<Item = &'t str>,
        clean_up: Option<bool>,
        max: usize,
        out: &mut TextPieces,
    ) -> Result<(), Fault> {
        match self {
            Self::WordPiece { prefix, clean_up: own } => {
                wordpiece::run(tokens, prefix, clean_up.unwrap_or(*own), out);
            }
            Self::ByteLevel => byte_level::run(tokens, out),
            Self::ByteFallback => byte_fallback::run(tokens, out),
            Self::Bpe { suffix } => bpe::run(tokens, suffix, out),
            Self::Metaspace { replacement, strips_first } => {
                metaspace::run(tokens, *replacement, *strips_first, out);
            }
            Self::SentencePiece(decoder) => decoder.run(tokens, max, out),
            Self::Ctc { pad_token, word_delimiter_token, clean_up: own } => {
                ctc::run(tokens, pad_token, word_delimiter_token, clean_up.unwrap_or(*own), out);
            }
            Self::Replace { pattern, content } => replace::run(tokens, pattern, content, max, out)?,
            Self::Fuse => fuse::run(tokens, out),
            Self::Strip { content, start, stop } => strip::run(tokens, *content, *start, *stop, out),
        }
        // The others make a text at most three times longer, so it is enough to look afterwards.
        if out.len() > max {
            return Err(Fault::TooLong { max });
        }
        Ok(())
    }
}

fn compile_into(
    spec: &DecoderSpec,
    place: &str,
    stages: &mut Vec<Stage>,
    places: &mut Vec<String>,
) -> Result<(), Error> {
    stages.push(match spec.clone() {
        DecoderSpec::WordPiece { prefix, cleanup } => Stage::WordPiece { prefix, clean_up: cleanup },
        DecoderSpec::ByteLevel(_) => Stage::ByteLevel,
        DecoderSpec::ByteFallback => Stage::ByteFallback,
        DecoderSpec::Bpe { suffix } => Stage::Bpe { suffix },
        DecoderSpec::Metaspace(spec) => Stage::Metaspace {
            replacement: spec.replacement,
            strips_first: spec.prepend_scheme != PrependScheme::Never,
        },
        DecoderSpec::SentencePiece(spec) => Stage::SentencePiece(Box::new(SentencePiece::compile(&spec))),
        DecoderSpec::Ctc { pad_token, word_delimiter_token, cleanup } => {
            Stage::Ctc { pad_token, word_delimiter_token, clean_up: cleanup }
        }
        DecoderSpec::Replace { pattern, content } => {
            let pattern = Pattern::compile(&pattern, &format!("{place}.pattern"))?;
            Stage::Replace { pattern: Box::new(pattern), content }
        }
        DecoderSpec::Fuse => Stage::Fuse,
        DecoderSpec::Strip { content, start, stop } => Stage::Strip { content, start, stop },
        DecoderSpec::Sequence(specs) => {
            return specs.iter().enumerate().try_for_each(|(at, spec)| {
                compile_into(spec, &format!("{place}.decoders[{at}]"), stages, places)
            });
        }
    });
    places.push(place.to_owned());
    Ok(())
}

fn joined<'t>(tokens: impl Iterator<Item = &'t str>, glue: &str) -> String {
    let mut text = String::new();
    for (at, token) in tokens.enumerate() {
        text.push_str(if at > 0 { glue } else { "" });
        text.push_str(token);
    }
    text
}

#[cfg(test)]
mod tests;
