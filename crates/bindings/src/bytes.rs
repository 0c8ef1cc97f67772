//! Tokens as bytes, and the search for special tokens in texts.

use std::sync::Mutex;

use piecework_catch_panics::python;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use xxhash_rust::xxh3::Xxh3;

use crate::core::Core;
use crate::errors::raise;
use crate::input::selector;
use crate::input::{Borrowed, InputRows};
use crate::panics::lock;
use crate::release::ReleaseGil;

/// Return the bytes of a token; `None` for an unknown id.
#[python]
pub(crate) fn token_bytes<'py>(py: Python<'py>, core: &Core, id: u32) -> Option<Bound<'py, PyBytes>> {
    let mut bytes = Vec::new();
    core.tokenizer().token_bytes_into(id, &mut bytes).then(|| PyBytes::new(py, &bytes))
}

/// Return every entry of the model's vocabulary as bytes, with its id.
#[python]
pub(crate) fn vocab_bytes<'py>(py: Python<'py>, core: &Core) -> Vec<(u32, Bound<'py, PyBytes>)> {
    let tokenizer = core.tokenizer();
    let mut bytes = Vec::new();
    let mut entry = |id| {
        bytes.clear();
        tokenizer.token_bytes_into(id, &mut bytes);
        (id, PyBytes::new(py, &bytes))
    };
    tokenizer.vocab().iter().map(|(_, id)| entry(id)).collect()
}

/// Decode ids into bytes.
#[python]
pub(crate) fn decode_bytes<'py>(
    py: Python<'py>,
    core: &Core,
    ids: Vec<u32>,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = py.release(|| core.tokenizer().decode_bytes(&ids)).map_err(raise)?;
    Ok(PyBytes::new(py, &bytes))
}

/// Segment bytes as one word.
#[python]
pub(crate) fn encode_word_of_bytes(py: Python<'_>, core: &Core, word: &[u8]) -> Vec<u32> {
    py.release(|| core.tokenizer().encode_word_of_bytes(word))
}

/// Find the first text that contains one of these special tokens; return its row and the id.
#[python]
pub(crate) fn find_special(
    py: Python<'_>,
    core: &Core,
    texts: &Bound<'_, PyAny>,
    special: Option<Vec<u32>>,
) -> PyResult<Option<(usize, u32)>> {
    let text_rows = InputRows::take(texts, false, "texts")?;
    let rows = text_rows.borrow("texts")?;
    let selector = selector(special);
    let tokenizer = core.tokenizer();
    let mut texts = rows.iter().enumerate().flat_map(|(row, text): (usize, &Borrowed<'_, &str>)| {
        text.input().texts().map(move |text| (row, text))
    });
    let find = |(row, text)| {
        let found = tokenizer.find_special(text, &selector).transpose()?;
        Some(found.map(|id| (row, id)))
    };
    py.release(|| texts.find_map(find).transpose()).map_err(raise)
}

/// An XXH3 checksum of 128 bits.
#[pyclass(frozen, module = "piecework._internal._core")]
pub struct Xxh128 {
    state: Mutex<Box<Xxh3>>,
}

#[python]
impl Xxh128 {
    /// Start a checksum.
    #[new]
    fn new() -> Self {
        Self { state: Mutex::new(Box::default()) }
    }

    /// Add data.
    fn update(&self, py: Python<'_>, data: &[u8]) -> PyResult<()> {
        py.release(|| lock(&self.state).map(|mut state| state.update(data)))
    }

    /// Return the checksum of all data in hexadecimal digits.
    fn hexdigest(&self) -> PyResult<String> {
        lock(&self.state).map(|state| format!("{:032x}", state.digest128()))
    }
}
