//! How many characters a node matches, which is how far look-behind steps back.

use std::cmp::Ordering;

use crate::ast::Node;

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

/// Whether a node is what remains of something that matches the empty text.
fn is_removed(node: &Node) -> bool {
    match node {
        Node::Empty => true,
        Node::Repeat(repeat) => repeat.max == Some(0),
        _ => false,
    }
}
