//! A JSON value that knows its path, so that every error can name it.

use piecework_core::error::{Error, ErrorKind};
use serde_json::{Map, Value};

/// A value and where it stands.
pub(super) struct Field<'v> {
    value: &'v Value,
    path: String,
}

impl<'v> Field<'v> {
    pub(super) fn root(value: &'v Value) -> Self {
        Self { value, path: String::new() }
    }

    pub(super) fn path(&self) -> &str {
        if self.path.is_empty() {
            "document"
        } else {
            &self.path
        }
    }

    /// An error about this value.
    pub(super) fn error(&self, expected: impl Into<String>) -> Error {
        Error::new(ErrorKind::Format, self.path(), summary(self.value), expected)
    }

    /// The value as an object whose fields are all among `known`.
    pub(super) fn object(&self, known: &[&str]) -> Result<&'v Map<String, Value>, Error> {
        let object = self.map()?;
        for name in object.keys() {
            if !known.contains(&name.as_str()) {
                let place = self.child_path(name);
                let expected = format!("one of the fields {}", known.join(", "));
                return Err(Error::new(ErrorKind::Format, place, "an unknown field", expected));
            }
        }
        Ok(object)
    }

    pub(super) fn map(&self) -> Result<&'v Map<String, Value>, Error> {
        self.value.as_object().ok_or_else(|| self.error("an object"))
    }

    pub(super) fn array(&self) -> Result<Vec<Field<'v>>, Error> {
        let items = self.value.as_array().ok_or_else(|| self.error("an array"))?;
        let at = |i: usize| format!("{}[{i}]", self.path);
        Ok(items.iter().enumerate().map(|(i, value)| Field { value, path: at(i) }).collect())
    }

    /// A member that must be there.
    pub(super) fn get(&self, name: &str) -> Result<Field<'v>, Error> {
        self.find(name)?
            .ok_or_else(|| Error::new(ErrorKind::Format, self.child_path(name), "nothing", "this field"))
    }

    /// A member that may be absent or null.
    pub(super) fn find(&self, name: &str) -> Result<Option<Field<'v>>, Error> {
        let value = self.map()?.get(name).filter(|value| !value.is_null());
        Ok(value.map(|value| Field { value, path: self.child_path(name) }))
    }

    /// The members of an object as (name, value).
    pub(super) fn members(&self) -> Result<Vec<(&'v str, Field<'v>)>, Error> {
        let member = |(name, value): (&'v String, &'v Value)| {
            (name.as_str(), Field { value, path: format!("{}[{name:?}]", self.path) })
        };
        Ok(self.map()?.iter().map(member).collect())
    }

    pub(super) fn text(&self) -> Result<&'v str, Error> {
        self.value.as_str().ok_or_else(|| self.error("a string"))
    }

    pub(super) fn flag(&self) -> Result<bool, Error> {
        self.value.as_bool().ok_or_else(|| self.error("true or false"))
    }

    pub(super) fn id(&self) -> Result<u32, Error> {
        let id = self.value.as_u64().and_then(|id| u32::try_from(id).ok());
        id.ok_or_else(|| self.error("an integer from 0 to 4294967295"))
    }

    pub(super) fn size(&self) -> Result<usize, Error> {
        let size = self.value.as_u64().and_then(|size| usize::try_from(size).ok());
        size.ok_or_else(|| self.error("an integer from 0 on"))
    }

    pub(super) fn is_object(&self) -> bool {
        self.value.is_object()
    }

    /// One of a few names, each with its value.
    pub(super) fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Result<T, Error> {
        let text = self.text()?;
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let chosen = choices.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
        chosen.ok_or_else(|| self.error(format!("one of {}", names.join(", "))))
    }

    fn child_path(&self, name: &str) -> String {
        if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.path)
        }
    }
}

/// What stands there, short enough for a message.
fn summary(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        other => {
            let text = other.to_string();
            match text.char_indices().nth(60) {
                Some((end, _)) => format!("{}...", &text[..end]),
                None => text,
            }
        }
    }
}
