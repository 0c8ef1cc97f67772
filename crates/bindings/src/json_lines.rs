//! The texts of JSON lines.

use piecework_catch_panics::catch_panics;
use piecework_formats::json_lines::{read_block, TextField, UnreadLine};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::strings::string;

/// The index of the text, the index of the line, and the bytes at which the line starts and ends.
type Unread = (usize, usize, usize, usize);

/// Return the text of each line of a block, and the lines that Python must parse.
#[catch_panics]
#[pyfunction]
pub(crate) fn json_line_texts<'py>(
    py: Python<'py>,
    block: &[u8],
    key: &str,
    path: Vec<String>,
    keep_blank: bool,
) -> PyResult<(Bound<'py, PyList>, Vec<Unread>)> {
    let found = py.detach(|| read_block(block, TextField { key, path: &path }, keep_blank));
    let mut units = Vec::new();
    let texts = found.texts.iter().map(|text| string(py, text.as_bytes(), &mut units));
    let texts = PyList::new(py, texts)?;
    let unread = |line: UnreadLine| (line.text, line.line, line.start, line.end);
    Ok((texts, found.unread.into_iter().map(unread).collect()))
}
