//! Parses quantifiers: `*`, `+`, `?`, `{n,m}`, lazy and possessive, and quantifiers after quantifiers.

use crate::ast::{Node, Repeat};
use crate::parse::{Options, Parser};
use crate::CompileError;

/// The largest number in a quantifier, as in Oniguruma.
const MAX_REPEAT: u32 = 100_000;

/// The most quantifiers after one atom.
const MAX_STACKED_QUANTIFIERS: usize = 10;

/// A quantifier.
pub(crate) struct Quantifier {
    min: u32,
    max: Option<u32>,
    greedy: bool,
    possessive: bool,
}

impl Parser {
    /// Parse the quantifiers that follow `node`, and apply them.
    pub(crate) fn quantified(&mut self, mut node: Node, options: Options) -> Result<Node, CompileError> {
        for _ in 0..MAX_STACKED_QUANTIFIERS {
            self.skip_extended_space(options);
            let Some(quantifier) = self.quantifier()? else { return Ok(node) };
            if !is_repeatable(&node) {
                return Err(self.malformed("a repeated assertion"));
            }
            node = self.apply_quantifier(node, &quantifier)?;
        }
        Err(self.unsupported("so many repetitions of one thing"))
    }

    /// Return whether a quantifier, or a malformed one, comes next. Read nothing.
    pub(crate) fn is_quantifier_next(&mut self, options: Options) -> bool {
        let start = self.at;
        self.skip_extended_space(options);
        let found = !matches!(self.quantifier(), Ok(None));
        self.at = start;
        found
    }

    /// Parse a quantifier if one comes next; otherwise reads nothing.
    pub(crate) fn quantifier(&mut self) -> Result<Option<Quantifier>, CompileError> {
        let start = self.at;
        let (min, max) = match self.next() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => match self.interval()? {
                Some(quantifier) => return Ok(Some(quantifier)),
                None => {
                    self.at = start;
                    return Ok(None);
                }
            },
            _ => {
                self.at = start;
                return Ok(None);
            }
        };
        let lazy = self.eat("?");
        let possessive = !lazy && self.eat("+");
        Ok(Some(Quantifier { min, max, greedy: !lazy, possessive }))
    }

    /// Parse the rest of `{n}`, `{n,}`, `{,m}` or `{n,m}`. Return `None` for anything else, which is
    /// literal text.
    fn interval(&mut self) -> Result<Option<Quantifier>, CompileError> {
        let low = self.number();
        let has_comma = self.eat(",");
        let high = if has_comma { self.number() } else { low };
        if !self.eat("}") || (low.is_none() && high.is_none()) {
            return Ok(None);
        }
        if low.max(high).is_some_and(|n| n > MAX_REPEAT) {
            return Err(self.malformed("a repetition of more than 100,000"));
        }
        let low = low.unwrap_or(0);
        // Swapped bounds mean a possessive quantifier.
        if let Some(high) = high.filter(|&high| high < low) {
            return Ok(Some(Quantifier { min: high, max: Some(low), greedy: true, possessive: true }));
        }
        // A plus after `{n,m}` is another quantifier. So is a question mark after `{n}` or `{m,n}`.
        let lazy = has_comma && self.eat("?");
        Ok(Some(Quantifier { min: low, max: high, greedy: !lazy, possessive: false }))
    }

    /// Parse a decimal number. Numbers that do not fit saturate.
    pub(crate) fn number(&mut self) -> Option<u32> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        let digits: String = self.chars[start..self.at].iter().collect();
        (!digits.is_empty()).then(|| digits.parse().unwrap_or(u32::MAX))
    }

    /// Skip the whitespace and the comments of extended expressions.
    fn skip_extended_space(&mut self, options: Options) {
        if !options.extended {
            return;
        }
        loop {
            match self.peek() {
                Some(' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}') => self.at += 1,
                Some('#') => while self.next().is_some_and(|c| c != '\n') {},
                _ => return,
            }
        }
    }

    /// Return the repetition of a node. Two nested repetitions are reduced as Oniguruma does.
    fn apply_quantifier(&self, node: Node, quantifier: &Quantifier) -> Result<Node, CompileError> {
        let Quantifier { min, mut max, greedy, possessive } = *quantifier;
        let atomic = |node| if possessive { Node::Atomic(Box::new(node)) } else { node };
        if (min, max) == (1, Some(1)) {
            return Ok(node);
        }
        let Node::Repeat(mut inner) = node else {
            return Ok(atomic(Node::Repeat(Box::new(Repeat { body: node, min, max, greedy }))));
        };
        match (simple_quantifier(inner.min, inner.max, inner.greedy), simple_quantifier(min, max, greedy)) {
            (Some(inside), Some(outside)) => {
                return Ok(atomic(reduce_nested(*inner, inside, outside)));
            }
            (Some(SimpleQuantifier::Star | SimpleQuantifier::Plus), None)
                if greedy && max.is_some_and(|max| max > 1) =>
            {
                max = Some(min.max(1));
            }
            (_, _) if Some(min) == max && Some(inner.min) == inner.max => {
                let count = min.checked_mul(inner.min).filter(|&n| n <= i32::MAX as u32);
                let Some(count) = count else { return Err(self.malformed("too large a repetition")) };
                (inner.min, inner.max, inner.greedy) = (count, Some(count), greedy);
                return Ok(atomic(Node::Repeat(inner)));
            }
            _ => {}
        }
        Ok(atomic(Node::Repeat(Box::new(Repeat { body: Node::Repeat(inner), min, max, greedy }))))
    }
}

