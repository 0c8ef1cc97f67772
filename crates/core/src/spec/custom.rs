//! Stages that are functions of somebody else's: what the core asks of them, and their place in a
//! specification. No file holds one.

use std::fmt::Debug;
use std::sync::Arc;

use crate::error::Error;

/// A function from text; which of the two it is asked for depends on the stage it stands for.
///
/// Errors leave their place empty: the stage knows it.
pub trait TextFunction: Send + Sync + Debug {
    /// Write a text anew.
    fn rewrite(&self, text: &str) -> Result<Rewritten, Error>;
    /// Cut a text into words.
    fn split(&self, text: &str) -> Result<CustomWords, Error>;
}

/// Character span (start, end) of the text that a function was given; not checked yet.
pub type CharSpan = (i64, i64);

/// What a normalizing function gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// The new text.
    pub text: String,
    /// Where each of its characters came from, when the function knows.
    pub spans: Option<Vec<CharSpan>>,
}

/// What a cutting function gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CustomWords {
    /// CustomWords that stand in the text, in order.
    Texts(Vec<String>),
    /// Where they stand.
    Spans(Vec<CharSpan>),
}

/// A stage that calls a function.
#[derive(Clone, Debug)]
pub struct CustomSpec {
    /// What messages call it.
    pub name: String,
    /// The function.
    pub function: Arc<dyn TextFunction>,
}

impl PartialEq for CustomSpec {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.function, &other.function)
    }
}

impl Eq for CustomSpec {}
