//! Prompts: texts of which only some parts may contain special tokens.

use std::sync::Arc;

use piecework_catch_panics::python;
use piecework_core::engine::batch::Prompts;
use piecework_core::text::CharSpans;
use pyo3::prelude::*;

use crate::core::Core;
use crate::encoding::Encoding;
use crate::errors::{bad_argument, raise};
use crate::input::borrow;
use crate::release::ReleaseGil;
use crate::shared_tokenizer::SharedTokenizer;

/// Encodes prompts with a tokenizer.
#[pyclass(frozen, module = "piecework._internal._core")]
pub struct RawPrompts {
    prompts: Prompts,
    shared: Arc<SharedTokenizer>,
}

#[python]
impl RawPrompts {
    #[new]
    fn new(
        py: Python<'_>,
        core: &Core,
        roles: Vec<String>,
        markers: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let prompts = py.release(|| Prompts::new(core.tokenizer(), &roles, markers.as_deref()));
        Ok(Self { prompts: prompts.map_err(raise)?, shared: Arc::clone(&core.shared) })
    }

    /// The texts of the special tokens that are added tokens of prompts.
    #[getter]
    fn special(&self) -> Vec<&str> {
        self.prompts.special().collect()
    }

    /// Encode a text in which guarded tokens match within the permitted spans of characters only.
    #[pyo3(signature = (text, permitted, *, add_special_tokens))]
    fn encode(
        &self,
        text: Bound<'_, PyAny>,
        permitted: Vec<(i64, i64)>,
        add_special_tokens: bool,
    ) -> PyResult<Encoding> {
        let py = text.py();
        let borrowed = borrow(&text, || "text".into())?;
        let mut spans = CharSpans::new(borrowed);
        let bytes = permitted.into_iter().map(|span| spans.apart(span).map(|(start, end)| start..end));
        let permitted = bytes
            .collect::<Result<Vec<_>, _>>()
            .map_err(|expected| bad_argument("permitted", "another span", &expected))?;
        let encode = || self.prompts.encode(&self.shared.encoder, borrowed, &permitted, add_special_tokens);
        let fields = py.release(encode).map_err(raise)?;
        Encoding::of_fields(py, &self.shared, fields, Some(text.clone().unbind()), None)
    }
}
