//! The tables of a program: lead byte sets, dispatch tables and memo points.

use regex_syntax::hir::ClassUnicode;

use crate::ast::{Node, SetId};
use crate::char_classes::SetInterner;
use crate::compile::{Compiler, Continuation};
use crate::program::{LeadBytes, MemoPoint, NO_MEMO_POINT};

impl Compiler {
    /// Return the index of the dispatch table for some alternatives.
    pub(crate) fn dispatch_table(&mut self, branches: &[&[Node]], next: &Continuation) -> u32 {
        let mut table = Box::new([0; 130]);
        for (index, branch) in branches.iter().enumerate() {
            let lead_bytes = match self.backward {
                true => LeadBytes::ANY,
                false => FirstChars::of_any(branch, &mut self.parsed.sets)
                    .then(&next.first)
                    .lead_bytes(&self.parsed.sets),
            };
            (0..128).for_each(|byte| table[byte] |= ((lead_bytes.ascii >> byte & 1) as u64) << index);
            table[128] |= u64::from(lead_bytes.non_ascii) << index;
            table[129] |= u64::from(lead_bytes.text_end) << index;
        }
        let Self { dispatch_tables, dispatch_table_ids, .. } = self;
        *dispatch_table_ids.entry(table).or_insert_with_key(|table| {
            dispatch_tables.push(table.clone());
            dispatch_tables.len() as u32 - 1
        })
    }

    /// Return the index of the lead byte set of some first characters.
    pub(crate) fn lead_bytes(&mut self, first: &FirstChars) -> u32 {
        let lead_bytes = if self.backward { LeadBytes::ANY } else { first.lead_bytes(&self.parsed.sets) };
        let Self { lead_bytes: all, lead_byte_ids, .. } = self;
        *lead_byte_ids.entry(lead_bytes).or_insert_with(|| {
            all.push(lead_bytes);
            all.len() as u32 - 1
        })
    }

    /// Return a memo point for the next instruction, with a slot for each count of enclosing loops.
    pub(crate) fn memo_point(&mut self) -> MemoPoint {
        if !self.memoizes {
            return NO_MEMO_POINT;
        }
        if self.memo_layout.loops.last() != Some(&self.loops) {
            self.memo_layout.loops.push(self.loops.clone());
        }
        self.memo_layout.points.push((self.memo_layout.slots, self.memo_layout.loops.len() as u32 - 1));
        self.memo_layout.slots += self.loops.len() as u32 + 1;
        self.memo_layout.points.len() as MemoPoint - 1
    }

    /// Return whether what follows cannot start with a character of a set.
    pub(crate) fn excludes(&mut self, set: u32, next: &Continuation) -> bool {
        let Some(sets) = next.first.sets.as_ref().filter(|_| !next.first.nullable) else { return false };
        let Self { disjoint, parsed, .. } = self;
        sets.iter().all(|&other| {
            *disjoint.entry((set, other)).or_insert_with(|| !parsed.sets.intersect(set, other))
        })
    }
}

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
    /// Of a node that can start with anything.
    pub(crate) const UNKNOWN: Self = Self { sets: None, nullable: true };
    /// Of a node that matches only the empty text.
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
