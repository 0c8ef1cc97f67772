//! JSON text as a tree.
//!
//! Unlike `serde_json::Value`, the tree keeps the order of members and repeated names, so that readers can
//! reject these, and it borrows from the text. All values are in one list, each before its children, so a file
//! with half a million values takes one allocation.
//!
//! The reader accepts the same texts as `serde_json`, which produces the error messages, and which parses
//! strings with escapes and all but the simplest numbers. Scores are therefore parsed as `serde_json` parses
//! them without `float_roundtrip`; segmentations depend on their exact values.

use std::borrow::Cow;

use piecework_core::interrupt;

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

/// The greatest depth, as in `serde_json`.
const MAX_DEPTH: usize = 127;
/// The values of a list that are read between two checks for an interrupt.
const CHECKED: usize = 1 << 10;
/// The assumed bytes of text for each value; denser texts allocate again.
const BYTES_PER_NODE: usize = 12;

impl<'t> Tree<'t> {
    /// Read a whole text; return `None` if it is not JSON.
    pub(crate) fn read(text: &'t str) -> Option<Self> {
        let room = text.len() / BYTES_PER_NODE + 1;
        keep_memory::<Node>(2 * room);
        let nodes = Vec::with_capacity(room);
        let mut reader = TreeReader { text, at: 0, depth: 0, nodes };
        reader.value()?;
        reader.skip_space();
        (reader.at == text.len()).then_some(Self(reader.nodes))
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

/// Reads values one after the other.
struct TreeReader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    nodes: Vec<Node<'t>>,
}

impl<'t> TreeReader<'t> {
    fn value(&mut self) -> Option<()> {
        self.skip_space();
        let node = match self.peek()? {
            b'{' => return self.within(|reader| reader.list(b'}', Self::member).map(Node::Object)),
            b'[' => return self.within(|reader| reader.list(b']', Self::value).map(Node::Array)),
            b'"' => Node::Text(self.string()?),
            b'n' => self.word("null", Node::Null)?,
            b't' => self.word("true", Node::Bool(true))?,
            b'f' => self.word("false", Node::Bool(false))?,
            _ => self.number()?,
        };
        self.nodes.push(node);
        Some(())
    }

    /// Read the children of a value, whose node precedes them.
    fn within(&mut self, read: impl FnOnce(&mut Self) -> Option<Node<'t>>) -> Option<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let place = self.nodes.len();
        self.nodes.push(Node::Null);
        self.nodes[place] = read(self)?;
        self.depth -= 1;
        Some(())
    }

    /// Read items separated by commas, up to the closing bracket.
    fn list(&mut self, close: u8, item: impl Fn(&mut Self) -> Option<()>) -> Option<Children> {
        let (from, mut count) = (self.nodes.len(), 0);
        self.at += 1;
        self.skip_space();
        while count > 0 || self.peek()? != close {
            item(self)?;
            count += 1;
            if count % CHECKED == 0 {
                interrupt::check(CHECKED);
            }
            self.skip_space();
            match self.peek()? {
                b',' => self.at += 1,
                end if end == close => break,
                _ => return None,
            }
        }
        self.at += 1;
        Some(Children { count, nodes: self.nodes.len() - from })
    }

    fn member(&mut self) -> Option<()> {
        self.skip_space();
        if self.peek()? != b'"' {
            return None;
        }
        let name = self.string()?;
        self.nodes.push(Node::Text(name));
        self.skip_space();
        if self.peek()? != b':' {
            return None;
        }
        self.at += 1;
        self.value()
    }

    /// Read a string, borrowed if it has no escapes.
    fn string(&mut self) -> Option<Cow<'t, str>> {
        let (bytes, quote) = (self.text.as_bytes(), self.at);
        let mut at = quote + 1;
        let mut has_escapes = false;
        loop {
            match *bytes.get(at)? {
                b'"' => break,
                b'\\' => (has_escapes, at) = (true, at + 2),
                0..0x20 => return None,
                _ => at += 1,
            }
        }
        self.at = at + 1;
        if has_escapes {
            return serde_json::from_str(self.text.get(quote..=at)?).ok().map(Cow::Owned);
        }
        self.text.get(quote + 1..at).map(Cow::Borrowed)
    }

    fn number(&mut self) -> Option<Node<'t>> {
        let rest = &self.text[self.at..];
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let number = &rest[..rest.bytes().take_while(is_part).count()];
        self.at += number.len();
        if number.len() < 20 && !number.starts_with('0') && number.bytes().all(|byte| byte.is_ascii_digit())
        {
            return number.parse().ok().map(Node::Unsigned);
        }
        let number: serde_json::Number = serde_json::from_str(number).ok()?;
        let signed = || number.as_i64().map(Node::Signed);
        number.as_u64().map(Node::Unsigned).or_else(signed).or_else(|| number.as_f64().map(Node::Float))
    }

    fn word(&mut self, word: &str, node: Node<'t>) -> Option<Node<'t>> {
        self.at += word.len();
        (self.text.get(self.at - word.len()..self.at)? == word).then_some(node)
    }

    #[inline]
    fn skip_space(&mut self) {
        const WIDE: &[u8; 8] = b"        ";
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            // Files that are laid out for readers are half spaces.
            let is_wide = self.text.as_bytes()[self.at..].first_chunk() == Some(WIDE);
            self.at += if is_wide { WIDE.len() } else { 1 };
        }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

#[cfg(test)]
mod tests;
