//! Normalization rules of SentencePiece: compile, read, apply.

use piecework_catch_panics::catch_panics;
use piecework_core::error::{Error, ErrorKind};
use piecework_core::stages::normalize::{RuleError, Rules, RULE_NAMES};
use piecework_core::text::{Aligned, CharIndex};
use piecework_formats::rules_tsv;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{bad_argument, raise};
use crate::release::ReleaseGil;
use crate::text::borrow;

/// Compiled normalization rules.
#[pyclass(frozen, module = "piecework._core")]
pub struct RawRules {
    rules: Rules,
}

type Span = (u32, u32);

#[catch_panics]
#[pymethods]
impl RawRules {
    /// Return the rules nmt_nfkc, nfkc, nmt_nfkc_cf, nfkc_cf or identity.
    #[staticmethod]
    fn named(py: Python<'_>, name: &str) -> PyResult<Self> {
        let expected = || format!("one of {}", RULE_NAMES.join(", "));
        let rules = py.release(|| Rules::named(name));
        rules
            .map(|rules| Self { rules })
            .ok_or_else(|| bad_argument("name", format!("{name:?}"), &expected()))
    }

    /// Compile rules, each a source and the replacement at the same position.
    #[staticmethod]
    fn from_pairs(py: Python<'_>, sources: Vec<String>, replacements: Vec<String>) -> PyResult<Self> {
        let compile = || {
            let pairs: Vec<(String, String)> = sources.into_iter().zip(replacements).collect();
            let place = |rule: usize| format!("rules[{:?}]", pairs[rule].0);
            Rules::compile(&pairs).map_err(|error| rule_error(error, ErrorKind::Argument, "rules", place))
        };
        Ok(Self { rules: py.release(compile).map_err(raise)? })
    }

    /// Read and compile a rule file; `source` names it in errors.
    #[staticmethod]
    fn from_tsv(py: Python<'_>, data: &[u8], source: &str) -> PyResult<Self> {
        let compile = || {
            let place = |rule: usize| format!("{source}: line {}", rule + 1);
            let pairs = rules_tsv::read(data).map_err(|error| error.within(source))?;
            Rules::compile(&pairs).map_err(|error| rule_error(error, ErrorKind::Format, source, place))
        };
        Ok(Self { rules: py.release(compile).map_err(raise)? })
    }

    /// Check compiled rules; empty bytes are the identity.
    #[staticmethod]
    fn from_charsmap(py: Python<'_>, charsmap: &[u8]) -> PyResult<Self> {
        let rules = py.release(|| Rules::parse(charsmap, "charsmap"));
        Ok(Self { rules: rules.map_err(raise)? })
    }

    /// Return the compiled rules, empty for the identity.
    fn charsmap<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.rules.blob())
    }

    /// Return the rules ordered by source.
    fn pairs(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        py.release(|| self.rules.pairs()).map_err(raise)
    }

    /// Write a rule file.
    fn to_tsv<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let written = py.release(|| Ok::<_, Error>(rules_tsv::write(&self.rules.pairs()?)));
        Ok(PyBytes::new(py, &written.map_err(raise)?))
    }

    /// Normalize a text.
    fn normalize(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<String> {
        let text = borrow(text, || "text".into())?;
        let mut normalized = String::new();
        py.release(|| self.rules.run(text, 0, &mut normalized)).map_err(raise)?;
        Ok(normalized)
    }

    /// Normalize a text; also return the original character offsets of each character.
    fn normalize_with_offsets(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
    ) -> PyResult<(String, Vec<Span>)> {
        let text = borrow(text, || "text".into())?;
        py.release(|| self.aligned(text)).map_err(raise)
    }
}

impl RawRules {
    /// Normalize a text; return the original character offsets of each character.
    fn aligned(&self, text: &str) -> Result<(String, Vec<Span>), Error> {
        let mut aligned = Aligned::default();
        self.rules.run(text, 0, &mut aligned)?;
        let index = CharIndex::new(text);
        let span = |(at, c): (usize, char)| {
            let (from, to) = aligned.source_of(at, at + c.len_utf8());
            (index.chars_before(from), index.chars_before(to))
        };
        Ok((aligned.text().to_owned(), aligned.text().char_indices().map(span).collect()))
    }
}

/// Convert the error of a rule, with the position of the rule.
fn rule_error(error: RuleError, kind: ErrorKind, all: &str, place: impl Fn(usize) -> String) -> Error {
    Error::new(kind, error.rule.map_or_else(|| all.to_owned(), place), error.found, error.expected)
}
