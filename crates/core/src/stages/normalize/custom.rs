//! A normalizer that calls a function of the user.
//!
//! Sources are the spans that the function returns, or come from aligning both texts (`text::align`). An
//! inserted character has the source of the character before it.

use crate::error::{Error, ErrorKind};
use crate::spec::{CharSpan, CustomSpec};
use crate::text::{align, AlignedRun, CharSpans, ExpansionLimit, NormalizedSink};

/// The compiled normalizer.
#[derive(Clone, Debug)]
pub struct CustomNormalizer {
    spec: CustomSpec,
    place: String,
}

impl CustomNormalizer {
    /// Compile the settings of the stage at `place`.
    pub(super) fn compile(spec: &CustomSpec, place: &str) -> Self {
        Self { spec: spec.clone(), place: format!("{place} {:?}", spec.name) }
    }

    /// Normalize `text`, which begins at byte `start` of the original.
    pub(super) fn run(
        &self,
        text: &str,
        start: u32,
        mut limit: ExpansionLimit,
        out: &mut impl NormalizedSink,
    ) -> Result<(), Error> {
        let rewritten = self.spec.function.rewrite(text);
        let rewritten = rewritten.map_err(|error| error.at(self.place.clone()))?;
        limit.take(rewritten.text.len())?;
        match &rewritten.spans {
            Some(spans) => self.write_by_spans(text, &rewritten.text, spans, start, out),
            None => {
                align(text, &rewritten.text, |run| write_run(text, &rewritten.text, &run, start, out));
                Ok(())
            }
        }
    }

    fn write_by_spans(
        &self,
        text: &str,
        new: &str,
        spans: &[CharSpan],
        start: u32,
        out: &mut impl NormalizedSink,
    ) -> Result<(), Error> {
        let chars = new.chars().count();
        if spans.len() != chars {
            let found = format!("{} spans", spans.len());
            return Err(self.error(found, format!("{chars}, one for each character returned")));
        }
        let mut places = CharSpans::new(text);
        for (at, (c, &span)) in new.chars().zip(spans).enumerate() {
            let source = places
                .rising(span)
                .map_err(|expected| self.error(format!("span {at} ({}, {})", span.0, span.1), expected))?;
            out.push_from(c, (start + source.0 as u32, start + source.1 as u32));
        }
        Ok(())
    }

    fn error(&self, found: String, expected: String) -> Error {
        Error::new(ErrorKind::Stage, &self.place, found, expected)
    }
}

fn write_run(old: &str, new: &str, run: &AlignedRun, start: u32, out: &mut impl NormalizedSink) {
    let shift = start + run.old.start as u32;
    let new = &new[run.new.clone()];
    if run.one_for_one {
        let mut at = shift;
        for (from, to) in old[run.old.clone()].chars().zip(new.chars()) {
            let end = at + from.len_utf8() as u32;
            out.push_from(to, (at, end));
            at = end;
        }
        return;
    }
    let before = old[..run.old.start].chars().next_back().map_or(0, char::len_utf8) as u32;
    let source = match run.old.is_empty() {
        true => (shift - before, shift),
        false => (shift, start + run.old.end as u32),
    };
    new.chars().for_each(|c| out.push_from(c, source));
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::spec::{CustomWords, Rewritten, TextFunction};
    use crate::text::Aligned;

    /// Returns the same text for every text.
    #[derive(Debug)]
    struct ConstantFunction(Rewritten);

    impl TextFunction for ConstantFunction {
        fn rewrite(&self, _: &str) -> Result<Rewritten, Error> {
            Ok(self.0.clone())
        }

        fn split(&self, _: &str) -> Result<CustomWords, Error> {
            Ok(CustomWords::Texts(Vec::new()))
        }
    }

    fn run(text: &str, new: &str, spans: Option<&[CharSpan]>) -> Result<Vec<(u32, u32)>, Error> {
        let rewritten = Rewritten { text: new.to_owned(), spans: spans.map(<[_]>::to_vec) };
        let function = Arc::new(ConstantFunction(rewritten));
        let spec = CustomSpec { name: "always".to_owned(), function };
        let mut out = Aligned::default();
        CustomNormalizer::compile(&spec, "normalizer").run(
            text,
            10,
            ExpansionLimit::of(text.len()),
            &mut out,
        )?;
        assert_eq!(out.text(), new);
        let ends = new.char_indices().map(|(at, c)| (at, at + c.len_utf8()));
        Ok(ends.map(|(from, to)| out.source_of(from, to)).collect())
    }

    #[test]
    fn given_spans_are_sources() {
        let sources = run("éab", "eb!", Some(&[(0, 1), (2, 3), (3, 3)])).expect("good spans");
        assert_eq!(sources, [(10, 12), (13, 14), (13, 14)]);
    }

    #[test]
    fn without_spans_sources_are_aligned() {
        assert_eq!(run("a…b", "a...b", None).expect("no spans")[1..4], [(11, 14); 3]);
        assert_eq!(run("ab", "aXYb", None).expect("no spans"), [(10, 11), (10, 11), (10, 11), (11, 12)]);
        assert_eq!(run("b", "Xb", None).expect("no spans"), [(10, 10), (10, 11)]);
    }

    #[test]
    fn invalid_sources_are_refused() {
        let found = |spans: &[CharSpan]| run("abc", "xy", Some(spans)).expect_err("bad spans");
        assert_eq!(found(&[(0, 1)]).found, "1 spans");
        assert_eq!(found(&[(0, 1), (1, 4)]).found, "span 1 (1, 4)");
        assert_eq!(found(&[(-1, 1), (1, 2)]).found, "span 0 (-1, 1)");
        assert_eq!(found(&[(2, 3), (0, 1)]).found, "span 1 (0, 1)");
        assert_eq!(found(&[(2, 1), (2, 3)]).place, "normalizer \"always\"");
    }
}
