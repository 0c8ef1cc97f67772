//! The vocabulary of a tokenizer as Python dicts.

use piecework_core::engine::Tokenizer;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

/// Return the vocabulary as a dict of tokens to ids.
pub(crate) fn ids_by_token<'py>(
    py: Python<'py>,
    tokenizer: &Tokenizer,
    with_added_tokens: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let added = tokenizer.added_tokens().iter().filter(|_| with_added_tokens);
    let added = added.map(|token| (token.content.as_str(), token.id));
    tokenizer.vocab().iter().chain(added).into_py_dict(py)
}

/// Return the special tokens with their ids.
pub(crate) fn ids_of_special_tokens<'py>(
    py: Python<'py>,
    tokenizer: &Tokenizer,
) -> PyResult<Bound<'py, PyDict>> {
    let special = tokenizer.added_tokens().iter().filter(|token| token.special);
    special.map(|token| (token.content.as_str(), token.id)).into_py_dict(py)
}

/// Return the number of vocabulary entries.
pub(crate) fn entry_count(tokenizer: &Tokenizer, with_added_tokens: bool) -> usize {
    let is_new = |content: &str| tokenizer.vocab().id_of(content).is_none();
    let added = tokenizer.added_tokens().iter().filter(|token| is_new(&token.content));
    tokenizer.vocab().len() + if with_added_tokens { added.count() } else { 0 }
}
