//! Oniguruma's rules for look-around: what look-behind may contain, and how far it reads.

use std::cmp::Ordering;

use crate::ast::{Anchor, Look, Node};
use crate::error::CompileError;
use crate::parse::Parser;

/// The most characters that look-behind may step back, as in Oniguruma.
const MAX_STEP: u32 = 65_535;

/// The number of characters that a node matches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CharLength {
    pub(crate) min: u32,
    /// `None` means unbounded.
    pub(crate) max: Option<u32>,
    /// Whether `min` is certain, as Oniguruma computes it: the node contains no groups and no assertions.
    min_is_exact: bool,
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
            Node::Look(look) if !look.behind && look.body == Node::Empty => Self::ZERO,
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

/// Return a look-ahead node.
pub(crate) fn look_ahead(body: Node, negate: bool) -> Node {
    Node::Look(Box::new(Look { body, behind: false, negate, length: (0, None) }))
}

/// Return a look-behind node, or an error where Oniguruma rejects it.
pub(crate) fn look_behind(body: Node, negate: bool, parser: &Parser) -> Result<Node, CompileError> {
    if body.any(&|node| is_forbidden(node, negate)) {
        return Err(parser.malformed("look-behind with something in it that cannot be there"));
    }
    let body = without_optional_prefix(body);
    let length = CharLength::of(&body, &parser.group_lengths);
    if length.min > MAX_STEP || length.max.is_some_and(|max| max > MAX_STEP) {
        return Err(parser.malformed("look-behind that reads too far"));
    }
    if length.min == 0 && length.min_is_exact {
        // It matches the empty text, even where a possessive repetition would read too far.
        return Ok(look_ahead(Node::Empty, negate));
    }
    Ok(Node::Look(Box::new(Look { body, behind: true, negate, length: (length.min, length.max) })))
}

/// Return whether Oniguruma rejects a node inside look-behind.
fn is_forbidden(node: &Node, negate: bool) -> bool {
    match node {
        // The parser has turned look-behind that matches the empty text into look-ahead.
        Node::Look(look) => (!look.behind && look.body != Node::Empty) || (look.negate && !negate),
        Node::Anchor(anchor) => matches!(anchor, Anchor::TextEnd | Anchor::TextEndOrLastLine),
        Node::Capture(..) => negate,
        _ => false,
    }
}

/// Remove the optional iterations at the start of look-behind. They cannot change whether it matches.
fn without_optional_prefix(mut body: Node) -> Node {
    match &mut body {
        Node::Alternate(nodes) => {
            nodes
                .iter_mut()
                .for_each(|node| *node = without_optional_prefix(std::mem::replace(node, Node::Empty)));
        }
        Node::Concat(nodes) => {
            for node in nodes {
                if !drop_optional_iterations(node) {
                    break;
                }
            }
        }
        node => drop(drop_optional_iterations(node)),
    }
    body
}

/// Reduce a repetition of a single item to its least count. Returns whether that is zero.
fn drop_optional_iterations(node: &mut Node) -> bool {
    let Node::Repeat(repeat) = node else { return false };
    if !matches!(repeat.body, Node::Set(_) | Node::Text(_) | Node::Reference(_)) {
        return false;
    }
    repeat.max = Some(repeat.min);
    repeat.min == 0
}
