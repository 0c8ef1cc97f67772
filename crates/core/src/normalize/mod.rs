//! Normalizers: raw text in, cleaned text out, with its origin when the sink keeps it.

mod bert;

pub use bert::BertNormalizer;

use crate::spec::NormalizerSpec;
use crate::text::NormalizedSink;

/// A compiled normalizer.
#[derive(Clone, Debug)]
pub enum Normalizer {
    /// No change.
    Identity,
    /// BERT's.
    Bert(BertNormalizer),
}

impl Normalizer {
    /// Compile a normalizer; none is the identity.
    #[must_use]
    pub fn compile(spec: Option<&NormalizerSpec>) -> Self {
        match spec {
            None => Self::Identity,
            Some(NormalizerSpec::Bert(spec)) => Self::Bert(BertNormalizer::compile(spec)),
        }
    }

    /// Normalize `text`, which stands at byte `start` of the original, into `out`.
    pub fn run(&self, text: &str, start: u32, out: &mut impl NormalizedSink) {
        match self {
            Self::Identity => out.push_unchanged(text, start),
            Self::Bert(bert) => bert.run(text, start, out),
        }
    }

    /// The specification it was compiled from.
    #[must_use]
    pub fn spec(&self) -> Option<NormalizerSpec> {
        match self {
            Self::Identity => None,
            Self::Bert(bert) => Some(NormalizerSpec::Bert(bert.spec())),
        }
    }
}
