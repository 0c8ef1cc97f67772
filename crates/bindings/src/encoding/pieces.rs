//! The tokens of an `Encoding`, with the text of unknown tokens.

use std::collections::HashMap;
use std::sync::Arc;

use piecework_core::text::CharIndex;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::lists::item;
use super::origin::Origin;
use super::source::Source;
use super::{Column, Encoding};
use crate::shared_tokenizer::SharedTokenizer;

/// A text, and the normalized text of its unknown pieces by their span in characters.
struct UnknownTexts {
    text: String,
    by_span: HashMap<(usize, usize), String>,
}

impl Encoding {
    /// Return the tokens, unknown ones as their normalized text; `None` without a text.
    pub(super) fn unknown_as_text<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        if self.text.is_none() {
            return Ok(None);
        }
        let tokenizer = match &self.source {
            Source::Text(source) => &source.tokenizer,
            Source::Fields { tokenizer, .. } => tokenizer,
            // Stored encodings have this column if it differs from the tokens.
            Source::Row(_) | Source::Lists { .. } => {
                return self.column(py, Column::Tokens).cloned().map(Some)
            }
        };
        let unk_id = tokenizer.encoder.tokenizer().unk_id();
        let names = self.column(py, Column::Tokens)?;
        let mut last = None;
        let piece = |(at, id): (usize, u32)| {
            let name: String = item(names, at)?;
            let origin = if Some(id) == unk_id { self.origin(py, at)? } else { None };
            let Some(origin) = origin else { return Ok(name) };
            let text = self.unknown_text(py, tokenizer, origin, &mut last)?;
            Ok(if text.is_empty() { name } else { text })
        };
        let ids: Vec<u32> = self.ids.extract(py)?;
        let pieces = (0..).zip(ids).map(piece).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, pieces).map(Some)
    }

    /// Return every column, and the pieces if they are not the tokens.
    pub(super) fn columns_with_pieces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = self.columns(py)?;
        if let Some(pieces) = self.find(py, Column::Pieces)? {
            if !pieces.eq(self.column(py, Column::Tokens)?)? {
                columns.set_item(Column::Pieces.name(), pieces)?;
            }
        }
        Ok(columns)
    }

    /// Return the text of an unknown token; `last` caches those of the last text.
    fn unknown_text(
        &self,
        py: Python<'_>,
        tokenizer: &Arc<SharedTokenizer>,
        origin: Origin,
        last: &mut Option<((usize, usize), UnknownTexts)>,
    ) -> PyResult<String> {
        let Origin { sequence, word, chars: (start, end) } = origin;
        let key = (sequence, word);
        let texts = match last.take().filter(|(known, _)| *known == key) {
            Some((_, texts)) => texts,
            None => unknown_texts(py, tokenizer, self.text_of(py, sequence, word)?)?,
        };
        // Beside an added token the whole text can have other pieces.
        let slice = || texts.text.chars().skip(start).take(end.saturating_sub(start)).collect();
        let found = texts.by_span.get(&(start, end)).cloned().unwrap_or_else(slice);
        *last = Some((key, texts));
        Ok(found)
    }
}

/// Segment a text again, and return the normalized text of its unknown pieces.
fn unknown_texts(py: Python<'_>, tokenizer: &Arc<SharedTokenizer>, text: String) -> PyResult<UnknownTexts> {
    let input = text.as_str().into_pyobject(py)?;
    let by_span = tokenizer.compute(py, input.as_any(), |tokenizer, text, scratch| {
        let chars = CharIndex::new(text);
        let count = |offset| chars.chars_before(offset) as usize;
        let pieces = tokenizer.pieces(text, None, scratch)?.into_iter();
        let unknown = pieces.filter(|(id, ..)| Some(*id) == tokenizer.unk_id());
        Ok(unknown.map(|(_, text, (start, end))| ((count(start), count(end)), text)).collect())
    })?;
    Ok(UnknownTexts { text, by_span })
}
