//! The matcher as it is defined: every node tries its ways in order and calls what comes after it.
//!
//! Recursive and exponential; it exists to be compared with the real one on small expressions and texts.

use super::ast::{Anchor, Look, Node, Repeat};
use super::measure::{plan, Plan};
use super::oniguruma::Parsed;

/// What comes after a node: given a place and the groups so far, the end of the match.
type Then<'a> = &'a mut dyn FnMut(usize, &Groups) -> Option<usize>;
type Groups = Vec<Option<(usize, usize)>>;

pub(super) struct Naive<'a> {
    pub(super) parsed: &'a Parsed,
    pub(super) text: &'a [char],
    pub(super) search_start: usize,
    /// Steps that are left; at 0 nothing is compared.
    pub(super) fuel: std::cell::Cell<usize>,
}

impl Naive<'_> {
    /// The first match from a place on, in characters.
    pub(super) fn find(&self, from: usize) -> Option<(usize, usize)> {
        let groups = vec![None; 100];
        let root = &self.parsed.root;
        (from..=self.text.len()).find_map(|start| {
            self.node(root, start, &groups, &mut |end, _| Some(end)).map(|end| (start, end))
        })
    }

    fn node(&self, node: &Node, at: usize, groups: &Groups, then: Then) -> Option<usize> {
        self.fuel.set(self.fuel.get().checked_sub(1)?);
        match node {
            Node::Empty => then(at, groups),
            Node::Set(set) => {
                let c = *self.text.get(at)?;
                let has =
                    self.parsed.sets.get(*set).ranges().iter().any(|r| r.start() <= c && c <= r.end());
                if has {
                    then(at + 1, groups)
                } else {
                    None
                }
            }
            Node::Text(text) if self.text.get(at..at + text.len()) == Some(text) => {
                then(at + text.len(), groups)
            }
            Node::Concat(nodes) => self.all(nodes, at, groups, then),
            Node::Alternate(nodes) => nodes.iter().find_map(|node| self.node(node, at, groups, then)),
            Node::Repeat(repeat) => self.repeat(repeat, 0, at, groups, then),
            Node::Capture(group, body) => self.node(body, at, groups, &mut |end, groups| {
                let mut groups = groups.clone();
                groups[*group] = Some((at, end));
                then(end, &groups)
            }),
            Node::Atomic(body) => {
                let (end, groups) = self.alone(body, at, groups, &|_| true)?;
                then(end, &groups)
            }
            Node::Look(look) => match (self.look(look, at, groups), look.negate) {
                (Some(groups), false) => then(at, &groups),
                (None, true) => then(at, groups),
                _ => None,
            },
            Node::Anchor(anchor) if self.holds(*anchor, at) => then(at, groups),
            Node::Text(_) | Node::Anchor(_) => None,
            Node::Reference(group) => {
                let (start, end) = groups[*group]?;
                let found = self.text.get(at..at + end - start) == self.text.get(start..end);
                if found {
                    then(at + end - start, groups)
                } else {
                    None
                }
            }
        }
    }

    fn all(&self, nodes: &[Node], at: usize, groups: &Groups, then: Then) -> Option<usize> {
        let Some((first, rest)) = nodes.split_first() else { return then(at, groups) };
        self.node(first, at, groups, &mut |at, groups| self.all(rest, at, groups, then))
    }

    /// The first way in which a node matches by itself and ends where it may.
    fn alone(
        &self,
        node: &Node,
        at: usize,
        groups: &Groups,
        may_end: &dyn Fn(usize) -> bool,
    ) -> Option<(usize, Groups)> {
        let mut found = None;
        self.node(node, at, groups, &mut |end, groups| {
            if !may_end(end) {
                return None;
            }
            found = Some((end, groups.clone()));
            Some(end)
        })?;
        found
    }

    fn look(&self, look: &Look, at: usize, groups: &Groups) -> Option<Groups> {
        if !look.behind {
            return self.alone(&look.body, at, groups, &|_| true).map(|found| found.1);
        }
        (0..=at)
            .rev()
            .find_map(|from| self.alone(&look.body, from, groups, &|end| end == at))
            .map(|found| found.1)
    }

    /// The rounds of a repetition from one on.
    fn repeat(&self, repeat: &Repeat, count: u32, at: usize, groups: &Groups, then: Then) -> Option<usize> {
        let plan = plan(repeat);
        if plan == Plan::Nothing || repeat.max == Some(count) {
            return then(at, groups);
        }
        let must = count < repeat.min;
        let ends_when_empty = match plan {
            Plan::Counted => true,
            Plan::CopiesAndLoop => !must,
            _ => false,
        };
        let round = |then: Then| {
            self.node(&repeat.body, at, groups, &mut |end, groups| match end == at && ends_when_empty {
                true => then(end, groups),
                false => self.repeat(repeat, count.saturating_add(1), end, groups, then),
            })
        };
        match (must, repeat.greedy) {
            (true, _) => round(then),
            (false, true) => round(then).or_else(|| then(at, groups)),
            (false, false) => then(at, groups).or_else(|| round(then)),
        }
    }

    fn holds(&self, anchor: Anchor, at: usize) -> bool {
        let word = super::class::word();
        let is_word = |at: Option<usize>| {
            let c = at.and_then(|at| self.text.get(at).copied());
            c.is_some_and(|c| word.ranges().iter().any(|r| r.start() <= c && c <= r.end()))
        };
        let boundary = is_word(at.checked_sub(1)) != is_word(Some(at));
        let at_end = at == self.text.len();
        match anchor {
            Anchor::TextStart => at == 0,
            Anchor::TextEnd => at_end,
            Anchor::TextEndOrLastLine => at_end || self.text[at..] == ['\n'],
            Anchor::LineStart => at == 0 || (!at_end && self.text[at - 1] == '\n'),
            Anchor::LineEnd => at_end || self.text[at] == '\n',
            Anchor::SearchStart => at == self.search_start,
            Anchor::WordBoundary => boundary,
            Anchor::NotWordBoundary => !boundary,
        }
    }
}
