//! One encoded text: its ids at once, its other fields when they are read, as Python lists.

use std::sync::{Arc, OnceLock};

use piecework_catch_panics::catch_panics;
use piecework_core::batch::Encoder;
use piecework_core::encoding::{Encoding, Token, NONE};
use piecework_core::pipeline::{Input, Options};
use piecework_core::special::Selector;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::core::Core;
use crate::errors::raise;
use crate::numbers::Numbers;
use crate::text::borrow;

/// Shorter texts are encoded without releasing the GIL.
const SHORT_TEXT_BYTES: usize = 1024;

/// The half of `Encoding` that is in Rust, so that one is made without a call of a class: the ids of a text, and
/// what the other fields are made with.
#[pyclass(frozen, subclass, module = "piecework._core")]
pub struct EncodedText {
    /// Vocabulary ids.
    #[pyo3(get)]
    ids: Py<PyList>,
    source: Source,
    text: Option<Py<PyAny>>,
    pair: Option<Py<PyAny>>,
    add_special_tokens: bool,
    parse_special: bool,
    /// What the other half has computed.
    computed: OnceLock<Py<PyDict>>,
}

/// A tokenizer, where nothing but the ids was made; or an object with the fields of `RawEncoding`.
#[derive(FromPyObject)]
enum Source {
    Core(Py<Core>),
    Fields(Py<PyAny>),
}

impl EncodedText {
    /// Encode one text into ids alone.
    #[inline]
    pub(crate) fn of_text(
        core: &Bound<'_, Core>,
        text: Bound<'_, PyAny>,
        add_special_tokens: bool,
        parse_special: bool,
    ) -> PyResult<Self> {
        let ids = ids_of(core, &text, add_special_tokens, parse_special)?.unbind();
        let (source, text) = (Source::Core(core.clone().unbind()), Some(text.unbind()));
        let computed = OnceLock::new();
        Ok(Self { ids, source, text, pair: None, add_special_tokens, parse_special, computed })
    }
}

#[catch_panics]
#[pymethods]
impl EncodedText {
    #[new]
    #[pyo3(signature = (source, text, pair, add_special_tokens, parse_special))]
    fn new(
        py: Python<'_>,
        source: Source,
        text: Option<Bound<'_, PyAny>>,
        pair: Option<Py<PyAny>>,
        add_special_tokens: bool,
        parse_special: bool,
    ) -> PyResult<Self> {
        let ids = match &source {
            Source::Core(core) => {
                let text = text.unwrap_or_else(|| py.None().into_bound(py));
                return Self::of_text(core.bind(py), text, add_special_tokens, parse_special);
            }
            Source::Fields(fields) => fields.bind(py).getattr(intern!(py, "ids"))?.cast_into()?.unbind(),
        };
        let (text, computed) = (text.map(Bound::unbind), OnceLock::new());
        Ok(Self { ids, source, text, pair, add_special_tokens, parse_special, computed })
    }

    /// What has been computed of it, by name.
    #[getter]
    fn __dict__<'py>(&self, py: Python<'py>) -> &Bound<'py, PyDict> {
        self.computed.get_or_init(|| PyDict::new(py).unbind()).bind(py)
    }

    /// Every field; where only ids were made, the text is encoded once more.
    fn every_field(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match &self.source {
            Source::Fields(fields) => Ok(fields.clone_ref(py)),
            Source::Core(core) => {
                let parse_special = if self.parse_special { None } else { Some(Vec::new()) };
                let text = self.text.as_ref().map_or_else(|| py.None(), |text| text.clone_ref(py));
                let text = text.bind(py);
                let add_special_tokens = self.add_special_tokens;
                let raw =
                    core.get().encode(py, text, None, add_special_tokens, false, parse_special, None)?;
                Ok(Py::new(py, raw)?.into_any())
            }
        }
    }

    /// The text, or the text and its pair; empty for a row of a batch, which keeps no texts.
    #[getter]
    fn texts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.text.iter().chain(&self.pair).collect::<Vec<_>>())
    }
}

/// The ids of one text, without padding.
#[inline]
fn ids_of<'py>(
    core: &Bound<'py, Core>,
    text: &Bound<'py, PyAny>,
    add_special_tokens: bool,
    parse_special: bool,
) -> PyResult<Bound<'py, PyList>> {
    let (py, core) = (core.py(), core.get());
    let text = borrow(text, || "text".into())?;
    let parse_special = &if parse_special { Selector::All } else { Selector::only(Vec::new()) };
    let options = Options { add_special_tokens, parse_special, sampling: None };
    let input = Input::Text(text);
    // To let others run takes as long as encoding a short text does.
    if text.len() < SHORT_TEXT_BYTES {
        let list = |ids: &[u32]| core.numbers.list(py, ids.iter().copied());
        return core.encoder.ids(input, options, list).map_err(raise)?;
    }
    let ids = py.detach(|| core.encoder.ids(input, options, <[u32]>::to_vec));
    core.numbers.list(py, ids.map_err(raise)?.into_iter())
}

/// One encoded text.
#[pyclass(frozen, module = "piecework._core")]
pub struct RawEncoding {
    encoding: Encoding,
    encoder: Arc<Encoder>,
    numbers: Arc<Numbers>,
}

impl RawEncoding {
    /// Hold an encoding that a tokenizer made.
    pub(crate) fn new(encoding: Encoding, core: &Core) -> Self {
        Self { encoding, encoder: Arc::clone(&core.encoder), numbers: Arc::clone(&core.numbers) }
    }

    fn column<T>(&self, read: impl FnMut(&Token) -> T) -> Vec<T> {
        self.encoding.tokens.iter().map(read).collect()
    }
}

#[catch_panics]
#[pymethods]
impl RawEncoding {
    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.numbers.list(py, self.encoding.tokens.iter().map(|token| token.id))
    }

    #[getter]
    fn type_ids(&self) -> Vec<u32> {
        self.column(|token| token.type_id)
    }

    #[getter]
    fn tokens(&self) -> Vec<&str> {
        let pipeline = self.encoder.pipeline();
        let padding = pipeline.padding().map_or("", |padding| padding.pad_token.as_str());
        let name = |token: &Token| match token.attention {
            true => pipeline.token_of(token.id).unwrap_or(""),
            false => padding,
        };
        self.encoding.tokens.iter().map(name).collect()
    }

    #[getter]
    fn offsets(&self) -> Vec<(u32, u32)> {
        self.column(|token| (token.start, token.end))
    }

    #[getter]
    fn word_ids(&self) -> Vec<Option<u32>> {
        self.column(|token| Some(token.word).filter(|&word| word != NONE))
    }

    #[getter]
    fn sequence_ids(&self) -> Vec<Option<u32>> {
        self.column(|token| Some(token.sequence).filter(|&sequence| sequence != NONE))
    }

    #[getter]
    fn special_tokens_mask(&self) -> Vec<u32> {
        self.column(|token| u32::from(token.special))
    }

    #[getter]
    fn attention_mask(&self) -> Vec<u32> {
        self.column(|token| u32::from(token.attention))
    }

    #[getter]
    fn overflowing(&self) -> Vec<RawEncoding> {
        let wrap = |encoding: &Encoding| RawEncoding {
            encoding: encoding.clone(),
            encoder: Arc::clone(&self.encoder),
            numbers: Arc::clone(&self.numbers),
        };
        self.encoding.overflowing.iter().map(wrap).collect()
    }

    fn __len__(&self) -> usize {
        self.encoding.tokens.len()
    }
}
