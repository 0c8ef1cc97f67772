//! Normalization rules of SentencePiece: compile, read, apply.

use piecework_catch_panics::python;
use piecework_core::error::Error;
use piecework_core::stages::normalize::Rules;
use piecework_core::text::{Aligned, CharIndex};
use piecework_formats::normalization_rules::{
    compile_named, compile_pairs, compile_tsv, decompile, write_tsv, Pair, RULE_NAMES,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{bad_argument, raise};
use crate::input::borrow;
use crate::release::ReleaseGil;

/// Compiled normalization rules.
#[pyclass(frozen, module = "piecework._internal._core")]
pub struct RawRules {
    charsmap: Vec<u8>,
    rules: Rules,
}

type Span = (u32, u32);

#[python]
impl RawRules {
    /// Return the rules nmt_nfkc, nfkc, nmt_nfkc_cf, nfkc_cf or identity.
    #[staticmethod]
    fn named(py: Python<'_>, name: &str) -> PyResult<Self> {
        let charsmap = py.release(|| compile_named(name)).ok_or_else(|| {
            bad_argument("name", format!("{name:?}"), &format!("one of {}", RULE_NAMES.join(", ")))
        })?;
        Self::compiled(py, "rules", || Ok(charsmap))
    }

    /// Compile rules, each a source and the replacement at the same position.
    #[staticmethod]
    fn from_pairs(py: Python<'_>, sources: Vec<String>, replacements: Vec<String>) -> PyResult<Self> {
        let pairs: Vec<Pair> = sources.into_iter().zip(replacements).collect();
        Self::compiled(py, "rules", || compile_pairs(&pairs))
    }

    /// Read and compile a rule file; `source` names it in errors.
    #[staticmethod]
    fn from_tsv(py: Python<'_>, data: &[u8], source: &str) -> PyResult<Self> {
        Self::compiled(py, source, || compile_tsv(data).map_err(|error| error.within(source)))
    }

    /// Check compiled rules; empty bytes are the identity.
    #[staticmethod]
    fn from_charsmap(py: Python<'_>, charsmap: &[u8]) -> PyResult<Self> {
        Self::compiled(py, "charsmap", || Ok(charsmap.to_vec()))
    }

    /// Return the compiled rules, empty for the identity.
    fn charsmap<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.charsmap)
    }

    /// Return the rules ordered by source.
    fn pairs(&self, py: Python<'_>) -> PyResult<Vec<Pair>> {
        py.release(|| decompile(&self.charsmap)).map_err(raise)
    }

    /// Write a rule file.
    fn to_tsv<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let written = py.release(|| write_tsv(&self.charsmap)).map_err(raise)?;
        Ok(PyBytes::new(py, &written))
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
    /// Wrap the rules that `compile` returns, at `place` in errors.
    fn compiled(
        py: Python<'_>,
        place: &str,
        compile: impl FnOnce() -> Result<Vec<u8>, Error> + Send,
    ) -> PyResult<Self> {
        let compile = || {
            let charsmap = compile()?;
            Ok(Self { rules: Rules::parse(&charsmap, place)?, charsmap })
        };
        py.release(compile).map_err(raise)
    }

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
