//! One encoded text, its fields built as Python lists when they are read.

use std::sync::Arc;

use piecework_core::batch::Encoder;
use piecework_core::encoding::{Encoding, Token, NONE};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::core::Core;
use crate::numbers::Numbers;

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
