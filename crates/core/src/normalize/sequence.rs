//! Normalizers one after the other, each on the text that the one before wrote.

use super::growth::Growth;
use super::Normalizer;
use crate::error::Error;
use crate::spec::NormalizerSpec;
use crate::text::{Aligned, NormalizedSink};

/// The compiled normalizers, none of them a sequence itself.
#[derive(Clone, Debug)]
pub struct Sequence {
    spec: Vec<NormalizerSpec>,
    stages: Vec<Normalizer>,
}

impl Sequence {
    /// Compile the normalizers of the sequence that stands at `place` in its file.
    pub(super) fn compile(spec: &[NormalizerSpec], place: &str) -> Result<Self, Error> {
        let mut stages = Vec::new();
        for (index, stage) in spec.iter().enumerate() {
            match Normalizer::compile_at(stage, &format!("{place}.normalizers[{index}]"))? {
                Normalizer::Sequence(inner) => stages.extend(inner.stages),
                stage => stages.push(stage),
            }
        }
        Ok(Self { spec: spec.to_vec(), stages })
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
        match self.stages.as_slice() {
            [] => out.push_unchanged(text, start),
            [only] => return only.run(text, start, out),
            [first, rest @ .., last] if S::KEEPS_SOURCES => {
                return run_through::<Aligned>((first, rest, last), text, start, out);
            }
            [first, rest @ .., last] => {
                return run_through::<String>((first, rest, last), text, start, out)
            }
        }
        Ok(())
    }
}

fn run_through<B: Between>(
    (first, rest, last): (&Normalizer, &[Normalizer], &Normalizer),
    text: &str,
    start: u32,
    out: &mut impl NormalizedSink,
) -> Result<(), Error> {
    let growth = Growth::of(text.len());
    let (mut earlier, mut later) = (B::default(), B::default());
    first.run_within(text, start, growth, &mut earlier)?;
    for stage in rest {
        later.clear();
        earlier.lead_through(stage, start, growth, &mut later)?;
        std::mem::swap(&mut earlier, &mut later);
    }
    earlier.lead_through(last, start, growth, out)
}

/// What one normalizer writes for the next: without sources where nobody asks for them.
trait Between: NormalizedSink + Default {
    fn clear(&mut self);

    /// Normalize it, which was made of what stands at byte `start` of the original.
    fn lead_through(
        &self,
        stage: &Normalizer,
        start: u32,
        growth: Growth,
        out: &mut impl NormalizedSink,
    ) -> Result<(), Error>;
}

impl Between for String {
    fn clear(&mut self) {
        self.clear();
    }

    fn lead_through(
        &self,
        stage: &Normalizer,
        _start: u32,
        growth: Growth,
        out: &mut impl NormalizedSink,
    ) -> Result<(), Error> {
        growth.check(self.len())?;
        stage.run_within(self, 0, growth, out)
    }
}

impl Between for Aligned {
    fn clear(&mut self) {
        self.clear();
    }

    fn lead_through(
        &self,
        stage: &Normalizer,
        start: u32,
        growth: Growth,
        out: &mut impl NormalizedSink,
    ) -> Result<(), Error> {
        growth.check(self.text().len())?;
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
