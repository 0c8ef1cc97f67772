//! Parses bracket expressions: members, ranges, nested brackets, `&&`, POSIX classes and properties.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use crate::ast::Node;
use crate::char_classes;
use crate::parse::case_folding::sequences_of;
use crate::parse::{Options, Parser, MAX_DEPTH};
use crate::CompileError;

/// Ranges of a bracket expression that are collected before they are sorted and merged.
const MAX_UNSORTED_RANGES: usize = 1 << 18;

impl Parser {
    /// Parse `{name}` after `\p` or `\P`.
    pub(crate) fn property(&mut self, negate: bool) -> Result<ClassUnicode, CompileError> {
        if !self.eat("{") {
            return Err(self.unsupported("a property without braces"));
        }
        let negate = self.eat("^") != negate;
        let start = self.at;
        while self.next().is_some_and(|c| c != '}') {}
        let name: String = self.chars[start..self.at.saturating_sub(1).max(start)].iter().collect();
        match self.sets.named(&name, || char_classes::property(&name)) {
            Some(set) => Ok(char_classes::negate_if(set, negate)),
            None => Err(self.unsupported(&format!("the property {name:?}"))),
        }
    }

    /// Parse the rest of a bracket expression. Without regard to case, its members may also match
    /// sequences.
    pub(crate) fn brackets(&mut self, options: Options) -> Result<Node, CompileError> {
        let (mut set, negate) = self.set()?;
        let mut branches = Vec::new();
        if options.ignore_case {
            if !negate {
                branches = sequences_of(&set, &mut self.sets);
            }
            char_classes::fold_case(&mut set);
        }
        let set = char_classes::negate_if(set, negate);
        branches.insert(0, Node::Set(self.sets.id(&set)));
        Ok(Node::alternate(branches))
    }

    /// Parse the rest of a bracket expression. Return the set and whether it is negated.
    fn set(&mut self) -> Result<(ClassUnicode, bool), CompileError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.malformed("brackets nested too deeply"));
        }
        let negate = self.eat("^");
        let mut whole: Option<ClassUnicode> = None;
        let mut part = Vec::new();
        let mut is_first = true;
        loop {
            if self.eat("&&") {
                intersect(&mut whole, std::mem::take(&mut part));
                is_first = false;
                continue;
            }
            match self.peek() {
                None => return Err(self.malformed("brackets without an end")),
                Some(']') if !is_first => break,
                Some(_) => self.member(&mut part)?,
            }
            is_first = false;
        }
        self.at += 1;
        self.depth -= 1;
        intersect(&mut whole, part);
        Ok((whole.unwrap_or_else(ClassUnicode::empty), negate))
    }

    /// Parse one member or range and add it to `part`.
    fn member(&mut self, part: &mut Vec<ClassUnicodeRange>) -> Result<(), CompileError> {
        let first = match self.member_start()? {
            Ok(c) => c,
            Err(set) => {
                add_ranges(part, &set);
                // A hyphen after a set is a literal hyphen.
                if self.eat("-") {
                    if self.peek() != Some(']') && self.peek().is_some_and(|c| c != '&') {
                        return Err(self.unsupported("a hyphen after a set"));
                    }
                    add_ranges(part, &char_classes::single('-'));
                }
                return Ok(());
            }
        };
        let is_range = self.peek() == Some('-')
            && self.chars.get(self.at + 1).is_some_and(|&c| c != ']')
            && self.chars.get(self.at + 1..self.at + 3) != Some(&['&', '&']);
        if !is_range {
            add_ranges(part, &char_classes::single(first));
            return Ok(());
        }
        self.at += 1;
        let Ok(last) = self.member_start()? else {
            return Err(self.malformed("a range that ends with a set"));
        };
        if first > last {
            return Err(self.malformed("a range that ends before it begins"));
        }
        add_ranges(part, &char_classes::range(first, last));
        Ok(())
    }

    /// Parse a single character or a set.
    fn member_start(&mut self) -> Result<Result<char, ClassUnicode>, CompileError> {
        let c = self.next().unwrap_or(']');
        if c == '[' {
            if self.peek() == Some(':') {
                if let Some(set) = self.posix()? {
                    return Ok(Err(set));
                }
            }
            let (set, negate) = self.set()?;
            return Ok(Err(char_classes::negate_if(set, negate)));
        }
        if c != '\\' {
            return Ok(Ok(c));
        }
        let Some(c) = self.peek() else { return Err(self.malformed("a backslash at the end")) };
        if let Some(set) = self.letter_escape_set(c, true) {
            self.at += 1;
            return Ok(Err(set));
        }
        match c {
            'p' | 'P' => {
                self.at += 1;
                self.property(c == 'P').map(Err)
            }
            'b' => {
                self.at += 1;
                Ok(Ok('\u{8}'))
            }
            'R' | 'X' | 'N' | 'O' => Err(self.unsupported("this escape")),
            _ => self.escaped_char().map(Ok),
        }
    }

    /// Parse the rest of `[:name:]`. Return `None` and read nothing if it is not one.
    fn posix(&mut self) -> Result<Option<ClassUnicode>, CompileError> {
        let start = self.at;
        self.at += 1;
        let negate = self.eat("^");
        let name_start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_alphabetic()) {
            self.at += 1;
        }
        let name: String = self.chars[name_start..self.at].iter().collect();
        if !self.eat(":]") {
            self.at = start;
            return Ok(None);
        }
        match self.sets.named(&format!("[:{name}:]"), || char_classes::posix(&name)) {
            Some(set) => Ok(Some(char_classes::negate_if(set, negate))),
            None => Err(self.unsupported(&format!("the class {name:?}"))),
        }
    }
}

/// Intersect `whole` with `part`.
fn intersect(whole: &mut Option<ClassUnicode>, part: Vec<ClassUnicodeRange>) {
    let part = ClassUnicode::new(part);
    match whole {
        Some(whole) => whole.intersect(&part),
        None => *whole = Some(part),
    }
}

/// Add the ranges of a set, and merge them when there are too many.
fn add_ranges(part: &mut Vec<ClassUnicodeRange>, set: &ClassUnicode) {
    part.extend_from_slice(set.ranges());
    if part.len() > MAX_UNSORTED_RANGES {
        *part = ClassUnicode::new(part.drain(..)).ranges().to_vec();
    }
}
