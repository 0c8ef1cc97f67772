//! Stages that call a function of the user. No file format stores one.

use std::fmt::Debug;
use std::sync::Arc;

use crate::error::Error;

/// A function of the user. A normalizer calls [`Self::rewrite`], a pre-tokenizer [`Self::split`].
///
/// Errors leave their place empty; the stage fills it in.
pub trait TextFunction: Send + Sync + Debug {
    /// Return the normalized text.
    fn rewrite(&self, text: &str) -> Result<Rewritten, Error>;
    /// Return the words of a text.
    fn split(&self, text: &str) -> Result<CustomWords, Error>;
}

/// A character span (start, end) of the function's input. The stage checks it.
pub type CharSpan = (i64, i64);

/// The result of a normalizing function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// The normalized text.
    pub text: String,
    /// The span of the input that each character of `text` comes from; `None` aligns both texts instead.
    pub spans: Option<Vec<CharSpan>>,
}

/// The result of a splitting function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CustomWords {
    /// Words as substrings of the text, in order.
    Texts(Vec<String>),
    /// Words as spans, in order.
    Spans(Vec<CharSpan>),
}

/// Settings of a stage that calls a function.
#[derive(Clone, Debug)]
pub struct CustomSpec {
    /// The name in error messages.
    pub name: String,
    /// The function that the stage calls.
    pub function: Arc<dyn TextFunction>,
}

impl PartialEq for CustomSpec {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.function, &other.function)
    }
}

impl Eq for CustomSpec {}
