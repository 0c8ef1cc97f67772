//! Normalizers one after the other, each on the text that the one before wrote.

use super::expansion_limit::ExpansionLimit;
use super::Normalizer;
use crate::error::Error;
use crate::spec::{check_steps, NormalizerSpec};
use crate::text::{Aligned, NormalizedSink};

/// The compiled normalizers, none of them a sequence itself.
#[derive(Clone, Debug)]
pub struct Sequence {
    spec: Vec<NormalizerSpec>,
    stages: Vec<Normalizer>,
    /// Where each of them stands in its file.
    places: Vec<String>,
}

impl Sequence {
    /// Compile the normalizers of the sequence that stands at `place` in its file.
    pub(super) fn compile(spec: &[NormalizerSpec], place: &str) -> Result<Self, Error> {
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
        Ok(Self { spec: spec.to_vec(), stages, places })
    }

    /// The settings.
    pub(super) fn spec(&self) -> NormalizerSpec {
        NormalizerSpec::Sequence(self.spec.clone())
    }

    /// The compiled normalizers.
    pub(super) fn stages(&self) -> &[Normalizer] {
        &self.stages
    }

    /// Normalize `text`, which stands at byte `start` of the original.
    pub(super) fn run<S: NormalizedSink>(&self, text: &str, start: u32, out: &mut S) -> Result<(), Error> {
        if S::KEEPS_SOURCES {
            self.run_through::<Aligned>(text, start, out)
        } else {
            self.run_through::<String>(text, start, out)
        }
    }

    fn run_through<B: Between>(
        &self,
        text: &str,
        start: u32,
        out: &mut impl NormalizedSink,
    ) -> Result<(), Error> {
        let growth = ExpansionLimit::of(text.len());
        let named = |result: Result<(), Error>, at: usize| {
            result.map_err(|error| ExpansionLimit::name_step(error, &self.places[at]))
        };
        let (first, rest, last) = match self.stages.as_slice() {
            [] => {
                out.push_unchanged(text, start);
                return Ok(());
            }
            [only] => return named(only.run_within(text, start, growth, out), 0),
            [first, rest @ .., last] => (first, rest, last),
        };
        let (mut earlier, mut later) = (B::default(), B::default());
        named(first.run_within(text, start, growth, &mut earlier), 0)?;
        for (at, stage) in rest.iter().enumerate() {
            named(growth.check(earlier.len()), at)?;
            later.clear();
            named(earlier.lead_through(stage, start, growth, &mut later), at + 1)?;
            std::mem::swap(&mut earlier, &mut later);
        }
        named(growth.check(earlier.len()), rest.len())?;
        named(earlier.lead_through(last, start, growth, out), rest.len() + 1)
    }
}

/// What one normalizer writes for the next: without sources where nobody asks for them.
trait Between: NormalizedSink + Default {
    fn clear(&mut self);

    /// Its length in bytes.
    fn len(&self) -> usize;

    /// Normalize it, which was made of what stands at byte `start` of the original.
    fn lead_through(
        &self,
        stage: &Normalizer,
        start: u32,
        growth: ExpansionLimit,
        out: &mut impl NormalizedSink,
    ) -> Result<(), Error>;
}

impl Between for String {
    fn clear(&mut self) {
        self.clear();
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn lead_through(
        &self,
        stage: &Normalizer,
        _start: u32,
        growth: ExpansionLimit,
        out: &mut impl NormalizedSink,
    ) -> Result<(), Error> {
        stage.run_within(self, 0, growth, out)
    }
}

impl Between for Aligned {
    fn clear(&mut self) {
        self.clear();
    }

    fn len(&self) -> usize {
        self.text().len()
    }

    fn lead_through(
        &self,
        stage: &Normalizer,
        start: u32,
        growth: ExpansionLimit,
        out: &mut impl NormalizedSink,
    ) -> Result<(), Error> {
        stage.run_within(self.text(), 0, growth, &mut Onward { earlier: self, origin: start, out })
    }
}

/// A sink that leads sources, which are spans of an earlier text, back to the original.
struct Onward<'a, S> {
    earlier: &'a Aligned,
    origin: u32,
    out: &'a mut S,
}

impl<S: NormalizedSink> NormalizedSink for Onward<'_, S> {
    fn push_from(&mut self, c: char, source: (u32, u32)) {
        let source = match source {
            // Written before the first character: it comes from nowhere.
            (0, 0) => (self.origin, self.origin),
            (from, to) => self.earlier.source_of(from as usize, to as usize),
        };
        self.out.push_from(c, source);
    }

    fn push_unchanged(&mut self, text: &str, start: u32) {
        let mut at = start;
        for c in text.chars() {
            let to = at + c.len_utf8() as u32;
            self.out.push_from(c, self.earlier.source_of(at as usize, to as usize));
            at = to;
        }
    }
}