/// Return whether Oniguruma lets a quantifier follow a node: not an assertion, also not as an alternative.
fn is_repeatable(node: &Node) -> bool {
    match node {
        Node::Anchor(_) | Node::Look(_) => false,
        Node::Alternate(nodes) => nodes.iter().all(is_repeatable),
        _ => true,
    }
}

/// The quantifiers that are written with one character, and their lazy forms.
#[derive(Clone, Copy, PartialEq)]
enum SimpleQuantifier {
    Optional,
    Star,
    Plus,
    LazyOptional,
    LazyStar,
    LazyPlus,
}

/// Return the simple quantifier with these bounds.
fn simple_quantifier(min: u32, max: Option<u32>, greedy: bool) -> Option<SimpleQuantifier> {
    Some(match (min, max, greedy) {
        (0, Some(1), true) => SimpleQuantifier::Optional,
        (0, None, true) => SimpleQuantifier::Star,
        (1, None, true) => SimpleQuantifier::Plus,
        (0, Some(1), false) => SimpleQuantifier::LazyOptional,
        (0, None, false) => SimpleQuantifier::LazyStar,
        (1, None, false) => SimpleQuantifier::LazyPlus,
        _ => return None,
    })
}

/// Reduce two nested simple quantifiers to what Oniguruma makes of them. The result does not always match
/// the same texts.
fn reduce_nested(inner: Repeat, inside: SimpleQuantifier, outside: SimpleQuantifier) -> Node {
    use SimpleQuantifier::{LazyOptional, LazyPlus, LazyStar, Optional, Plus, Star};
    let make = |body, min, max, greedy| Node::Repeat(Box::new(Repeat { body, min, max, greedy }));
    match (inside, outside) {
        (Optional, LazyPlus) => make(Node::Repeat(Box::new(inner)), 1, None, false),
        (Plus, LazyOptional) => make(Node::Repeat(Box::new(inner)), 0, Some(1), false),
        (LazyPlus, Optional) => make(Node::Repeat(Box::new(inner)), 0, Some(1), true),
        (Star, LazyOptional | LazyStar) | (Plus, LazyStar) => {
            make(make(inner.body, 1, None, true), 0, Some(1), false)
        }
        (Optional, Star | Plus) | (Plus, Optional | Star) | (LazyPlus, Star) => {
            make(inner.body, 0, None, true)
        }
        (LazyPlus, Plus) => make(inner.body, 1, None, true),
        (Optional, LazyOptional) => make(inner.body, 0, Some(1), false),
        (Optional, LazyStar)
        | (LazyOptional, Star | Plus | LazyStar | LazyPlus)
        | (LazyPlus, LazyOptional | LazyStar) => make(inner.body, 0, None, false),
        _ => Node::Repeat(Box::new(inner)),
    }
}
