//! The texts under one field of JSON lines.
//!
//! This reader accepts a subset of what Python's `json` accepts, with the same texts. The caller parses the other lines
//! with Python: lines with an error, lone surrogates, `NaN`, invalid UTF-8, numbers beyond a double, deep nesting. Errors are
//! therefore those of one parser.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};

use crate::json::SkipValue;

/// The field with the text: a key of the object, or keys of nested objects.
#[derive(Clone, Copy, Debug)]
pub struct TextField<'f> {
    /// A key of the outermost object that is used if it exists.
    pub key: &'f str,
    /// The keys of nested objects, from the outermost one; used if `key` does not exist.
    pub path: &'f [String],
}

/// A line that this reader does not accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadLine {
    /// The index of the line in the block, and of its text, which is empty until the caller replaces it.
    pub line: usize,
    /// The byte at which the line starts.
    pub start: usize,
    /// The byte at which the line ends, without its line end.
    pub end: usize,
}

/// The texts of a block of lines.
#[derive(Debug, Default)]
pub struct LineTexts<'b> {
    /// The text of each line; an empty one stands for an unread line.
    pub texts: Vec<Cow<'b, str>>,
    /// The lines that the caller must parse.
    pub unread: Vec<UnreadLine>,
}

/// Return the text of each line of a block; blank lines have an empty one.
pub fn read_block<'b>(block: &'b [u8], field: TextField<'_>) -> LineTexts<'b> {
    let mut found = LineTexts::default();
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', block).chain(std::iter::once(block.len()));
    for end in ends {
        let bytes = &block[start..end];
        if start < block.len() {
            if bytes.iter().all(|&byte| is_blank(byte)) {
                found.texts.push(Cow::Borrowed(""));
            } else {
                found.push(bytes, field, start);
            }
        }
        start = end + 1;
    }
    found
}

impl<'b> LineTexts<'b> {
    fn push(&mut self, bytes: &'b [u8], field: TextField<'_>, start: usize) {
        let text = text_of_line(bytes, field);
        if text.is_none() {
            self.unread.push(UnreadLine { line: self.texts.len(), start, end: start + bytes.len() });
        }
        self.texts.push(text.unwrap_or(Cow::Borrowed("")));
    }
}

/// Return whether a byte is whitespace for `bytes.strip` of Python.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn text_of_line<'b>(bytes: &'b [u8], field: TextField<'_>) -> Option<Cow<'b, str>> {
    let line = std::str::from_utf8(bytes).ok()?;
    let mut parser = serde_json::Deserializer::from_str(line);
    let text = ObjectSeed { key: Some(field.key), path: field.path }.deserialize(&mut parser).ok()?;
    parser.end().ok()?;
    text
}

/// Reads an object; returns the text under the field, none if the object lacks it.
struct ObjectSeed<'f> {
    key: Option<&'f str>,
    path: &'f [String],
}

enum Member {
    Exact,
    First,
    Other,
}

impl ObjectSeed<'_> {
    /// `key` is tested first, because it takes precedence when both names are equal.
    fn member(&self, name: &str) -> Member {
        if self.key == Some(name) {
            Member::Exact
        } else if self.path.first().is_some_and(|first| first == name) {
            Member::First
        } else {
            Member::Other
        }
    }
}

impl<'de> DeserializeSeed<'de> for ObjectSeed<'_> {
    type Value = Option<Cow<'de, str>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ObjectSeed<'_> {
    type Value = Option<Cow<'de, str>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    /// Take the last of several members with one name, as in Python.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut exact, mut nested) = (None, None);
        while let Some(member) = map.next_key_seed(MemberSeed(&self))? {
            match member {
                Member::Exact => exact = Some(map.next_value_seed(TextSeed)?),
                Member::First if self.path.len() == 1 => nested = Some(map.next_value_seed(TextSeed)?),
                Member::First => {
                    nested = map.next_value_seed(ObjectSeed { key: None, path: &self.path[1..] })?;
                }
                Member::Other => map.next_value_seed(SkipValue)?,
            }
        }
        Ok(exact.or(nested))
    }
}

/// Reads a key without copying it.
struct MemberSeed<'s, 'f>(&'s ObjectSeed<'f>);

impl<'de> DeserializeSeed<'de> for MemberSeed<'_, '_> {
    type Value = Member;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for MemberSeed<'_, '_> {
    type Value = Member;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.member(name))
    }
}

/// Reads a string, without a copy if it has no escapes.
struct TextSeed;

impl<'de> DeserializeSeed<'de> for TextSeed {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for TextSeed {
    type Value = Cow<'de, str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(block: &[u8], key: &str) -> (Vec<String>, Vec<usize>) {
        let path: Vec<String> = key.split('.').map(str::to_owned).collect();
        let found = read_block(block, TextField { key, path: &path });
        let unread = found.unread.iter().map(|unread| unread.line).collect();
        (found.texts.into_iter().map(Cow::into_owned).collect(), unread)
    }

    #[test]
    fn the_last_of_equal_keys_counts() {
        assert_eq!(texts(br#"{"a": "x", "a": "y"}"#, "a").0, ["y"]);
        assert_eq!(texts(br#"{"a": {"b": "x"}, "a": {}}"#, "a.b"), (vec![String::new()], vec![0]));
    }

    #[test]
    fn the_exact_key_precedes_the_path() {
        assert_eq!(texts(br#"{"a.b": "x", "a": {"b": "y"}}"#, "a.b").0, ["x"]);
        assert_eq!(texts(br#"{"a": {"b": "y", "a.b": "z"}}"#, "a.b").0, ["y"]);
    }

    #[test]
    fn lines_that_python_may_treat_differently_are_unread() {
        let deep = format!("{{\"a\": \"x\", \"b\": {}{}}}", "[".repeat(200), "]".repeat(200));
        let long = format!("{{\"a\": \"x\", \"b\": {}}}", "9".repeat(5000));
        let lines: [&[u8]; 11] = [
            deep.as_bytes(),
            long.as_bytes(),
            br#"{"a": "\ud800"}"#,
            br#"{"a": "x", "b": "\ud800"}"#,
            br#"{"a": "x", "b": NaN}"#,
            b"{\"a\": \"x\xff\"}",
            b"\xef\xbb\xbf{\"a\": \"x\"}",
            br#"{"a": 3}"#,
            br#"{"b": "x"}"#,
            br#"["a"]"#,
            br#"{"a": "x"} x"#,
        ];
        for line in lines {
            assert_eq!(texts(line, "a").1, [0], "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn a_blank_line_has_an_empty_text() {
        let block = b"{\"a\": \"x\"}\n \t\r\n\n{\"a\": 1}\n";
        let path = ["a".to_owned()];
        let field = TextField { key: "a", path: &path };
        let found = read_block(block, field);
        assert_eq!(found.texts, ["x", "", "", ""]);
        assert_eq!(found.unread, [UnreadLine { line: 3, start: 16, end: 24 }]);
    }
}
