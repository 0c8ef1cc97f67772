//! The definition of the matcher: each node tries its alternatives in order and calls a closure for what
//! follows.
//!
//! It is recursive and exponential. Tests compare the matcher with it on small expressions and texts.

use crate::ast::{Anchor, Look, Node, Repeat};
use crate::compile::repeats::{expansion, Expansion};
use crate::parse::ParsedExpression;

/// What follows a node: maps a position and the captures so far to the end of the match.
type Rest<'a> = &'a mut dyn FnMut(usize, &Captures) -> Option<usize>;
/// By group number: the span in characters.
type Captures = Vec<Option<(usize, usize)>>;

/// A parsed expression and a text.
pub(crate) struct ReferenceMatcher<'a> {
    pub(crate) parsed: &'a ParsedExpression,
    pub(crate) text: &'a [char],
    pub(crate) search_start: usize,
    /// Steps left. A search that runs out fails.
    pub(crate) fuel: std::cell::Cell<usize>,
}

impl ReferenceMatcher<'_> {
    /// Return the first match at or after a position, in characters.
    pub(crate) fn find(&self, from: usize) -> Option<(usize, usize)> {
        let captures = vec![None; 100];
        let root = &self.parsed.root;
        (from..=self.text.len()).find_map(|start| {
            self.node(root, start, &captures, &mut |end, _| Some(end)).map(|end| (start, end))
        })
    }

    /// Match a node and what follows it.
    fn node(&self, node: &Node, at: usize, captures: &Captures, rest: Rest) -> Option<usize> {
        self.fuel.set(self.fuel.get().checked_sub(1)?);
        match node {
            Node::Empty => rest(at, captures),
            Node::Set(set) => {
                let c = *self.text.get(at)?;
                let has =
                    self.parsed.sets.get(*set).ranges().iter().any(|r| r.start() <= c && c <= r.end());
                if has {
                    rest(at + 1, captures)
                } else {
                    None
                }
            }
            Node::Text(text) if self.text.get(at..at + text.len()) == Some(text) => {
                rest(at + text.len(), captures)
            }
            Node::Concat(nodes) => self.concat(nodes, at, captures, rest),
            Node::Alternate(nodes) => nodes.iter().find_map(|node| self.node(node, at, captures, rest)),
            Node::Repeat(repeat) => self.repeat(repeat, 0, at, captures, rest),
            Node::Capture(group, body) => self.node(body, at, captures, &mut |end, captures| {
                let mut captures = captures.clone();
                captures[*group] = Some((at, end));
                rest(end, &captures)
            }),
            Node::Atomic(body) => {
                let (end, captures) = self.match_alone(body, at, captures, &|_| true)?;
                rest(end, &captures)
            }
            Node::Look(look) => match (self.look(look, at, captures), look.negate) {
                (Some(captures), false) => rest(at, &captures),
                (None, true) => rest(at, captures),
                _ => None,
            },
            Node::Anchor(anchor) if self.anchor_matches(*anchor, at) => rest(at, captures),
            Node::Text(_) | Node::Anchor(_) => None,
            Node::Reference(group) => {
                let (start, end) = captures[*group]?;
                let found = self.text.get(at..at + end - start) == self.text.get(start..end);
                if found {
                    rest(at + end - start, captures)
                } else {
                    None
                }
            }
        }
    }

    /// Match nodes in order.
    fn concat(&self, nodes: &[Node], at: usize, captures: &Captures, rest: Rest) -> Option<usize> {
        let Some((first, tail)) = nodes.split_first() else { return rest(at, captures) };
        self.node(first, at, captures, &mut |at, captures| self.concat(tail, at, captures, rest))
    }

    /// Return the first match of a single node whose end `may_end` accepts.
    fn match_alone(
        &self,
        node: &Node,
        at: usize,
        captures: &Captures,
        may_end: &dyn Fn(usize) -> bool,
    ) -> Option<(usize, Captures)> {
        let mut found = None;
        self.node(node, at, captures, &mut |end, captures| {
            if !may_end(end) {
                return None;
            }
            found = Some((end, captures.clone()));
            Some(end)
        })?;
        found
    }

    /// Match the body of look-around, and return the captures.
    fn look(&self, look: &Look, at: usize, captures: &Captures) -> Option<Captures> {
        if !look.behind {
            return self.match_alone(&look.body, at, captures, &|_| true).map(|found| found.1);
        }
        (0..=at)
            .rev()
            .find_map(|from| self.match_alone(&look.body, from, captures, &|end| end == at))
            .map(|found| found.1)
    }

    /// Match a repetition after `count` iterations.
    fn repeat(
        &self,
        repeat: &Repeat,
        count: u32,
        at: usize,
        captures: &Captures,
        rest: Rest,
    ) -> Option<usize> {
        let expansion = expansion(repeat);
        if expansion == Expansion::Empty || repeat.max == Some(count) {
            return rest(at, captures);
        }
        let must = count < repeat.min;
        let ends_when_empty = match expansion {
            Expansion::Counted => true,
            Expansion::CopiesThenLoop => !must,
            _ => false,
        };
        let iteration = |rest: Rest| {
            self.node(&repeat.body, at, captures, &mut |end, captures| match end == at && ends_when_empty {
                true => rest(end, captures),
                false => self.repeat(repeat, count.saturating_add(1), end, captures, rest),
            })
        };
        match (must, repeat.greedy) {
            (true, _) => iteration(rest),
            (false, true) => iteration(rest).or_else(|| rest(at, captures)),
            (false, false) => rest(at, captures).or_else(|| iteration(rest)),
        }
    }

    /// Return whether an anchor matches at a position.
    fn anchor_matches(&self, anchor: Anchor, at: usize) -> bool {
        let word = crate::char_classes::word();
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
