//! The syntax tree of an expression. Options and character sets are resolved in it.

use std::cmp::Ordering;

/// The index of a character set in the `SetInterner` of an expression.
pub(crate) type SetId = u32;

/// A node of the syntax tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    /// Matches the empty text.
    Empty,
    /// Matches one character of a set.
    Set(SetId),
    /// Matches these characters.
    Text(Vec<char>),
    /// Matches the nodes in order. With a single node it is a non-capturing group, whose inside a
    /// following quantifier does not merge with.
    Concat(Vec<Node>),
    /// Matches the first node that lets the rest match.
    Alternate(Vec<Node>),
    /// Matches the body repeatedly.
    Repeat(Box<Repeat>),
    /// Matches the body and records its span under a group number, from 1.
    Capture(usize, Box<Node>),
    /// Matches the body and discards its other alternatives.
    Atomic(Box<Node>),
    /// Looks ahead or behind.
    Look(Box<Look>),
    /// Tests the current position.
    Anchor(Anchor),
    /// Matches the text that a group matched last.
    Reference(usize),
}

/// A quantified node.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Repeat {
    pub(crate) body: Node,
    pub(crate) min: u32,
    /// `None` means unbounded.
    pub(crate) max: Option<u32>,
    pub(crate) greedy: bool,
}

/// Look-ahead or look-behind.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Look {
    pub(crate) body: Node,
    pub(crate) behind: bool,
    pub(crate) negate: bool,
    /// For look-behind: the least and the greatest number of characters that it reads.
    pub(crate) length: (u32, Option<u32>),
}

/// A test of the current position that reads nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    TextStart,
    TextEnd,
    /// Matches at the end, and before a line feed that ends the text.
    TextEndOrLastLine,
    LineStart,
    LineEnd,
    /// Matches where the search began (`\G`).
    SearchStart,
    WordBoundary,
    NotWordBoundary,
}

impl Node {
    /// Return a node that matches `nodes` in order.
    pub(crate) fn concat(mut nodes: Vec<Node>) -> Node {
        match nodes.len() {
            0 => Node::Empty,
            1 => nodes.remove(0),
            _ => Node::Concat(nodes),
        }
    }

    /// Return a node that matches one of `nodes`.
    pub(crate) fn alternate(mut nodes: Vec<Node>) -> Node {
        match nodes.len() {
            0 => Node::Empty,
            1 => nodes.remove(0),
            _ => Node::Alternate(nodes),
        }
    }

    /// Return whether the node can match the empty text. `of_group` answers this for the groups that the
    /// node refers to; an unknown group counts as nullable.
    pub(crate) fn is_nullable(&self, of_group: &[bool]) -> bool {
        match self {
            Node::Set(_) => false,
            Node::Text(text) => text.is_empty(),
            Node::Empty | Node::Look(_) | Node::Anchor(_) => true,
            Node::Concat(nodes) => nodes.iter().all(|node| node.is_nullable(of_group)),
            Node::Alternate(nodes) => nodes.iter().any(|node| node.is_nullable(of_group)),
            Node::Repeat(repeat) => repeat.min == 0 || repeat.body.is_nullable(of_group),
            Node::Capture(_, body) | Node::Atomic(body) => body.is_nullable(of_group),
            Node::Reference(group) => of_group.get(*group).copied().unwrap_or(true),
        }
    }

    /// Return the direct children.
    pub(crate) fn children(&self) -> &[Node] {
        match self {
            Node::Concat(nodes) | Node::Alternate(nodes) => nodes,
            Node::Repeat(repeat) => std::slice::from_ref(&repeat.body),
            Node::Capture(_, body) | Node::Atomic(body) => std::slice::from_ref(body),
            Node::Look(look) => std::slice::from_ref(&look.body),
            _ => &[],
        }
    }

    /// Return whether `is` accepts this node or a descendant.
    pub(crate) fn any(&self, is: &dyn Fn(&Node) -> bool) -> bool {
        is(self) || self.children().iter().any(|node| node.any(is))
    }
}

/// The number of characters that a node matches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CharLength {
    pub(crate) min: u32,
    /// `None` means unbounded.
    pub(crate) max: Option<u32>,
    /// Whether `min` is certain, as Oniguruma computes it: the node contains no groups and no assertions.
    pub(crate) min_is_exact: bool,
}

impl CharLength {
    /// Any number, for a group that is not closed yet.
    pub(crate) const ANY: Self = Self { min: 0, max: None, min_is_exact: false };
    const ZERO: Self = Self { min: 0, max: Some(0), min_is_exact: true };
    const ONE: Self = Self { min: 1, max: Some(1), min_is_exact: true };

    /// Compute the length of a node. `groups` has the lengths of the groups that it refers to.
    pub(crate) fn of(node: &Node, groups: &[CharLength]) -> Self {
        match node {
            Node::Empty => Self::ZERO,
            // Look-behind that matches the empty text counts as certain, even when negated.
            Node::Look(look) if look.behind && is_removed(&look.body) => Self::ZERO,
            Node::Look(_) | Node::Anchor(_) => Self { min_is_exact: false, ..Self::ZERO },
            Node::Set(_) => Self::ONE,
            Node::Text(text) => Self::ONE.times(text.len() as u32, Some(text.len() as u32)),
            Node::Concat(nodes) => {
                nodes.iter().fold(Self::ZERO, |sum, node| sum.then(Self::of(node, groups)))
            }
            Node::Alternate(nodes) => {
                nodes.iter().map(|node| Self::of(node, groups)).reduce(Self::or).unwrap_or(Self::ZERO)
            }
            Node::Repeat(repeat) => Self::of(&repeat.body, groups).times(repeat.min, repeat.max),
            Node::Capture(_, body) => Self { min_is_exact: false, ..Self::of(body, groups) },
            Node::Atomic(body) => Self::of(body, groups),
            Node::Reference(group) => {
                Self { min_is_exact: false, ..groups.get(*group).copied().unwrap_or(Self::ANY) }
            }
        }
    }

    /// Return the length of both, one after the other.
    fn then(self, other: Self) -> Self {
        let max = self.max.zip(other.max).and_then(|(one, two)| one.checked_add(two));
        Self {
            min: self.min.saturating_add(other.min),
            max,
            min_is_exact: self.min_is_exact && other.min_is_exact,
        }
    }

    /// Return the length of one or the other.
    fn or(self, other: Self) -> Self {
        let max = self.max.zip(other.max).map(|(one, two)| one.max(two));
        let min_is_exact = match self.min.cmp(&other.min) {
            Ordering::Less => self.min_is_exact,
            Ordering::Equal => self.min_is_exact || other.min_is_exact,
            Ordering::Greater => other.min_is_exact,
        };
        Self { min: self.min.min(other.min), max, min_is_exact }
    }

    /// Return the length of `min` to `max` repetitions.
    fn times(self, min: u32, max: Option<u32>) -> Self {
        let max = self.max.zip(max).and_then(|(one, times)| one.checked_mul(times));
        Self { min: self.min.saturating_mul(min), max, min_is_exact: self.min_is_exact || min == 0 }
    }
}

/// Return whether a node is what remains of something that matches the empty text.
fn is_removed(node: &Node) -> bool {
    match node {
        Node::Empty => true,
        Node::Repeat(repeat) => repeat.max == Some(0),
        _ => false,
    }
}
