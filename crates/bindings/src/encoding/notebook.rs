//! An `Encoding` as notebooks show it.

use pyo3::prelude::*;

use super::html::{html, HtmlToken};
use super::lists::item;
use super::{Column, Encoding};

/// The maximum number of tokens in HTML.
const MAX_TOKENS_IN_HTML: usize = 2000;

impl Encoding {
    /// Write the first tokens over the text.
    pub(super) fn html(&self, py: Python<'_>) -> PyResult<String> {
        let count = self.ids.bind(py).len();
        let shown = count.min(MAX_TOKENS_IN_HTML);
        let tokens = (0..shown).map(|at| self.html_token(py, at)).collect::<PyResult<Vec<_>>>()?;
        let texts = [self.texts_of(py, 0)?, self.texts_of(py, 1)?];
        Ok(html(&tokens, &texts, count - shown))
    }

    /// Return the fields of a token that HTML shows.
    fn html_token(&self, py: Python<'_>, at: usize) -> PyResult<HtmlToken> {
        let is_set = |column: Column| -> PyResult<Option<bool>> {
            self.find(py, column)?.map(|mask| Ok(item::<u32>(mask, at)? != 0)).transpose()
        };
        let is_special = is_set(Column::SpecialTokensMask)?.unwrap_or(false)
            || !is_set(Column::AttentionMask)?.unwrap_or(true);
        Ok(HtmlToken {
            id: item(self.ids.bind(py), at)?,
            token: item(self.column(py, Column::Tokens)?, at)?,
            is_special,
            origin: if self.text.is_some() { self.origin(py, at)? } else { None },
        })
    }
}
