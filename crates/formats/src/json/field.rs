//! A field of a document: a value with its path, which errors name.
//!
//! Paths are links to enclosing values; they are formatted in errors only.

use foldhash::{HashSet, HashSetExt};
use piecework_core::error::{shortened, Error, ErrorKind};

use super::tree::{Node, Tree, Value};

/// A value and its path.
#[derive(Clone, Copy)]
pub(crate) struct Field<'a> {
    value: Value<'a>,
    path: FieldPath<'a>,
}

#[derive(Clone, Copy)]
enum FieldPath<'a> {
    Root,
    /// `outer.name`
    Member(&'a FieldPath<'a>, &'a str),
    /// `outer["name"]`: names that are data
    Entry(&'a FieldPath<'a>, &'a str),
    /// `outer[3]`
    Item(&'a FieldPath<'a>, usize),
}

impl<'a> Field<'a> {
    pub(crate) fn root(tree: &'a Tree<'a>) -> Self {
        Self { value: tree.root(), path: FieldPath::Root }
    }

    /// Return the error for an unexpected value.
    pub(crate) fn error(&self, expected: impl Into<String>) -> Error {
        self.contradiction(summary(self.node()), expected)
    }

    /// Return the error for a value that contradicts others.
    pub(crate) fn contradiction(&self, found: impl Into<String>, expected: impl Into<String>) -> Error {
        Error::new(ErrorKind::Format, self.path.path(), found, expected)
    }

    /// Reject fields that are not among `known`, and repeated fields.
    pub(crate) fn fields(&self, known: &[&str]) -> Result<(), Error> {
        let mut seen = vec![false; known.len()];
        for (name, value) in self.members()? {
            let path = FieldPath::Member(&self.path, name);
            let Some(index) = known.iter().position(|known| *known == name) else {
                let expected = format!("one of the fields {}", known.join(", "));
                return Err(Error::new(ErrorKind::Format, path.path(), "an unknown field", expected));
            };
            if std::mem::replace(&mut seen[index], true) {
                let found = format!("this field again, as {}", summary(value.node()));
                return Err(Error::new(ErrorKind::Format, path.path(), found, "each field once"));
            }
        }
        Ok(())
    }

    /// Return a required member, which must not be null.
    pub(crate) fn get(&'a self, name: &'a str) -> Result<Field<'a>, Error> {
        match self.member(name)? {
            Some(field) if field.is_null() => Err(field.error("a value")),
            Some(field) => Ok(field),
            None => {
                let path = FieldPath::Member(&self.path, name).path();
                Err(Error::new(ErrorKind::Format, path, "nothing", "this field"))
            }
        }
    }

    /// Return a member that may be absent or null.
    pub(crate) fn find(&'a self, name: &'a str) -> Result<Option<Field<'a>>, Error> {
        Ok(self.member(name)?.filter(|field| !field.is_null()))
    }

    /// Return a member that may be absent; null is a value.
    pub(crate) fn member(&'a self, name: &'a str) -> Result<Option<Field<'a>>, Error> {
        let found = self.members()?.find(|(known, _)| *known == name);
        Ok(found.map(|(_, value)| Field { value, path: FieldPath::Member(&self.path, name) }))
    }

    /// Return whether there is a member of a name, null or not.
    pub(crate) fn has(&self, name: &str) -> Result<bool, Error> {
        Ok(self.members()?.any(|(known, _)| known == name))
    }

    /// Return the entries of an object whose names are data; reject repeated names.
    pub(crate) fn entries(&'a self) -> Result<impl ExactSizeIterator<Item = (&'a str, Field<'a>)>, Error> {
        let members = self.members()?;
        let mut seen = HashSet::with_capacity(members.len());
        let field = |name: &'a str, value| Field { value, path: FieldPath::Entry(&self.path, name) };
        for (name, value) in members {
            if !seen.insert(name) {
                let found = format!("this entry again, as {}", summary(value.node()));
                return Err(field(name, value).contradiction(found, "each entry once"));
            }
        }
        Ok(self.members()?.map(move |(name, value)| (name, field(name, value))))
    }

    pub(crate) fn items(&'a self) -> Result<impl ExactSizeIterator<Item = Field<'a>>, Error> {
        let items = self.value.items().ok_or_else(|| self.error("an array"))?;
        let item = |(i, value)| Field { value, path: FieldPath::Item(&self.path, i) };
        Ok(items.enumerate().map(item))
    }

    /// Return an array of exactly two values.
    pub(crate) fn pair(&'a self, what: &str) -> Result<[Field<'a>; 2], Error> {
        let mut items = self.value.items().ok_or_else(|| self.error(what))?;
        let count = items.len();
        let (Some(first), Some(second), 2) = (items.next(), items.next(), count) else {
            return Err(self.contradiction(format!("an array of {count}"), what));
        };
        let item = |i, value| Field { value, path: FieldPath::Item(&self.path, i) };
        Ok([item(0, first), item(1, second)])
    }

    pub(crate) fn text(&self) -> Result<&'a str, Error> {
        match self.node() {
            Node::Text(text) => Ok(text),
            _ => Err(self.error("a string")),
        }
    }

    pub(crate) fn char(&self) -> Result<char, Error> {
        let mut chars = self.text()?.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) => Ok(c),
            _ => Err(self.error("one character")),
        }
    }

    pub(crate) fn flag(&self) -> Result<bool, Error> {
        match self.node() {
            Node::Bool(flag) => Ok(*flag),
            _ => Err(self.error("true or false")),
        }
    }

    pub(crate) fn id(&self) -> Result<u32, Error> {
        let id = self.unsigned().and_then(|id| u32::try_from(id).ok());
        id.ok_or_else(|| self.error("an integer from 0 to 4294967295"))
    }

    pub(crate) fn size(&self) -> Result<usize, Error> {
        let size = self.unsigned().and_then(|size| usize::try_from(size).ok());
        size.ok_or_else(|| self.error("an integer from 0 on"))
    }

    pub(crate) fn number(&self) -> Result<f64, Error> {
        match *self.node() {
            // An integer beyond 2^53 is rounded, as wherever JSON numbers are read as floats.
            Node::Unsigned(value) => Ok(value as f64),
            Node::Signed(value) => Ok(value as f64),
            Node::Float(value) => Ok(value),
            _ => Err(self.error("a number")),
        }
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self.node(), Node::Object(_))
    }

    pub(crate) fn is_array(&self) -> bool {
        matches!(self.node(), Node::Array(_))
    }

    pub(crate) fn is(&self, text: &str) -> bool {
        matches!(self.node(), Node::Text(own) if own == text)
    }

    pub(crate) fn is_text(&self) -> bool {
        matches!(self.node(), Node::Text(_))
    }

    fn is_null(&self) -> bool {
        matches!(self.node(), Node::Null)
    }

    /// Return the value of one of a few names.
    pub(crate) fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Result<T, Error> {
        let text = self.text()?;
        let chosen = choices.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
        let names = || choices.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        chosen.ok_or_else(|| self.error(format!("one of {}", names())))
    }

    /// Return the `type` of a component, one of `known`.
    pub(crate) fn kind<'k>(&self, known: &[&'k str]) -> Result<&'k str, Error> {
        let expected = || format!("one of {}", known.join(", "));
        let Some(kind) = self.member("type")? else {
            let path = FieldPath::Member(&self.path, "type").path();
            return Err(Error::new(ErrorKind::Format, path, "nothing", expected()));
        };
        let text = kind.text()?;
        let found = known.iter().find(|known| **known == text).copied();
        found.ok_or_else(|| kind.error(expected()))
    }

    fn members(&self) -> Result<impl ExactSizeIterator<Item = (&'a str, Value<'a>)>, Error> {
        self.value.members().ok_or_else(|| self.error("an object"))
    }

    fn node(&self) -> &'a Node<'a> {
        self.value.node()
    }

    fn unsigned(&self) -> Option<u64> {
        match self.node() {
            Node::Unsigned(value) => Some(*value),
            _ => None,
        }
    }
}

