//! The keys of a tokenizer, with the types of their values; the chat templates.

use piecework_core::error::{Error, ErrorKind};

use super::section::{placed, GgufValue, Section};

/// What the keys of a tokenizer begin with.
pub(super) const PREFIX: &str = "tokenizer.ggml.";

pub(super) const MODEL: &str = "tokenizer.ggml.model";
pub(super) const PRE: &str = "tokenizer.ggml.pre";
pub(super) const TOKENS: &str = "tokenizer.ggml.tokens";
pub(super) const SCORES: &str = "tokenizer.ggml.scores";
pub(super) const TOKEN_TYPES: &str = "tokenizer.ggml.token_type";
pub(super) const MERGES: &str = "tokenizer.ggml.merges";
pub(super) const ADD_BOS: &str = "tokenizer.ggml.add_bos_token";
pub(super) const ADD_EOS: &str = "tokenizer.ggml.add_eos_token";
pub(super) const ADD_SEP: &str = "tokenizer.ggml.add_sep_token";
pub(super) const ADD_SPACE_PREFIX: &str = "tokenizer.ggml.add_space_prefix";
pub(super) const REMOVE_EXTRA_WHITESPACES: &str = "tokenizer.ggml.remove_extra_whitespaces";
pub(super) const CHARSMAP: &str = "tokenizer.ggml.precompiled_charsmap";
pub(super) const LOWERCASE: &str = "tokenizer.ggml.normalizer.lowercase";
pub(super) const STRIP_ACCENTS: &str = "tokenizer.ggml.normalizer.strip_accents";

/// The values of a tokenizer by key.
pub(super) struct Keys(Section);

impl Keys {
    /// Read the keys of a tokenizer that `is_needed` selects from the key-value section.
    pub(super) fn read(bytes: &[u8], is_needed: impl Fn(&str) -> bool) -> Result<Self, Error> {
        Self::select(bytes, |key: &str| key.starts_with(PREFIX) && is_needed(key))
    }

    /// Read the keys that `is_kept` selects, with any beginning.
    pub(super) fn select(bytes: &[u8], is_kept: impl Fn(&str) -> bool) -> Result<Self, Error> {
        Section::read(std::io::Cursor::new(bytes), bytes.len() as u64, is_kept).map(Self)
    }

    /// Return the names of the keys of the file, in order.
    pub(super) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.0.entries.keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }

    /// Return a string.
    pub(super) fn text(&self, key: &str) -> Result<Option<&str>, Error> {
        self.typed(key, "a string", |value| match value {
            GgufValue::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Return a flag.
    pub(super) fn flag(&self, key: &str) -> Result<Option<bool>, Error> {
        self.typed(key, "a bool", |value| match value {
            GgufValue::Flag(flag) => Some(*flag),
            _ => None,
        })
    }

    /// Return an integer.
    pub(super) fn integer(&self, key: &str) -> Result<Option<i128>, Error> {
        self.typed(key, "an integer", |value| match value {
            GgufValue::Integer(number) => Some(*number),
            _ => None,
        })
    }

    /// Return a list of strings.
    pub(super) fn texts(&self, key: &str) -> Result<Option<&[String]>, Error> {
        self.typed(key, "an array of string", |value| match value {
            GgufValue::Texts(texts) => Some(texts.as_slice()),
            _ => None,
        })
    }

    /// Return a list of 32-bit floats.
    pub(super) fn floats(&self, key: &str) -> Result<Option<&[f32]>, Error> {
        self.typed(key, "an array of float32", |value| match value {
            GgufValue::Floats(floats) => Some(floats.as_slice()),
            _ => None,
        })
    }

    /// Return a list of 32-bit integers.
    pub(super) fn integers(&self, key: &str) -> Result<Option<&[i32]>, Error> {
        self.typed(key, "an array of int32", |value| match value {
            GgufValue::Integers(integers) => Some(integers.as_slice()),
            _ => None,
        })
    }

    /// Return a list of bytes.
    pub(super) fn bytes(&self, key: &str) -> Result<Option<&[u8]>, Error> {
        self.typed(key, "an array of uint8 or int8", |value| match value {
            GgufValue::Bytes(bytes) => Some(bytes.as_slice()),
            _ => None,
        })
    }

    /// Return an error for the value of a key.
    pub(super) fn error(&self, key: &str, found: impl Into<String>, expected: impl Into<String>) -> Error {
        self.error_at(key, "", found, expected)
    }

    /// Return an error for a part of the value of a key, such as `[7]`.
    pub(super) fn error_at(
        &self,
        key: &str,
        part: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Error {
        let place = match self.0.entries.get(key) {
            Some(entry) => placed(format_args!("{key}{part}"), entry.at),
            None => format!("{key}{part}"),
        };
        Error::new(ErrorKind::Format, place, found, expected)
    }

    /// Return an error for a key that the file lacks.
    pub(super) fn missing(&self, key: &str, expected: &str) -> Error {
        self.error(key, "no such key", expected).with_fault("missing key")
    }

    fn typed<'k, T>(
        &'k self,
        key: &str,
        expected: &str,
        convert: impl Fn(&'k GgufValue) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let Some(entry) = self.0.entries.get(key) else { return Ok(None) };
        match convert(&entry.value) {
            Some(value) => Ok(Some(value)),
            None => Err(self.error(key, format!("a value of the type {}", entry.type_name), expected)),
        }
    }
}

const CHAT_TEMPLATE: &str = "tokenizer.chat_template";
/// The name of the template in [`CHAT_TEMPLATE`]. The key of another one ends in a dot and its name.
const DEFAULT_TEMPLATE: &str = "default";

/// Read the chat templates with their names, in the order of their keys.
pub(super) fn read_chat_templates(bytes: &[u8]) -> Result<Vec<(String, String)>, Error> {
    let keys = Keys::select(bytes, |key| template_name(key).is_some())?;
    let mut templates = Vec::new();
    for (key, name) in keys.names().into_iter().filter_map(|key| Some((key, template_name(key)?))) {
        let template = keys.text(key)?.unwrap_or_default();
        templates.push((name.to_owned(), template.to_owned()));
    }
    Ok(templates)
}

/// Return the name of the template in a key, or `None` for another key.
fn template_name(key: &str) -> Option<&str> {
    match key.strip_prefix(CHAT_TEMPLATE)? {
        "" => Some(DEFAULT_TEMPLATE),
        rest => rest.strip_prefix('.'),
    }
}
