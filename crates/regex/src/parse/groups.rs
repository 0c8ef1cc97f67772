//! Parses groups, options, look-around, atomic groups and backreferences.

use crate::ast::{Anchor, CharLength, Look, Node, Repeat};
use crate::parse::{Atom, Options, Parser};
use crate::CompileError;

impl Parser {
    /// Parse `(?i)` and the like, which apply up to the end of the group. Otherwise reads nothing.
    pub(crate) fn isolated_options(&mut self, options: Options) -> Result<Option<Options>, CompileError> {
        let start = self.at;
        if self.eat("(?") && self.peek().is_some_and(|c| matches!(c, 'i' | 'm' | 'x' | '-')) {
            let changed = self.options(options)?;
            if self.eat(")") {
                return Ok(Some(changed));
            }
        }
        self.at = start;
        Ok(None)
    }

    /// Parse option letters up to `:` or `)`, which is not read.
    fn options(&mut self, mut options: Options) -> Result<Options, CompileError> {
        let mut on = true;
        loop {
            match self.peek() {
                Some('-') => on = false,
                Some('i') => options.ignore_case = on,
                Some('m') => options.dot_matches_newline = on,
                Some('x') => options.extended = on,
                Some(':' | ')') => return Ok(options),
                _ => return Err(self.unsupported("a group option other than i, m and x")),
            }
            self.at += 1;
        }
    }

    /// Parse the rest of a group.
    pub(crate) fn group(&mut self, options: Options) -> Result<Atom, CompileError> {
        if !self.eat("?") {
            return match (self.peek(), self.has_names) {
                (Some('*'), _) => Err(self.unsupported("a callout")),
                (_, true) => Ok(Atom::Node(self.group_body(options)?)),
                (_, false) => self.capturing(options),
            };
        }
        if self.eat("#") {
            return self.comment();
        }
        if let Some(look) = self.look_around(options)? {
            return Ok(Atom::Node(look));
        }
        if self.eat(">") {
            return Ok(Atom::Node(Node::Atomic(Box::new(self.group_body(options)?))));
        }
        if self.eat("<") {
            return self.named_group(options);
        }
        if self.eat(":") {
            return Ok(Atom::Node(self.group_body(options)?));
        }
        if !matches!(self.peek(), Some('i' | 'm' | 'x' | '-')) {
            return Err(self.unsupported("this kind of group"));
        }
        let options = self.options(options)?;
        if !self.eat(":") {
            return Err(self.malformed("a group option without an end"));
        }
        Ok(Atom::Node(Node::Concat(vec![self.group_body(options)?])))
    }

    /// Skip the rest of a comment.
    fn comment(&mut self) -> Result<Atom, CompileError> {
        while let Some(c) = self.next() {
            match c {
                '\\' => drop(self.next()),
                ')' => return Ok(Atom::Empty),
                _ => {}
            }
        }
        Err(self.malformed("a comment without an end"))
    }

    /// Parse the rest of look-around, if the group is one.
    fn look_around(&mut self, options: Options) -> Result<Option<Node>, CompileError> {
        for (opening, behind, negate) in
            [("=", false, false), ("!", false, true), ("<=", true, false), ("<!", true, true)]
        {
            if self.eat(opening) {
                let in_look_behind = options.in_look_behind || behind;
                let body = self.group_body(Options { in_look_behind, ..options })?;
                return match behind {
                    true => look_behind(body, negate, self).map(Some),
                    false => Ok(Some(look_ahead(body, negate))),
                };
            }
        }
        Ok(None)
    }

    /// Parse the rest of a named group.
    fn named_group(&mut self, options: Options) -> Result<Atom, CompileError> {
        let name = self.name('>')?;
        if self.names.contains(&name) {
            return Err(self.unsupported("a name for two groups"));
        }
        self.names.push(name);
        self.capturing(options)
    }

    /// Parse the body of a capturing group.
    fn capturing(&mut self, options: Options) -> Result<Atom, CompileError> {
        self.groups += 1;
        let group = self.groups;
        self.open.push(group);
        self.nullable.resize(group + 1, true);
        self.group_lengths.resize(group + 1, CharLength::ANY);
        let body = self.group_body(options)?;
        self.nullable[group] = body.is_nullable(&self.nullable);
        self.group_lengths[group] = CharLength::of(&body, &self.group_lengths);
        self.open.pop();
        Ok(Atom::Node(Node::Capture(group, Box::new(body))))
    }

    /// Parse a group name up to the character `end`.
    fn name(&mut self, end: char) -> Result<String, CompileError> {
        let mut name = String::new();
        loop {
            match self.next() {
                Some(c) if c == end && !name.is_empty() => return Ok(name),
                Some(c) if c == '_' || c.is_alphabetic() || (!name.is_empty() && c.is_alphanumeric()) => {
                    name.push(c);
                }
                _ => return Err(self.malformed("not a group name")),
            }
        }
    }

    /// Parse alternatives and the closing parenthesis.
    fn group_body(&mut self, options: Options) -> Result<Node, CompileError> {
        let inner = self.alternation(options)?;
        if !self.eat(")") {
            return Err(self.malformed("a group without an end"));
        }
        Ok(inner)
    }

