//! Reads a regular expression in Oniguruma's syntax (its manual, doc/RE) into a tree.
//!
//! Options are resolved where they apply, sets are made at once. Rare constructs (subroutine calls, absent
//! functions, grapheme clusters, conditionals, callouts, `\K`) are refused. Linear in the length of the
//! expression and of its sets; nesting is bounded.

mod brackets;
mod case_folding;
mod escapes;
mod groups;
mod look_around;
mod quantifiers;

use crate::ast::{Anchor, Node};
use crate::error::CompileError;
use crate::parse::look_around::CharLength;
use crate::set_interner::SetInterner;

/// An expression that was read.
pub(crate) struct ParsedExpression {
    pub(crate) root: Node,
    pub(crate) sets: SetInterner,
    /// For each group, from 1 on, whether it can match the empty text.
    pub(crate) nullable_groups: Vec<bool>,
}

/// Groups and brackets within each other, at most.
pub(crate) const MAX_DEPTH: usize = 50;

/// Characters of an expression, at most.
const MAX_CHARS: usize = 1 << 16;

/// Read an expression.
pub(crate) fn parse(source: &str) -> Result<ParsedExpression, CompileError> {
    let chars: Vec<char> = source.chars().collect();
    let mut parser = Parser { has_names: has_named_groups(&chars), chars, ..Parser::default() };
    if parser.chars.len() > MAX_CHARS {
        return Err(parser.unsupported("an expression of more than 65,536 characters"));
    }
    let root = parser.alternation(Options::default())?;
    match parser.peek() {
        None => Ok(ParsedExpression { root, sets: parser.sets, nullable_groups: parser.nullable }),
        Some(_) => Err(parser.malformed("a closing parenthesis without an opening one")),
    }
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Options {
    pub(crate) ignore_case: bool,
    pub(crate) dot_matches_newline: bool,
    pub(crate) extended: bool,
    /// Not written by the user: text in look-behind is folded by single characters only.
    pub(crate) in_look_behind: bool,
}

#[derive(Default)]
pub(crate) struct Parser {
    pub(crate) chars: Vec<char>,
    pub(crate) at: usize,
    pub(crate) depth: usize,
    pub(crate) sets: SetInterner,
    /// Where groups have names, plain parentheses do not capture.
    pub(crate) has_names: bool,
    pub(crate) names: Vec<String>,
    pub(crate) groups: usize,
    /// Numbers of the capturing groups that have not ended yet; they cannot be referenced to.
    pub(crate) open: Vec<usize>,
    /// What groups can match, by number.
    pub(crate) nullable: Vec<bool>,
    pub(crate) group_lengths: Vec<CharLength>,
}

/// Something that can be quantified.
pub(crate) enum Atom {
    /// A literal character; neighbours matter when case does not.
    Literal(char),
    Node(Node),
    /// Nothing at all, such as a comment.
    Empty,
}

impl Parser {
    pub(crate) fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    pub(crate) fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += usize::from(c.is_some());
        c
    }

    pub(crate) fn eat(&mut self, text: &str) -> bool {
        let len = text.chars().count();
        let found = self.chars.iter().skip(self.at).copied().take(len).eq(text.chars());
        self.at += if found { len } else { 0 };
        found
    }

    pub(crate) fn malformed(&self, what: &str) -> CompileError {
        CompileError { found: format!("{what} at character {}", self.at), expected: "a regular expression" }
    }

    pub(crate) fn unsupported(&self, what: &str) -> CompileError {
        let expected = "a regular expression without subroutines, absent functions, \\K and the like";
        CompileError { found: format!("{what} at character {} is not supported", self.at), expected }
    }

    /// Alternatives up to the end or a closing parenthesis, which stays.
    pub(crate) fn alternation(&mut self, mut options: Options) -> Result<Node, CompileError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.malformed("groups nested too deeply"));
        }
        let (mut branches, mut nodes, mut literal) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(c) = self.peek().filter(|&c| c != ')') {
            if c == '|' {
                self.at += 1;
                self.flush_literal(&mut literal, options, &mut nodes);
                branches.push(Node::concat(std::mem::take(&mut nodes)));
            } else if let Some(changed) = self.isolated_options(options)? {
                // The rest of the group is a group of its own.
                self.flush_literal(&mut literal, options, &mut nodes);
                options = changed;
                nodes.push(Node::Concat(vec![self.alternation(options)?]));
            } else {
                self.term(options, &mut literal, &mut nodes)?;
            }
        }
        self.flush_literal(&mut literal, options, &mut nodes);
        branches.push(Node::concat(nodes));
        self.depth -= 1;
        Ok(Node::alternate(branches))
    }

    /// Literal characters so far become a node.
    fn flush_literal(&mut self, literal: &mut Vec<char>, options: Options, nodes: &mut Vec<Node>) {
        if !literal.is_empty() {
            nodes.push(case_folding::literal(
                literal,
                options.ignore_case,
                options.in_look_behind,
                &mut self.sets,
            ));
            literal.clear();
        }
    }

    /// One atom with its repetitions.
    fn term(
        &mut self,
        options: Options,
        literal: &mut Vec<char>,
        nodes: &mut Vec<Node>,
    ) -> Result<(), CompileError> {
        let node = match self.atom(options)? {
            Atom::Empty => return Ok(()),
            Atom::Literal(c) => {
                if !self.is_quantifier_next(options) {
                    literal.push(c);
                    return Ok(());
                }
                case_folding::literal(&[c], options.ignore_case, options.in_look_behind, &mut self.sets)
            }
            Atom::Node(node) => node,
        };
        self.flush_literal(literal, options, nodes);
        let node = self.quantified(node, options)?;
        nodes.push(node);
        Ok(())
    }

    fn atom(&mut self, options: Options) -> Result<Atom, CompileError> {
        let Some(c) = self.next() else { return Ok(Atom::Empty) };
        Ok(match c {
            '\\' => return self.escape(options),
            '[' => Atom::Node(self.brackets(options)?),
            '(' => return self.group(options),
            '.' => Atom::Node(self.dot(options.dot_matches_newline)),
            '^' => Atom::Node(Node::Anchor(Anchor::LineStart)),
            '$' => Atom::Node(Node::Anchor(Anchor::LineEnd)),
            '*' | '+' | '?' => return Err(self.malformed("nothing to repeat")),
            '{' => {
                self.at -= 1;
                if self.quantifier()?.is_some() {
                    return Err(self.malformed("nothing to repeat"));
                }
                self.at += 1;
                Atom::Literal(c)
            }
            '#' if options.extended => {
                while self.next().is_some_and(|c| c != '\n') {}
                Atom::Empty
            }
            ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}' if options.extended => Atom::Empty,
            _ => Atom::Literal(c),
        })
    }
}

fn has_named_groups(chars: &[char]) -> bool {
    chars.windows(4).any(|w| w[..3] == ['(', '?', '<'] && !matches!(w[3], '=' | '!'))
}
