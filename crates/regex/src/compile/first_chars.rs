//! What can come first where a node matches.

use regex_syntax::hir::ClassUnicode;

use crate::ast::{Node, SetId};
use crate::program::LeadBytes;
use crate::set_interner::SetInterner;

/// SetInterner that are kept apart, at most; more count as anything.
const MAX_SETS: usize = 16;

/// The characters with which a node can begin.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FirstChars {
    /// SetInterner of which one has the first character; `None` where nothing is known.
    pub(crate) sets: Option<Vec<SetId>>,
    /// Whether it can match without a character, so that what follows comes first.
    pub(crate) nullable: bool,
}

impl FirstChars {
    pub(crate) const UNKNOWN: Self = Self { sets: None, nullable: true };
    pub(crate) const EMPTY: Self = Self { sets: Some(Vec::new()), nullable: true };

    fn one(set: SetId) -> Self {
        Self { sets: Some(vec![set]), nullable: false }
    }

    /// With what a node begins.
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

    /// With what one of several nodes begins.
    pub(crate) fn of_any(nodes: &[Node], sets: &mut SetInterner) -> Self {
        let none = Self { nullable: false, ..Self::EMPTY };
        nodes.iter().fold(none, |first, node| first.or(&Self::of(node, sets)))
    }

    /// One after the other.
    pub(crate) fn then(&self, next: &Self) -> Self {
        match self.nullable {
            true => Self { nullable: next.nullable, ..self.or(next) },
            false => self.clone(),
        }
    }

    /// One or the other.
    pub(crate) fn or(&self, other: &Self) -> Self {
        let sets = self.sets.as_ref().zip(other.sets.as_ref()).map(|(one, two)| {
            let more = two.iter().filter(|set| !one.contains(set));
            one.iter().chain(more).copied().collect::<Vec<_>>()
        });
        Self { sets: sets.filter(|sets| sets.len() <= MAX_SETS), nullable: self.nullable || other.nullable }
    }

    /// All characters that can be first, if that is known.
    pub(crate) fn union(&self, sets: &SetInterner) -> Option<ClassUnicode> {
        let ids = self.sets.as_ref().filter(|_| !self.nullable)?;
        Some(ClassUnicode::new(ids.iter().flat_map(|&id| sets.get(id).ranges().iter().copied())))
    }

    /// The bytes that can be next.
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
