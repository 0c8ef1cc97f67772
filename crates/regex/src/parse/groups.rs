//! Parses groups, options, look-around, atomic groups and backreferences.

use crate::ast::Node;
use crate::error::CompileError;
use crate::parse::char_length::CharLength;
use crate::parse::look_around;
use crate::parse::{Atom, Options, Parser};

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
                    true => look_around::look_behind(body, negate, self).map(Some),
                    false => Ok(Some(look_around::look_ahead(body, negate))),
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
