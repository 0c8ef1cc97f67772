//! Parses Oniguruma's syntax (its manual, doc/RE) into a syntax tree.
//!
//! Options are resolved where they apply, and character sets are built at once. The parser rejects rare
//! constructs: subroutine calls, absent functions, grapheme clusters, conditionals, callouts and `\K`.
//! Time is linear in the length of the expression and of its sets. Nesting is limited.

mod brackets;
mod case_folding;
mod escapes;
mod groups;
mod quantifiers;

use crate::ast::{Anchor, CharLength, Node};
use crate::char_classes::SetInterner;
use crate::CompileError;

/// A parsed expression.
pub(crate) struct ParsedExpression {
    pub(crate) root: Node,
    pub(crate) sets: SetInterner,
    /// By group number: whether the group can match the empty text.
    pub(crate) nullable_groups: Vec<bool>,
}

/// The deepest nesting of groups and of brackets.
pub(crate) const MAX_DEPTH: usize = 50;

/// The longest expression, in characters.
const MAX_CHARS: usize = 1 << 16;

/// Parse an expression.
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

/// The options that apply at a point of the expression.
#[derive(Clone, Copy, Default)]
pub(crate) struct Options {
    pub(crate) ignore_case: bool,
    pub(crate) dot_matches_newline: bool,
    pub(crate) extended: bool,
    /// Set inside look-behind, where case folding maps one character to one only.
    pub(crate) in_look_behind: bool,
}

/// The state of parsing one expression.
#[derive(Default)]
pub(crate) struct Parser {
    pub(crate) chars: Vec<char>,
    /// The index of the next character.
    pub(crate) at: usize,
    pub(crate) depth: usize,
    pub(crate) sets: SetInterner,
    /// Whether any group has a name; plain parentheses do not capture then.
    pub(crate) has_names: bool,
    pub(crate) names: Vec<String>,
    pub(crate) groups: usize,
    /// The capturing groups that are still open. They cannot be referenced.
    pub(crate) open: Vec<usize>,
    /// By group number: whether the group can match the empty text.
    pub(crate) nullable: Vec<bool>,
    /// By group number: how many characters the group matches.
    pub(crate) group_lengths: Vec<CharLength>,
}

/// What a quantifier can follow.
pub(crate) enum Atom {
    /// A literal character, kept apart from nodes because case folding depends on its neighbours.
    Literal(char),
    /// Any other node.
    Node(Node),
    /// Nothing, for a comment or skipped whitespace.
    Empty,
}

impl Parser {
    /// Return the next character without reading it.
    pub(crate) fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    /// Read the next character.
    pub(crate) fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += usize::from(c.is_some());
        c
    }

    /// Read `text` if it comes next. Return whether it did.
    pub(crate) fn eat(&mut self, text: &str) -> bool {
        let len = text.chars().count();
        let found = self.chars.iter().skip(self.at).copied().take(len).eq(text.chars());
        self.at += if found { len } else { 0 };
        found
    }

    /// Return the error for wrong syntax at this position.
    pub(crate) fn malformed(&self, what: &str) -> CompileError {
        CompileError { found: format!("{what} at character {}", self.at), expected: "a regular expression" }
    }

    /// Return the error for syntax that this matcher does not support.
    pub(crate) fn unsupported(&self, what: &str) -> CompileError {
        let expected = "a regular expression without subroutines, absent functions, \\K and the like";
        CompileError { found: format!("{what} at character {} is not supported", self.at), expected }
    }

    /// Parse alternatives up to the end or a closing parenthesis, which is not read.
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
                // The options apply to a group that contains the rest of this one.
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

    /// Turn the literal characters read so far into a node.
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

    /// Parse one atom and its quantifiers.
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

    /// Parse one atom. A literal is returned as such.
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

/// Return whether an expression contains a named group.
fn has_named_groups(chars: &[char]) -> bool {
    chars.windows(4).any(|w| w[..3] == ['(', '?', '<'] && !matches!(w[3], '=' | '!'))
}
