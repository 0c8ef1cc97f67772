//! The first stages alone: a text normalized, and split into words.

use piecework_core::stages::split::Splitter;
use piecework_core::text::{CharIndex, PreTokenizedText};
use pyo3::prelude::*;

use crate::errors::raise;
use crate::text::borrow;

/// Normalize a text.
pub(crate) fn normalized(splitter: &Splitter, text: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = borrow(text, || "text".into())?;
    let mut normalized = String::new();
    splitter.normalizer().run(text, 0, &mut normalized).map_err(raise)?;
    Ok(normalized)
}

/// Normalize and split a text; return words with their character offsets in the original text.
pub(crate) fn words(splitter: &Splitter, text: &Bound<'_, PyAny>) -> PyResult<Vec<(String, (u32, u32))>> {
    let text = borrow(text, || "text".into())?;
    let mut words = PreTokenizedText::default();
    splitter.pre_tokenize(text, 0, &mut words).map_err(raise)?;
    let chars = CharIndex::new(text);
    let word = |&(start, end): &(usize, usize)| {
        let source = words.text.source_of(start, end);
        let span = (chars.chars_before(source.0), chars.chars_before(source.1));
        (words.text.text()[start..end].to_owned(), span)
    };
    Ok(words.spans.iter().map(word).collect())
}
