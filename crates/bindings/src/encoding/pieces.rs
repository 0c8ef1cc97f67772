//! The tokens of an `Encoding`, with the text of unknown tokens.

use std::cell::OnceCell;
use std::collections::HashMap;

use piecework_core::text::CharIndex;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::column::{item, Column};
use super::columns::Columns;
use crate::shared_tokenizer::SharedTokenizer;

/// The normalized text of the unknown pieces of a text by their span in characters.
type UnknownTexts = HashMap<(usize, usize), String>;

/// Return the tokens, unknown ones as their normalized text; `None` without a text.
pub(super) fn pieces_of_tokens<'py>(
    py: Python<'py>,
    columns: &Columns,
) -> PyResult<Option<Bound<'py, PyList>>> {
    if columns.texts[0].is_none() {
        return Ok(None);
    }
    let names = columns.of_tokens(py, Column::Tokens)?;
    // Stored encodings have this column if it differs from the tokens.
    let Some((tokenizer, _)) = columns.fields(py)? else { return Ok(Some(names.clone())) };
    let ids: Vec<u32> = columns.ids.extract(py)?;
    let unk_id = tokenizer.encoder.tokenizer().unk_id();
    if !ids.iter().any(|&id| Some(id) == unk_id) {
        return PyList::new(py, names.iter()).map(Some);
    }
    let of_text = |text: String| Ok((text, OnceCell::new()));
    let pieces = columns.with_texts(py, of_text, |at, origin| {
        let name: String = item(names, at)?;
        let is_unknown = ids.get(at).copied() == unk_id;
        let Some(((text, unknown), (start, end))) = origin.filter(|_| is_unknown) else { return Ok(name) };
        if unknown.get().is_none() {
            let _ = unknown.set(unknown_texts(py, tokenizer, text)?);
        }
        // Beside an added token the whole text can have other pieces.
        let slice = || text.chars().skip(start).take(end.saturating_sub(start)).collect();
        let found = unknown.get().and_then(|by_span: &UnknownTexts| by_span.get(&(start, end)));
        let text = found.cloned().unwrap_or_else(slice);
        Ok(if text.is_empty() { name } else { text })
    })?;
    PyList::new(py, pieces).map(Some)
}

/// Segment a text again, and return the normalized text of its unknown pieces.
fn unknown_texts(py: Python<'_>, tokenizer: &SharedTokenizer, text: &str) -> PyResult<UnknownTexts> {
    let input = text.into_pyobject(py)?;
    tokenizer.compute(py, input.as_any(), |tokenizer, text, scratch| {
        let chars = CharIndex::new(text);
        let count = |offset| chars.chars_before(offset) as usize;
        let pieces = tokenizer.pieces(text, None, scratch)?.into_iter();
        let unknown = pieces.filter(|(id, ..)| Some(*id) == tokenizer.unk_id());
        Ok(unknown.map(|(_, text, (start, end))| ((count(start), count(end)), text)).collect())
    })
}
