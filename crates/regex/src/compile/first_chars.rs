//! The characters that a node can start with.

use regex_syntax::hir::ClassUnicode;

use crate::ast::{Node, SetId};
use crate::char_classes::SetInterner;
use crate::program::LeadBytes;

/// The most sets that are tracked. More become unknown.
const MAX_SETS: usize = 16;

/// The characters that a node can start with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FirstChars {
    /// The first character is in one of these sets. `None` means unknown.
    pub(crate) sets: Option<Vec<SetId>>,
    /// Whether the node can match the empty text, so that what follows can come first.
    pub(crate) nullable: bool,
}

impl FirstChars {
    /// For a node that can start with anything.
    pub(crate) const UNKNOWN: Self = Self { sets: None, nullable: true };
    /// For a node that matches only the empty text.
    pub(crate) const EMPTY: Self = Self { sets: Some(Vec::new()), nullable: true };

    fn one(set: SetId) -> Self {
        Self { sets: Some(vec![set]), nullable: false }
    }

    /// Compute the first characters of a node.
    pub(crate) fn of(node: &Node, sets: &mut SetInterner) -> Self {
        match node {
            Node::Empty | Node::Look(_) | Node::Anchor(_) => Self::EMPTY,
            Node::Set(set) => Self::one(*set),
            Node::Text(text) => text.first().map_or(Self::EMPTY, |&c| Self::one(sets.id_of_char(c))),
            Node::Concat(nodes) => {
                let mut first = Self::EMPTY;
                for node in nodes {
                    if first.nullable {
                        first = first.then(&Self::of(node, sets));
                    }
                }
                first
            }
            Node::Alternate(nodes) => Self::of_any(nodes, sets),
            Node::Repeat(repeat) => {
                let body = Self::of(&repeat.body, sets);
                Self { nullable: body.nullable || repeat.min == 0, ..body }
            }
            Node::Capture(_, body) | Node::Atomic(body) => Self::of(body, sets),
            Node::Reference(_) => Self::UNKNOWN,
        }
    }

    /// Compute the first characters of an alternation.
    pub(crate) fn of_any(nodes: &[Node], sets: &mut SetInterner) -> Self {
        let none = Self { nullable: false, ..Self::EMPTY };
        nodes.iter().fold(none, |first, node| first.or(&Self::of(node, sets)))
    }

    /// Return the first characters of this node followed by another.
    pub(crate) fn then(&self, next: &Self) -> Self {
        match self.nullable {
            true => Self { nullable: next.nullable, ..self.or(next) },
            false => self.clone(),
        }
    }

    /// Return the first characters of an alternation of both.
    pub(crate) fn or(&self, other: &Self) -> Self {
        let sets = self.sets.as_ref().zip(other.sets.as_ref()).map(|(one, two)| {
            let more = two.iter().filter(|set| !one.contains(set));
            one.iter().chain(more).copied().collect::<Vec<_>>()
        });
        Self { sets: sets.filter(|sets| sets.len() <= MAX_SETS), nullable: self.nullable || other.nullable }
    }

    /// Return the union of the sets, or `None` if it is unknown or the node is nullable.
    pub(crate) fn union(&self, sets: &SetInterner) -> Option<ClassUnicode> {
        let ids = self.sets.as_ref().filter(|_| !self.nullable)?;
        Some(ClassUnicode::new(ids.iter().flat_map(|&id| sets.get(id).ranges().iter().copied())))
    }

    /// Return the lead byte set.
    pub(crate) fn lead_bytes(&self, sets: &SetInterner) -> LeadBytes {
        let Some(ids) = self.sets.as_ref().filter(|_| !self.nullable) else { return LeadBytes::ANY };
        let mut lead_bytes = LeadBytes { ascii: 0, non_ascii: false, text_end: false };
        for &id in ids {
            for range in sets.get(id).ranges() {
                let (first, last) = (range.start() as u32, range.end() as u32);
                (first..=last.min(127)).for_each(|c| lead_bytes.ascii |= 1 << c);
                lead_bytes.non_ascii |= last > 127;
            }
        }
        lead_bytes
    }
}