    /// Parse the number of a backreference.
    pub(crate) fn backreference(&mut self, options: Options) -> Result<Atom, CompileError> {
        let number = self.number().unwrap_or(0) as usize;
        if self.has_names {
            return Err(self.unsupported("this reference to a group"));
        }
        self.reference(number, options)
    }

    /// Parse the rest of `\k<name>`.
    pub(crate) fn named_backreference(&mut self, options: Options) -> Result<Atom, CompileError> {
        if !self.eat("k<") {
            return Err(self.unsupported("this reference to a group"));
        }
        let name = self.name('>')?;
        let number = self.names.iter().position(|known| *known == name).map_or(usize::MAX, |at| at + 1);
        self.reference(number, options)
    }

    /// Return a reference to a closed group. References that ignore case are not supported.
    fn reference(&mut self, number: usize, options: Options) -> Result<Atom, CompileError> {
        if number > self.groups || options.ignore_case || self.open.contains(&number) {
            return Err(self.unsupported("this reference to a group"));
        }
        Ok(Atom::Node(Node::Reference(number)))
    }
}

/// The most characters that look-behind may step back, as in Oniguruma.
const MAX_STEP: u32 = 65_535;

/// The most bytes of a repeated text that Oniguruma writes out.
const MAX_EXPANDED: usize = 100;

/// Return a look-ahead node.
pub(crate) fn look_ahead(body: Node, negate: bool) -> Node {
    Node::Look(Box::new(Look { body, behind: false, negate, length: (0, None) }))
}

/// Return a look-behind node, or an error where Oniguruma rejects it.
pub(crate) fn look_behind(body: Node, negate: bool, parser: &Parser) -> Result<Node, CompileError> {
    if body.any(&|node| is_forbidden(node, negate)) {
        return Err(parser.malformed("look-behind with something in it that cannot be there"));
    }
    let mut body = body;
    if drop_optional_prefixes(&mut body) {
        return Err(parser.malformed("look-behind that is a sequence of optional items only"));
    }
    let length = CharLength::of(&body, &parser.group_lengths);
    if length.min > MAX_STEP || length.max.is_some_and(|max| max > MAX_STEP) {
        return Err(parser.malformed("look-behind that reads too far"));
    }
    if length.min == 0 && length.min_is_exact {
        // It matches the empty text, even where a possessive repetition would read too far.
        return Ok(empty_look_behind(body, negate));
    }
    Ok(Node::Look(Box::new(Look { body, behind: true, negate, length: (length.min, length.max) })))
}

/// Return whether Oniguruma rejects a node inside look-behind.
fn is_forbidden(node: &Node, negate: bool) -> bool {
    match node {
        Node::Look(look) => !look.behind || (look.negate && !negate),
        Node::Anchor(anchor) => matches!(anchor, Anchor::TextEnd | Anchor::TextEndOrLastLine),
        Node::Capture(..) => negate,
        _ => false,
    }
}

/// Return look-behind that matches the empty text. Its groups remain, because negative look-behind around it rejects them.
fn empty_look_behind(body: Node, negate: bool) -> Node {
    let has_groups = body.any(&|node| matches!(node, Node::Capture(..)));
    let never = || Node::Repeat(Box::new(Repeat { body, min: 0, max: Some(0), greedy: true }));
    let body = if has_groups { never() } else { Node::Empty };
    Node::Look(Box::new(Look { body, behind: true, negate, length: (0, Some(0)) }))
}

/// Remove the optional iterations at the start of look-behind, or of its alternatives. They cannot change whether it
/// matches. Return whether all items of a sequence were removed, which Oniguruma rejects.
fn drop_optional_prefixes(body: &mut Node) -> bool {
    match body {
        Node::Alternate(nodes) => nodes.iter_mut().any(drop_optional_prefixes),
        Node::Concat(nodes) => drop_optional_prefix(nodes),
        node => {
            drop_optional_iterations(node);
            false
        }
    }
}

/// Remove the optional iterations at the start of a sequence. Return whether that was all of it. A sequence at the end is
/// part of it, but a single node is a group with options.
fn drop_optional_prefix(nodes: &mut [Node]) -> bool {
    let [others @ .., last] = nodes else { return false };
    others.iter_mut().all(drop_optional_iterations)
        && !others.is_empty()
        && match last {
            Node::Concat(nodes) => drop_optional_prefix(nodes),
            last => drop_optional_iterations(last),
        }
}

/// Reduce a repetition of a single item to its least count. Return whether that is zero.
fn drop_optional_iterations(node: &mut Node) -> bool {
    let Node::Repeat(repeat) = node else { return false };
    if !matches!(repeat.body, Node::Set(_) | Node::Text(_) | Node::Reference(_))
        && !is_expanded(&repeat.body)
    {
        return false;
    }
    repeat.max = Some(repeat.min);
    repeat.min == 0
}

/// Return whether Oniguruma turns a repetition of text into text.
fn is_expanded(node: &Node) -> bool {
    let Node::Repeat(repeat) = node else { return false };
    let Node::Text(text) = &repeat.body else { return false };
    let bytes: usize = text.iter().map(|c| c.len_utf8()).sum();
    repeat.max == Some(repeat.min) && bytes.saturating_mul(repeat.min as usize) <= MAX_EXPANDED
}
