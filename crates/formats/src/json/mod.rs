//! JSON as tokenizer files hold it: a tree that keeps what stands there, and values that know their path.

mod field;
mod tree;

use piecework_core::error::{Error, ErrorKind};

pub(crate) use field::{all, Field};
pub(crate) use tree::Tree;

use crate::text::utf8_after_mark;

/// Read a JSON text; errors name line and column.
pub(crate) fn parse(bytes: &[u8]) -> Result<Tree<'_>, Error> {
    let text = utf8_after_mark(bytes)?;
    Tree::read(text).ok_or_else(|| fault(text))
}

/// What is wrong with a text that is no JSON.
fn fault(text: &str) -> Error {
    let (place, found) = match serde_json::from_str::<serde_json::Value>(text) {
        Err(error) => (format!("line {}, column {}", error.line(), error.column()), error.to_string()),
        Ok(_) => ("document".to_owned(), "a text that cannot be read".to_owned()),
    };
    Error::new(ErrorKind::Format, place, found, "JSON")
}
