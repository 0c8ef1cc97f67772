//! Decoding of many rows of ids into Python strings.

use piecework_core::engine::Tokenizer;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::errors::raise;
use crate::release::ReleaseGil;
use crate::strings::string;

/// The number of ids that are decoded into bytes at once, before the bytes are converted into strings.
const IDS_PER_CHUNK: usize = 1 << 15;

/// Decode rows of ids into a list of strings.
pub(crate) fn decoded_rows<'py>(
    py: Python<'py>,
    tokenizer: &Tokenizer,
    rows: &[&[u32]],
    skip_special_tokens: bool,
    clean_up: Option<bool>,
) -> PyResult<Bound<'py, PyList>> {
    let (mut strings, mut units) = (Vec::with_capacity(rows.len()), Vec::new());
    for chunk in chunks(rows) {
        let decoded = py.release(|| tokenizer.decode_rows(chunk, skip_special_tokens, clean_up));
        strings.extend(decoded.map_err(raise)?.iter().map(|bytes| string(py, bytes, &mut units)));
    }
    PyList::new(py, strings)
}

/// Split rows into chunks of at most [`IDS_PER_CHUNK`] ids or of one row. The decoded bytes fit into the CPU caches.
fn chunks<'r, 'i>(mut rows: &'r [&'i [u32]]) -> impl Iterator<Item = &'r [&'i [u32]]> {
    std::iter::from_fn(move || {
        let mut ids = 0;
        let is_within = |row: &&&[u32]| {
            ids += row.len();
            ids <= IDS_PER_CHUNK
        };
        let count = rows.iter().take_while(is_within).count().max(1);
        let (chunk, rest) = rows.split_at_checked(count)?;
        rows = rest;
        Some(chunk)
    })
}
