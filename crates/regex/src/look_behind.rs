//! Look-around as Oniguruma takes it: what look-behind may hold, and how far it reads.

use std::cmp::Ordering;

use super::ast::{Anchor, Look, Node};
use super::error::CompileError;
use super::oniguruma::Reader;

/// Characters that look-behind may step back, as in Oniguruma.
const MAX_STEP: u32 = 65_535;

/// How many characters something matches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Chars {
    pub(super) min: u32,
    pub(super) max: Option<u32>,
    /// Whether the fewest are certain: neither groups nor assertions are inside.
    sure: bool,
}

impl Chars {
    pub(super) const ANY: Self = Self { min: 0, max: None, sure: false };
    const NONE: Self = Self { min: 0, max: Some(0), sure: true };
    const ONE: Self = Self { min: 1, max: Some(1), sure: true };

    /// How many characters a node matches, given that for the groups it refers to.
    pub(super) fn of(node: &Node, groups: &[Chars]) -> Self {
        match node {
            Node::Empty => Self::NONE,
            // Look-behind found to match the empty text counts as certain, even where it is negated.
            Node::Look(look) if !look.behind && look.body == Node::Empty => Self::NONE,
            Node::Look(_) | Node::Anchor(_) => Self { sure: false, ..Self::NONE },
            Node::Set(_) => Self::ONE,
            Node::Text(text) => Self::ONE.times(text.len() as u32, Some(text.len() as u32)),
            Node::Concat(nodes) => {
                nodes.iter().fold(Self::NONE, |sum, node| sum.plus(Self::of(node, groups)))
            }
            Node::Alternate(nodes) => {
                nodes.iter().map(|node| Self::of(node, groups)).reduce(Self::or).unwrap_or(Self::NONE)
            }
            Node::Repeat(repeat) => Self::of(&repeat.body, groups).times(repeat.min, repeat.max),
            Node::Capture(_, body) => Self { sure: false, ..Self::of(body, groups) },
            Node::Atomic(body) => Self::of(body, groups),
            Node::Reference(group) => {
                Self { sure: false, ..groups.get(*group).copied().unwrap_or(Self::ANY) }
            }
        }
    }

    fn plus(self, other: Self) -> Self {
        let max = self.max.zip(other.max).and_then(|(one, two)| one.checked_add(two));
        Self { min: self.min.saturating_add(other.min), max, sure: self.sure && other.sure }
    }

    fn or(self, other: Self) -> Self {
        let max = self.max.zip(other.max).map(|(one, two)| one.max(two));
        let sure = match self.min.cmp(&other.min) {
            Ordering::Less => self.sure,
            Ordering::Equal => self.sure || other.sure,
            Ordering::Greater => other.sure,
        };
        Self { min: self.min.min(other.min), max, sure }
    }

    fn times(self, min: u32, max: Option<u32>) -> Self {
        let max = self.max.zip(max).and_then(|(one, times)| one.checked_mul(times));
        Self { min: self.min.saturating_mul(min), max, sure: self.sure || min == 0 }
    }
}

/// Look-ahead.
pub(super) fn ahead(body: Node, negate: bool) -> Node {
    Node::Look(Box::new(Look { body, behind: false, negate, chars: (0, None) }))
}

/// Look-behind, or why Oniguruma refuses it.
pub(super) fn behind(body: Node, negate: bool, reader: &Reader) -> Result<Node, CompileError> {
    if body.any(&|node| is_forbidden(node, negate)) {
        return Err(reader.malformed("look-behind with something in it that cannot be there"));
    }
    let body = without_free_start(body);
    let chars = Chars::of(&body, &reader.group_chars);
    if chars.min > MAX_STEP || chars.max.is_some_and(|max| max > MAX_STEP) {
        return Err(reader.malformed("look-behind that reads too far"));
    }
    if chars.min == 0 && chars.sure {
        // It matches the empty text, even where a possessive repetition would read too far.
        return Ok(ahead(Node::Empty, negate));
    }
    Ok(Node::Look(Box::new(Look { body, behind: true, negate, chars: (chars.min, chars.max) })))
}

fn is_forbidden(node: &Node, negate: bool) -> bool {
    match node {
        // Look-behind that matches the empty text has become look-ahead by now.
        Node::Look(look) => (!look.behind && look.body != Node::Empty) || (look.negate && !negate),
        Node::Anchor(anchor) => matches!(anchor, Anchor::TextEnd | Anchor::TextEndOrLastLine),
        Node::Capture(..) => negate,
        _ => false,
    }
}

/// At the start of look-behind, a repetition of one thing needs no more rounds than it must have.
fn without_free_start(mut body: Node) -> Node {
    match &mut body {
        Node::Alternate(nodes) => {
            nodes
                .iter_mut()
                .for_each(|node| *node = without_free_start(std::mem::replace(node, Node::Empty)));
        }
        Node::Concat(nodes) => {
            for node in nodes {
                if !shorten(node) {
                    break;
                }
            }
        }
        node => drop(shorten(node)),
    }
    body
}

/// Take away the rounds that need not be; says whether nothing is left.
fn shorten(node: &mut Node) -> bool {
    let Node::Repeat(repeat) = node else { return false };
    if !matches!(repeat.body, Node::Set(_) | Node::Text(_) | Node::Reference(_)) {
        return false;
    }
    repeat.max = Some(repeat.min);
    repeat.min == 0
}
