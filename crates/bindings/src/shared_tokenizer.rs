//! The compiled tokenizer behind the Python objects that use it.

use std::sync::Arc;

use piecework_core::encoding::Token;
use piecework_core::engine::batch::Encoder;
use piecework_core::engine::{Scratch, Tokenizer};
use piecework_core::error::Error;
use pyo3::prelude::*;

use crate::batch::Numbers;
use crate::errors::raise;
use crate::input::borrow;
use crate::release::ReleaseGil;

/// A compiled tokenizer with the Python integers of its ids.
pub struct SharedTokenizer {
    pub(crate) encoder: Encoder,
    pub(crate) numbers: Arc<Numbers>,
}

impl SharedTokenizer {
    /// Wrap a compiled tokenizer.
    pub(crate) fn of(tokenizer: Tokenizer) -> Self {
        let numbers = Numbers::below(tokenizer.vocab().len() + tokenizer.added_tokens().len());
        Self { encoder: Encoder::new(tokenizer), numbers: Arc::new(numbers) }
    }

    /// Wrap a tokenizer that has the same vocabulary.
    pub(crate) fn sharing(&self, tokenizer: Tokenizer) -> Self {
        Self { encoder: Encoder::new(tokenizer), numbers: Arc::clone(&self.numbers) }
    }

    /// Return the tokenizer.
    pub(crate) fn tokenizer(&self) -> &Tokenizer {
        self.encoder.tokenizer()
    }

    /// Return the string of a token; padding has the string of the padding settings.
    pub(crate) fn token(&self, token: &Token) -> &str {
        let tokenizer = self.tokenizer();
        if token.attention {
            return tokenizer.token_of(token.id).unwrap_or_default();
        }
        tokenizer.padding().map_or("", |padding| padding.pad_token.as_str())
    }

    /// Borrow a text and work on it without the GIL.
    pub(crate) fn compute<R: Send>(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        work: impl Fn(&Tokenizer, &str, &mut Scratch) -> Result<R, Error> + Sync,
    ) -> PyResult<R> {
        let text = borrow(text, || "text".into())?;
        let run = |scratch: &mut Scratch| work(self.tokenizer(), text, scratch);
        py.release(|| self.encoder.with_scratch(run)).map_err(raise)
    }
}