impl FieldPath<'_> {
    fn path(&self) -> String {
        match self {
            FieldPath::Root => "document".to_owned(),
            FieldPath::Member(FieldPath::Root, name) => shortened(name).into_owned(),
            FieldPath::Member(outer, name) => format!("{}.{}", outer.path(), shortened(name)),
            FieldPath::Entry(outer, name) => format!("{}[{:?}]", outer.path(), shortened(name)),
            FieldPath::Item(outer, i) => format!("{}[{i}]", outer.path()),
        }
    }
}

/// Return all values or the first error; reserve memory once, unlike `collect`.
pub(crate) fn all<T>(values: impl ExactSizeIterator<Item = Result<T, Error>>) -> Result<Vec<T>, Error> {
    let mut all = Vec::with_capacity(values.len());
    for value in values {
        all.push(value?);
    }
    Ok(all)
}

/// Return a short description of a value for errors.
fn summary(node: &Node) -> String {
    match node {
        Node::Null => "null".to_owned(),
        Node::Bool(value) => value.to_string(),
        Node::Unsigned(value) => value.to_string(),
        Node::Signed(value) => value.to_string(),
        Node::Float(value) => format!("{value:?}"),
        Node::Text(text) => format!("{:?}", shortened(text)),
        Node::Array(_) => "an array".to_owned(),
        Node::Object(_) => "an object".to_owned(),
    }
}
