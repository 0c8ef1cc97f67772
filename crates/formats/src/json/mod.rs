//! JSON of tokenizer files: a tree that keeps repeated names, and fields with paths for errors.

mod field;
mod tree;

use piecework_core::error::{Error, ErrorKind};

pub(crate) use field::{all, Field};
pub(crate) use tree::{SkipValue, Tree};

use crate::text::utf8_after_mark;

/// The most values of a text; each takes 32 bytes. The largest published files have about two million.
const MAX_VALUES: usize = 1 << 26;

/// Read a JSON text; errors name line and column.
pub(crate) fn parse(bytes: &[u8]) -> Result<Tree<'_>, Error> {
    let text = utf8_after_mark(bytes)?;
    check_count(text, MAX_VALUES)?;
    Tree::read(text).map_err(|error| fault(&error))
}

/// Reject a text with more than `max` values; the count includes commas and brackets within strings.
fn check_count(text: &str, max: usize) -> Result<(), Error> {
    let begins = |byte: &u8| matches!(byte, b',' | b':' | b'[' | b'{');
    // No value takes less than two bytes with what separates it from the next.
    if text.len() / 2 <= max || text.as_bytes().iter().filter(|byte| begins(byte)).count() <= max {
        return Ok(());
    }
    let found = format!("more than {max} values");
    Err(Error::new(ErrorKind::Format, "document", found, "a smaller file"))
}

/// Return the error for a text that is not JSON, with the position of its first fault.
fn fault(error: &serde_json::Error) -> Error {
    let (line, column, text) = (error.line(), error.column(), error.to_string());
    let problem = text.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&text);
    Error::new(ErrorKind::Format, format!("line {line}, column {column}"), problem, "JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_position_of_an_error_once() {
        let expected = "line 1, column 6: found EOF while parsing a value, expected JSON";
        assert_eq!(parse(b"{\"a\": ").unwrap_err().to_string(), expected);
    }

    #[test]
    fn counts_values_before_it_reads_them() {
        let text = "[0,0,0,0,0,0]";
        assert!(check_count(text, 6).is_ok());
        let error = check_count(text, 5).unwrap_err();
        assert_eq!(error.to_string(), "document: found more than 5 values, expected a smaller file");
        assert!(check_count("\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"", 2).is_ok());
    }
}
