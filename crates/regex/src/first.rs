//! What can come first where a node matches.

use regex_syntax::hir::ClassUnicode;

use super::ast::{Node, SetId};
use super::program::Starts;
use super::sets::Sets;

/// Sets that are kept apart, at most; more count as anything.
const MAX_SETS: usize = 16;

/// The characters with which a node can begin.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct First {
    /// Sets of which one has the first character; `None` where nothing is known.
    pub(super) sets: Option<Vec<SetId>>,
    /// Whether it can match without a character, so that what follows comes first.
    pub(super) nullable: bool,
}

impl First {
    pub(super) const UNKNOWN: Self = Self { sets: None, nullable: true };
    pub(super) const NOTHING: Self = Self { sets: Some(Vec::new()), nullable: true };

    fn one(set: SetId) -> Self {
        Self { sets: Some(vec![set]), nullable: false }
    }

    /// With what a node begins.
    pub(super) fn of(node: &Node, sets: &mut Sets) -> Self {
        match node {
            Node::Empty | Node::Look(_) | Node::Anchor(_) => Self::NOTHING,
            Node::Set(set) => Self::one(*set),
            Node::Text(text) => text.first().map_or(Self::NOTHING, |&c| Self::one(sets.id_of_char(c))),
            Node::Concat(nodes) => {
                let mut first = Self::NOTHING;
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
    pub(super) fn of_any(nodes: &[Node], sets: &mut Sets) -> Self {
        let none = Self { nullable: false, ..Self::NOTHING };
        nodes.iter().fold(none, |first, node| first.or(&Self::of(node, sets)))
    }

    /// One after the other.
    pub(super) fn then(&self, next: &Self) -> Self {
        match self.nullable {
            true => Self { nullable: next.nullable, ..self.or(next) },
            false => self.clone(),
        }
    }

    /// One or the other.
    pub(super) fn or(&self, other: &Self) -> Self {
        let sets = self.sets.as_ref().zip(other.sets.as_ref()).map(|(one, two)| {
            let more = two.iter().filter(|set| !one.contains(set));
            one.iter().chain(more).copied().collect::<Vec<_>>()
        });
        Self { sets: sets.filter(|sets| sets.len() <= MAX_SETS), nullable: self.nullable || other.nullable }
    }

    /// All characters that can be first, if that is known.
    pub(super) fn union(&self, sets: &Sets) -> Option<ClassUnicode> {
        let ids = self.sets.as_ref().filter(|_| !self.nullable)?;
        Some(ClassUnicode::new(ids.iter().flat_map(|&id| sets.get(id).ranges().iter().copied())))
    }

    /// The bytes that can be next.
    pub(super) fn starts(&self, sets: &Sets) -> Starts {
        let Some(ids) = self.sets.as_ref().filter(|_| !self.nullable) else { return Starts::ANY };
        let mut starts = Starts { ascii: 0, other: false, end: false };
        for &id in ids {
            for range in sets.get(id).ranges() {
                let (first, last) = (range.start() as u32, range.end() as u32);
                (first..=last.min(127)).for_each(|c| starts.ascii |= 1 << c);
                starts.other |= last > 127;
            }
        }
        starts
    }
}
