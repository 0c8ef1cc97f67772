//! Compiled normalizers, and sequences of them.

use std::sync::Arc;

use piecework_unicode::NormalForm;

use super::bert::BertNormalizer;
use super::custom::CustomNormalizer;
use super::edits::{self, Replace};
use super::forms;
use super::precompiled::Precompiled;
use super::sentencepiece::SentencePieceNormalizer;
use crate::error::Error;
use crate::spec::{check_steps, NormalizerSpec};
use crate::text::{Aligned, ExpansionLimit, NormalizedSink};

/// A compiled normalizer, as in the specification.
#[derive(Clone, Debug)]
pub enum Normalizer {
    /// No normalizer.
    Identity,
    /// `BertNormalizer`.
    Bert(BertNormalizer),
    /// `NFC`, `NFD`, `NFKC` or `NFKD`.
    Form(NormalForm),
    /// `Lowercase`.
    Lowercase,
    /// `Strip`.
    Strip {
        /// Strips the beginning.
        left: bool,
        /// Strips the end.
        right: bool,
    },
    /// `StripAccents`.
    StripAccents,
    /// `Replace`.
    Replace(Replace),
    /// `Prepend`, with the prefix.
    Prepend(String),
    /// `Nmt`.
    Nmt,
    /// `Precompiled`.
    Precompiled(Box<Precompiled>),
    /// The normalizer of a SentencePiece model.
    SentencePiece(Arc<SentencePieceNormalizer>),
    /// `ByteLevel`.
    ByteLevel,
    /// A function of the user.
    Custom(CustomNormalizer),
    /// `Sequence`.
    Sequence(Sequence),
}

impl Normalizer {
    /// Compile a normalizer; `None` is the identity.
    pub fn compile(spec: Option<&NormalizerSpec>) -> Result<Self, Error> {
        spec.map_or(Ok(Self::Identity), |spec| Self::compile_at(spec, "normalizer"))
    }

    /// Compile the normalizer at `place` in its file.
    fn compile_at(spec: &NormalizerSpec, place: &str) -> Result<Self, Error> {
        Ok(match spec {
            NormalizerSpec::Bert(spec) => Self::Bert(BertNormalizer::compile(spec)),
            NormalizerSpec::Nfc => Self::Form(NormalForm::Nfc),
            NormalizerSpec::Nfd => Self::Form(NormalForm::Nfd),
            NormalizerSpec::Nfkc => Self::Form(NormalForm::Nfkc),
            NormalizerSpec::Nfkd => Self::Form(NormalForm::Nfkd),
            NormalizerSpec::Lowercase => Self::Lowercase,
            NormalizerSpec::Strip { left, right } => Self::Strip { left: *left, right: *right },
            NormalizerSpec::StripAccents => Self::StripAccents,
            NormalizerSpec::Replace { pattern, content } => {
                Self::Replace(Replace::compile(pattern, content, &format!("{place}.pattern"))?)
            }
            NormalizerSpec::Prepend { prepend } => Self::Prepend(prepend.clone()),
            NormalizerSpec::Nmt => Self::Nmt,
            NormalizerSpec::Precompiled { charsmap } => {
                let place = format!("{place}.precompiled_charsmap");
                Self::Precompiled(Box::new(Precompiled::compile(charsmap, &place)?))
            }
            NormalizerSpec::SentencePiece(spec) => {
                Self::SentencePiece(Arc::new(SentencePieceNormalizer::compile(spec, place)?))
            }
            NormalizerSpec::ByteLevel => Self::ByteLevel,
            NormalizerSpec::Custom(spec) => Self::Custom(CustomNormalizer::compile(spec, place)),
            NormalizerSpec::Sequence(spec) => Self::Sequence(Sequence::compile(spec, place)?),
        })
    }

    /// Make every table that is made late.
    pub(crate) fn warm_up(&self) {
        match self {
            Self::Precompiled(rules) => rules.warm_up(),
            Self::Sequence(sequence) => sequence.stages.iter().for_each(Self::warm_up),
            _ => {}
        }
    }

    /// Return the end offset that SentencePiece reports for a text that normalizes to nothing, if it
    /// reports one.
    pub(crate) fn end_of_empty(&self, text: &str) -> Option<usize> {
        match self {
            Self::SentencePiece(normalizer) => normalizer.end_of_empty(text),
            _ => None,
        }
    }

    /// Normalize `text`, which begins at byte `start` of the original, into `out`.
    ///
    /// Fails if a regular expression exceeds its step bound, the output exceeds the expansion limit, or a
    /// function of the user fails.
    pub fn run(&self, text: &str, start: u32, out: &mut impl NormalizedSink) -> Result<(), Error> {
        match self {
            Self::Sequence(sequence) => sequence.run(text, start, out),
            single => single.run_within(text, start, ExpansionLimit::of(text.len()), out),
        }
    }

    /// Run a single normalizer within the expansion limit.
    fn run_within(
        &self,
        text: &str,
        start: u32,
        limit: ExpansionLimit,
        out: &mut impl NormalizedSink,
    ) -> Result<(), Error> {
        match self {
            Self::Identity | Self::Sequence(_) => out.push_unchanged(text, start),
            Self::Bert(bert) => bert.run(text, start, out),
            Self::Form(form) => forms::run(*form, text, start, out),
            Self::Lowercase => edits::lowercase(text, start, out),
            Self::Strip { left, right } => edits::strip(*left, *right, text, start, out),
            Self::StripAccents => edits::strip_accents(text, start, out),
            Self::Replace(replace) => replace.run(text, start, limit, out)?,
            Self::Prepend(prepend) => {
                limit.check(prepend.len())?;
                edits::prepend(prepend, text, start, out);
            }
            Self::Nmt => edits::nmt(text, start, out),
            Self::Precompiled(rules) => rules.run(text, start, limit, out)?,
            Self::SentencePiece(rules) => rules.run(text, start, limit, out)?,
            Self::ByteLevel => edits::byte_level(text, start, out),
            Self::Custom(custom) => custom.run(text, start, limit, out)?,
        }
        Ok(())
    }
}

