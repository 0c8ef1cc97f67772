//! Normalizers: raw text in, cleaned text out, with its origin when the sink keeps it.
//!
//! Origins are those of tokenizers 0.23: an inserted character shares the origin of the one before it, a
//! composed one has the origin of its first part.

mod bert;
mod boundaries;
mod byte_level;
mod changes;
mod char_action;
mod charsmap;
mod custom;
mod expansion_limit;
mod forms;
mod lowercase;
mod nmt;
mod precompiled;
mod prepend;
mod replace;
mod rules;
mod sentencepiece;
mod sequence;
mod stretch;
mod strip;
mod strip_accents;
#[cfg(test)]
mod tests;

pub use bert::BertNormalizer;
pub use boundaries::Boundaries;
pub use char_action::{CharAction, CharActions};
pub use custom::Custom;
pub use expansion_limit::ExpansionLimit;
pub use precompiled::Precompiled;
pub use replace::Replace;
pub use rules::{RuleError, Rules, RULE_NAMES};
pub use sentencepiece::SentencePiece;
pub use sequence::Sequence;

use crate::error::Error;
use crate::spec::NormalizerSpec;
use crate::text::{NormalForm, NormalizedSink};

/// A compiled normalizer.
#[derive(Clone, Debug)]
pub enum Normalizer {
    /// No change.
    Identity,
    /// BERT's.
    Bert(BertNormalizer),
    /// A normal form of Unicode.
    Form(NormalForm),
    /// Lowercase without context.
    Lowercase,
    /// No whitespace at the ends.
    Strip {
        /// At the beginning.
        left: bool,
        /// At the end.
        right: bool,
    },
    /// No combining marks.
    StripAccents,
    /// Matches replaced.
    Replace(Replace),
    /// Text put before.
    Prepend(String),
    /// The `nmt` rules of SentencePiece.
    Nmt,
    /// The compiled rules of a SentencePiece model.
    Precompiled(Box<Precompiled>),
    /// All that SentencePiece does.
    SentencePiece(Box<SentencePiece>),
    /// Bytes as printable characters.
    ByteLevel,
    /// A function of somebody else's.
    Custom(Custom),
    /// One after the other.
    Sequence(Sequence),
}

impl Normalizer {
    /// Compile a normalizer; none is the identity.
    pub fn compile(spec: Option<&NormalizerSpec>) -> Result<Self, Error> {
        spec.map_or(Ok(Self::Identity), |spec| Self::compile_at(spec, "normalizer"))
    }

    /// Compile the normalizer that stands at `place` in its file.
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
                Self::SentencePiece(Box::new(SentencePiece::compile(spec, place)?))
            }
            NormalizerSpec::ByteLevel => Self::ByteLevel,
            NormalizerSpec::Custom(spec) => Self::Custom(Custom::compile(spec, place)),
            NormalizerSpec::Sequence(spec) => Self::Sequence(Sequence::compile(spec, place)?),
        })
    }

    /// Where SentencePiece has the end of a text that nothing is left of, if it has one.
    #[must_use]
    pub fn end_of_nothing(&self, text: &str) -> Option<usize> {
        match self {
            Self::SentencePiece(normalizer) => normalizer.end_of_nothing(text),
            _ => None,
        }
    }

    /// Normalize `text`, which stands at byte `start` of the original, into `out`.
    ///
    /// Fails only where a regular expression gives up, where rules make the text many times longer, or
    /// where a function from outside fails.
    pub fn run(&self, text: &str, start: u32, out: &mut impl NormalizedSink) -> Result<(), Error> {
        match self {
            Self::Sequence(sequence) => sequence.run(text, start, out),
            single => single.run_within(text, start, ExpansionLimit::of(text.len()), out),
        }
    }

    /// Run a normalizer that is no sequence, within a bound on what rules may write.
    fn run_within(
        &self,
        text: &str,
        start: u32,
        growth: ExpansionLimit,
        out: &mut impl NormalizedSink,
    ) -> Result<(), Error> {
        match self {
            Self::Identity | Self::Sequence(_) => out.push_unchanged(text, start),
            Self::Bert(bert) => bert.run(text, start, out),
            Self::Form(form) => forms::run(*form, text, start, out),
            Self::Lowercase => lowercase::run(text, start, out),
            Self::Strip { left, right } => strip::run(*left, *right, text, start, out),
            Self::StripAccents => strip_accents::run(text, start, out),
            Self::Replace(replace) => replace.run(text, start, growth, out)?,
            Self::Prepend(prepend) => {
                growth.check(prepend.len())?;
                prepend::run(prepend, text, start, out);
            }
            Self::Nmt => nmt::run(text, start, out),
            Self::Precompiled(rules) => rules.run(text, start, growth, out)?,
            Self::SentencePiece(rules) => rules.run(text, start, growth, out)?,
            Self::ByteLevel => byte_level::run(text, start, out),
            Self::Custom(custom) => custom.run(text, start, growth, out)?,
        }
        Ok(())
    }

    /// The specification it was compiled from.
    #[must_use]
    pub fn spec(&self) -> Option<NormalizerSpec> {
        Some(match self {
            Self::Identity => return None,
            Self::Bert(bert) => NormalizerSpec::Bert(bert.spec()),
            Self::Form(NormalForm::Nfc) => NormalizerSpec::Nfc,
            Self::Form(NormalForm::Nfd) => NormalizerSpec::Nfd,
            Self::Form(NormalForm::Nfkc) => NormalizerSpec::Nfkc,
            Self::Form(NormalForm::Nfkd) => NormalizerSpec::Nfkd,
            Self::Lowercase => NormalizerSpec::Lowercase,
            Self::Strip { left, right } => NormalizerSpec::Strip { left: *left, right: *right },
            Self::StripAccents => NormalizerSpec::StripAccents,
            Self::Replace(replace) => replace.spec(),
            Self::Prepend(prepend) => NormalizerSpec::Prepend { prepend: prepend.clone() },
            Self::Nmt => NormalizerSpec::Nmt,
            Self::Precompiled(rules) => rules.spec(),
            Self::SentencePiece(rules) => NormalizerSpec::SentencePiece(rules.spec().clone()),
            Self::ByteLevel => NormalizerSpec::ByteLevel,
            Self::Custom(custom) => NormalizerSpec::Custom(custom.spec().clone()),
            Self::Sequence(sequence) => sequence.spec(),
        })
    }
}

/// Copy text but the characters that `is_touched` picks; what `map` gives for one comes from it.
fn run_map(
    text: &str,
    start: u32,
    out: &mut impl NormalizedSink,
    is_touched: impl Fn(char) -> bool,
    map: impl Fn(char, &mut dyn FnMut(char)),
) {
    let mut done = 0;
    for (at, c) in text.char_indices().filter(|&(_, c)| is_touched(c)) {
        out.push_unchanged(&text[done..at], start + done as u32);
        done = at + c.len_utf8();
        let source = (start + at as u32, start + done as u32);
        map(c, &mut |new| out.push_from(new, source));
    }
    out.push_unchanged(&text[done..], start + done as u32);
}
