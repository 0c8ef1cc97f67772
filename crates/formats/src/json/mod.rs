//! JSON as tokenizer files hold it: a tree that keeps what stands there, and values that know their path.

mod field;
mod tree;

use piecework_core::error::{Error, ErrorKind};

pub(crate) use field::Field;
pub(crate) use tree::Node;

/// Read a JSON text; errors name line and column.
pub(crate) fn parse(bytes: &[u8]) -> Result<Node<'_>, Error> {
    serde_json::from_str(utf8(bytes)?).map_err(|error| {
        let place = format!("line {}, column {}", error.line(), error.column());
        Error::new(ErrorKind::Format, place, error.to_string(), "JSON")
    })
}

/// Read UTF-8; errors name the byte.
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(bytes).map_err(|error| {
        let place = format!("byte {}", error.valid_up_to());
        Error::new(ErrorKind::Format, place, "bytes that are not UTF-8", "UTF-8 text")
    })
}
