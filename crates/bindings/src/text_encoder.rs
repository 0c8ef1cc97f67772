//! `Tokenizer.encode`, one call into Rust for a plain text.

use std::sync::OnceLock;

use piecework_catch_panics::catch_panics;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyTuple};

use crate::core::Core;
use crate::encoding::Encoding;

/// The base class of `Tokenizer` that encodes one text.
#[pyclass(frozen, subclass, module = "piecework._core")]
#[derive(Default)]
pub struct TextEncoder {
    /// The core and whether it parses special tokens, for tokenizers whose ids suffice to make the other fields later.
    plain: OnceLock<Option<(Py<Core>, bool)>>,
}

#[catch_panics]
#[pymethods]
impl TextEncoder {
    #[new]
    #[pyo3(signature = (*_settings, **_named))]
    fn new(_settings: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> Self {
        Self::default()
    }

    fn _encode_by(&self, core: Option<Py<Core>>, parse_special: bool) -> PyResult<()> {
        let plain = core.map(|core| (core, parse_special));
        self.plain
            .set(plain)
            .map_err(|_| PyTypeError::new_err("a tokenizer is immutable: make another one"))
    }

    /// Encode one text, or a text and its pair, with every field.
    ///
    /// Offsets count characters of the text as given, whatever the normalizer did. With
    /// `is_pretokenized` text and pair are sequences of words: each is normalized and split further,
    /// word ids number the words given, and offsets count from the beginning of each word.
    ///
    /// `parse_special` says which special tokens are recognised when they are written in the text:
    /// all (True, as in `tokenizers`), none (False: the safe setting for text that others wrote), or
    /// those named; the others are text. None leaves it to the tokenizer: most recognise all, those read
    /// from ranks raise `SpecialTokenError` (see `spec.TokenizerSpec.special_in_text`).
    ///
    /// `sampling` draws the segmentation of a BPE or Unigram model at random; a BPE model that says
    /// `dropout` does so by itself, from fresh randomness, unless `Sampling(alpha=0)` is given.
    #[pyo3(signature = (text, pair=None, *, add_special_tokens=true, is_pretokenized=None, parse_special=None, sampling=None))]
    #[pyo3(
        text_signature = "($self, text, pair=None, *, add_special_tokens=True, is_pretokenized=False, parse_special=None, sampling=None)"
    )]
    #[expect(clippy::too_many_arguments, reason = "the keyword arguments of the Python method")]
    fn encode<'py>(
        slf: &Bound<'py, Self>,
        py: Python<'py>,
        text: Bound<'py, PyAny>,
        pair: Option<Bound<'py, PyAny>>,
        add_special_tokens: bool,
        is_pretokenized: Option<Bound<'py, PyAny>>,
        parse_special: Option<Bound<'py, PyAny>>,
        sampling: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let is_text = !is_pretokenized.as_ref().map_or(Ok(false), PyAnyMethods::is_truthy)?;
        let is_simple = is_text && pair.is_none() && parse_special.is_none() && sampling.is_none();
        if let (true, Some(Some((core, parses)))) = (is_simple, slf.get().plain.get()) {
            let encoded = Encoding::of_text(core.bind(py), text, add_special_tokens, *parses)?;
            return Ok(Bound::new(py, encoded)?.into_any());
        }
        let no = PyBool::new(py, false).to_owned().into_any();
        let settings = PyDict::new(py);
        settings.set_item("add_special_tokens", add_special_tokens)?;
        settings.set_item("is_pretokenized", is_pretokenized.unwrap_or(no))?;
        settings.set_item("parse_special", parse_special)?;
        settings.set_item("sampling", sampling)?;
        slf.call_method(intern!(py, "_encode_otherwise"), (text, pair), Some(&settings))
    }
}
