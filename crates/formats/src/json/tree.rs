//! JSON text as a tree, and values that are skipped.
//!
//! Unlike `serde_json::Value`, the tree keeps the order of members and repeated names, so that readers can
//! reject these, and it borrows from the text. All values are in one list, each before its children, so a file
//! with half a million values takes one allocation.
//!
//! `serde_json` parses the text, without `float_roundtrip`: segmentations depend on the exact values of scores.

use std::borrow::Cow;
use std::fmt;

use piecework_core::interrupt;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// A value of a JSON text, without its children.
#[derive(Debug)]
pub(crate) enum Node<'t> {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(Cow<'t, str>),
    Array(Children),
    /// Names and values in turn.
    Object(Children),
}

/// The children of an array or object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Children {
    /// The number of values, or of names with a value each.
    count: usize,
    /// The number of nodes, all descendants included.
    nodes: usize,
}

/// All values of a text.
#[derive(Debug)]
pub(crate) struct Tree<'t>(Vec<Node<'t>>);

/// A value with its descendants; more nodes may follow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value<'a>(&'a [Node<'a>]);

/// Consecutive values.
#[derive(Clone, Debug)]
pub(crate) struct Values<'a> {
    rest: Value<'a>,
    count: usize,
}

/// The values of a list that are read between two checks for an interrupt.
const CHECKED: usize = 1 << 10;
/// The assumed bytes of text for each value; denser texts allocate again.
const BYTES_PER_NODE: usize = 12;

impl<'t> Tree<'t> {
    /// Read a whole text, nested at most 127 levels.
    pub(crate) fn read(text: &'t str) -> Result<Self, serde_json::Error> {
        let room = text.len() / BYTES_PER_NODE + 1;
        keep_memory::<Node>(2 * room);
        let mut nodes = Vec::with_capacity(room);
        let mut reader = serde_json::Deserializer::from_str(text);
        NodeReader(&mut nodes).deserialize(&mut reader)?;
        reader.end()?;
        Ok(Self(nodes))
    }

    /// Return the outermost value.
    pub(crate) fn root(&self) -> Value<'_> {
        Value(&self.0)
    }
}

/// Let the allocator keep freed memory for the tables that are built from these values.
///
/// An allocator that returns large blocks to the system keeps them once a larger one was freed; then the
/// system does not have to clear each page again.
fn keep_memory<T>(room: usize) {
    drop(std::hint::black_box(Vec::<T>::with_capacity(room)));
}

impl<'a> Value<'a> {
    pub(crate) fn node(self) -> &'a Node<'a> {
        // There is always one: lists end with their last value.
        self.0.first().unwrap_or(&Node::Null)
    }

    /// Return the values of an array.
    pub(crate) fn items(self) -> Option<Values<'a>> {
        match self.node() {
            Node::Array(inside) => Some(Values { rest: self.after(1), count: inside.count }),
            _ => None,
        }
    }

    /// Return the names and values of an object.
    pub(crate) fn members(self) -> Option<impl ExactSizeIterator<Item = (&'a str, Value<'a>)>> {
        let Node::Object(inside) = self.node() else { return None };
        let mut rest = self.after(1);
        Some((0..inside.count).map(move |_| {
            let Node::Text(name) = rest.node() else { return ("", rest) };
            let value = rest.after(1);
            rest = value.after(value.size());
            (&**name, value)
        }))
    }

    /// Return the number of nodes of the value.
    fn size(self) -> usize {
        match self.node() {
            Node::Array(inside) | Node::Object(inside) => 1 + inside.nodes,
            _ => 1,
        }
    }

    fn after(self, nodes: usize) -> Self {
        Self(self.0.get(nodes..).unwrap_or_default())
    }
}

impl<'a> Iterator for Values<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        self.count = self.count.checked_sub(1)?;
        let value = self.rest;
        self.rest = value.after(value.size());
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count, Some(self.count))
    }
}

impl ExactSizeIterator for Values<'_> {}

/// Appends a value and its children.
struct NodeReader<'n, 't>(&'n mut Vec<Node<'t>>);

impl<'t> NodeReader<'_, 't> {
    fn push(self, node: Node<'t>) {
        self.0.push(node);
    }

    /// Read children while there are any; the node that `wrap` makes of them precedes them.
    fn children<E>(
        self,
        wrap: impl Fn(Children) -> Node<'t>,
        mut read: impl FnMut(&mut Vec<Node<'t>>) -> Result<bool, E>,
    ) -> Result<(), E> {
        let nodes = self.0;
        let place = nodes.len();
        nodes.push(Node::Null);
        let mut count = 0;
        while read(nodes)? {
            count += 1;
            if count % CHECKED == 0 {
                interrupt::check(CHECKED);
            }
        }
        nodes[place] = wrap(Children { count, nodes: nodes.len() - place - 1 });
        Ok(())
    }
}

impl<'t> DeserializeSeed<'t> for NodeReader<'_, 't> {
    type Value = ();

    fn deserialize<D: Deserializer<'t>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'t> Visitor<'t> for NodeReader<'_, 't> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.push(Node::Null);
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.push(Node::Bool(value));
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.push(Node::Unsigned(value));
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.push(Node::Signed(value));
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.push(Node::Float(value));
        Ok(())
    }

    fn visit_borrowed_str<E>(self, text: &'t str) -> Result<(), E> {
        self.push(Node::Text(Cow::Borrowed(text)));
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.push(Node::Text(Cow::Owned(text.to_owned())));
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'t>>(self, mut items: A) -> Result<(), A::Error> {
        self.children(Node::Array, |nodes| Ok(items.next_element_seed(NodeReader(nodes))?.is_some()))
    }

    fn visit_map<A: MapAccess<'t>>(self, mut members: A) -> Result<(), A::Error> {
        self.children(Node::Object, |nodes| {
            if members.next_key_seed(NodeReader(nodes))?.is_none() {
                return Ok(false);
            }
            members.next_value_seed(NodeReader(nodes))?;
            Ok(true)
        })
    }
}

/// Checks a value that is not needed.
///
/// `serde::de::IgnoredAny` accepts nesting and numbers that Python rejects. Here `serde_json` parses the number and
/// limits the nesting to 128 levels.
#[derive(Clone, Copy)]
pub(crate) struct SkipValue;

impl<'de> DeserializeSeed<'de> for SkipValue {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for SkipValue {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        if value.is_finite() {
            Ok(())
        } else {
            Err(E::custom("a number beyond a double"))
        }
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_key_seed(self)?.is_some() {
            map.next_value_seed(self)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