/// Normalizers in sequence, without nested sequences.
#[derive(Clone, Debug)]
pub struct Sequence {
    stages: Vec<Normalizer>,
    /// The place of each normalizer in the file.
    places: Vec<String>,
}

impl Sequence {
    /// Compile the sequence at `place` in its file.
    fn compile(spec: &[NormalizerSpec], place: &str) -> Result<Self, Error> {
        let (mut stages, mut places) = (Vec::new(), Vec::new());
        for (index, stage) in spec.iter().enumerate() {
            let place = format!("{place}.normalizers[{index}]");
            match Normalizer::compile_at(stage, &place)? {
                Normalizer::Sequence(inner) => {
                    stages.extend(inner.stages);
                    places.extend(inner.places);
                }
                stage => {
                    stages.push(stage);
                    places.push(place);
                }
            }
        }
        check_steps(stages.len(), place)?;
        Ok(Self { stages, places })
    }

    /// Return the normalizers.
    pub(super) fn stages(&self) -> &[Normalizer] {
        &self.stages
    }

    /// Normalize `text`, which begins at byte `start` of the original.
    fn run<S: NormalizedSink>(&self, text: &str, start: u32, out: &mut S) -> Result<(), Error> {
        if S::KEEPS_SOURCES {
            self.run_through::<Aligned>(text, start, out)
        } else {
            self.run_through::<String>(text, start, out)
        }
    }

    fn run_through<I: Intermediate>(
        &self,
        text: &str,
        start: u32,
        out: &mut impl NormalizedSink,
    ) -> Result<(), Error> {
        let limit = ExpansionLimit::of(text.len());
        let named = |result: Result<(), Error>, at: usize| {
            result.map_err(|error| ExpansionLimit::name_step(error, &self.places[at]))
        };
        let (first, rest, last) = match self.stages.as_slice() {
            [] => {
                out.push_unchanged(text, start);
                return Ok(());
            }
            [only] => return named(only.run_within(text, start, limit, out), 0),
            [first, rest @ .., last] => (first, rest, last),
        };
        let (mut earlier, mut later) = (I::default(), I::default());
        named(first.run_within(text, start, limit, &mut earlier), 0)?;
        for (at, stage) in rest.iter().enumerate() {
            named(limit.check(earlier.text().len()), at)?;
            later.clear();
            named(run_traced(stage, &earlier, start, limit, &mut later), at + 1)?;
            std::mem::swap(&mut earlier, &mut later);
        }
        named(limit.check(earlier.text().len()), rest.len())?;
        named(run_traced(last, &earlier, start, limit, out), rest.len() + 1)
    }
}

/// Run a normalizer on the output of an earlier one, whose input begins at byte `start` of the original.
fn run_traced<I: Intermediate>(
    stage: &Normalizer,
    earlier: &I,
    start: u32,
    limit: ExpansionLimit,
    out: &mut impl NormalizedSink,
) -> Result<(), Error> {
    stage.run_within(earlier.text(), 0, limit, &mut earlier.traced(start, out))
}

/// The output of one normalizer and input of the next.
pub(super) trait Intermediate: NormalizedSink + Default {
    /// A sink that maps sources, which are spans of this text, to the original.
    type Traced<'a, S: NormalizedSink + 'a>: NormalizedSink
    where
        Self: 'a;

    /// Remove the text and keep its memory.
    fn clear(&mut self);

    /// Return the text.
    fn text(&self) -> &str;

    /// Return the sink for the next text; this text comes from byte `start` of the original on.
    fn traced<'a, S: NormalizedSink>(&'a self, start: u32, out: &'a mut S) -> Self::Traced<'a, S>;
}

impl Intermediate for String {
    type Traced<'a, S: NormalizedSink + 'a> = &'a mut S;

    fn clear(&mut self) {
        self.clear();
    }

    fn text(&self) -> &str {
        self
    }

    fn traced<'a, S: NormalizedSink>(&'a self, _start: u32, out: &'a mut S) -> &'a mut S {
        out
    }
}

impl Intermediate for Aligned {
    type Traced<'a, S: NormalizedSink + 'a> = SequenceSink<'a, S>;

    fn clear(&mut self) {
        self.clear();
    }

    fn text(&self) -> &str {
        self.text()
    }

    fn traced<'a, S: NormalizedSink>(&'a self, start: u32, out: &'a mut S) -> SequenceSink<'a, S> {
        SequenceSink { earlier: self, origin: start, out }
    }
}

/// Maps sources, which are spans of an earlier text, to the original.
pub(super) struct SequenceSink<'a, S> {
    earlier: &'a Aligned,
    origin: u32,
    out: &'a mut S,
}

impl<S: NormalizedSink> NormalizedSink for SequenceSink<'_, S> {
    fn push_from(&mut self, c: char, source: (u32, u32)) {
        let source = match source {
            // A character inserted before the first one has an empty source.
            (0, 0) => (self.origin, self.origin),
            // One inserted after the last one, too.
            (from, to) if from == to && from as usize == self.earlier.text().len() => {
                let end = self.earlier.source_of(from as usize - 1, from as usize).1;
                (end, end)
            }
            (from, to) => self.earlier.source_of(from as usize, to as usize),
        };
        self.out.push_from(c, source);
    }
}
