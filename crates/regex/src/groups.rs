//! Reads groups: options, names, look-around, atomic groups and references to groups.

use super::ast::Node;
use super::error::CompileError;
use super::look_behind;
use super::oniguruma::{Atom, Options, Reader};

impl Reader {
    /// `(?i)` and the like, which hold to the end of the group.
    pub(super) fn isolated_options(&mut self, options: Options) -> Result<Option<Options>, CompileError> {
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

    /// The rest of a group.
    pub(super) fn group(&mut self, options: Options) -> Result<Atom, CompileError> {
        if !self.eat("?") {
            return match (self.peek(), self.has_names) {
                (Some('*'), _) => Err(self.unsupported("a callout")),
                (_, true) => Ok(Atom::Unit(self.closed(options)?)),
                (_, false) => self.capturing(options),
            };
        }
        if self.eat("#") {
            return self.comment();
        }
        if let Some(look) = self.look_around(options)? {
            return Ok(Atom::Unit(look));
        }
        if self.eat(">") {
            return Ok(Atom::Unit(Node::Atomic(Box::new(self.closed(options)?))));
        }
        if self.eat("<") {
            return self.named_group(options);
        }
        if self.eat(":") {
            return Ok(Atom::Unit(self.closed(options)?));
        }
        if !matches!(self.peek(), Some('i' | 'm' | 'x' | '-')) {
            return Err(self.unsupported("this kind of group"));
        }
        let options = self.options(options)?;
        if !self.eat(":") {
            return Err(self.malformed("a group option without an end"));
        }
        Ok(Atom::Unit(Node::Concat(vec![self.closed(options)?])))
    }

    fn comment(&mut self) -> Result<Atom, CompileError> {
        while let Some(c) = self.next() {
            match c {
                '\\' => drop(self.next()),
                ')' => return Ok(Atom::Nothing),
                _ => {}
            }
        }
        Err(self.malformed("a comment without an end"))
    }

    fn look_around(&mut self, options: Options) -> Result<Option<Node>, CompileError> {
        for (opening, behind, negate) in
            [("=", false, false), ("!", false, true), ("<=", true, false), ("<!", true, true)]
        {
            if self.eat(opening) {
                let in_look_behind = options.in_look_behind || behind;
                let body = self.closed(Options { in_look_behind, ..options })?;
                return match behind {
                    true => look_behind::behind(body, negate, self).map(Some),
                    false => Ok(Some(look_behind::ahead(body, negate))),
                };
            }
        }
        Ok(None)
    }

    fn named_group(&mut self, options: Options) -> Result<Atom, CompileError> {
        let name = self.name('>')?;
        if self.names.contains(&name) {
            return Err(self.unsupported("a name for two groups"));
        }
        self.names.push(name);
        self.capturing(options)
    }

    fn capturing(&mut self, options: Options) -> Result<Atom, CompileError> {
        self.groups += 1;
        let group = self.groups;
        self.open.push(group);
        self.nullable.resize(group + 1, true);
        self.group_chars.resize(group + 1, look_behind::Chars::ANY);
        let body = self.closed(options)?;
        self.nullable[group] = body.is_nullable(&self.nullable);
        self.group_chars[group] = look_behind::Chars::of(&body, &self.group_chars);
        self.open.pop();
        Ok(Atom::Unit(Node::Capture(group, Box::new(body))))
    }

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

    fn closed(&mut self, options: Options) -> Result<Node, CompileError> {
        let inner = self.alternatives(options)?;
        if !self.eat(")") {
            return Err(self.malformed("a group without an end"));
        }
        Ok(inner)
    }

    pub(super) fn backreference(&mut self, options: Options) -> Result<Atom, CompileError> {
        let number = self.number().unwrap_or(0) as usize;
        if self.has_names {
            return Err(self.unsupported("this reference to a group"));
        }
        self.reference(number, options)
    }

    pub(super) fn named_backreference(&mut self, options: Options) -> Result<Atom, CompileError> {
        if !self.eat("k<") {
            return Err(self.unsupported("this reference to a group"));
        }
        let name = self.name('>')?;
        let number = self.names.iter().position(|known| *known == name).map_or(usize::MAX, |at| at + 1);
        self.reference(number, options)
    }

    fn reference(&mut self, number: usize, options: Options) -> Result<Atom, CompileError> {
        if number > self.groups || options.ignore_case || self.open.contains(&number) {
            return Err(self.unsupported("this reference to a group"));
        }
        Ok(Atom::Unit(Node::Reference(number)))
    }
}
