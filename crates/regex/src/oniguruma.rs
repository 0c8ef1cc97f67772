//! Reads a regular expression in Oniguruma's syntax (its manual, doc/RE) into a tree.
//!
//! Options are resolved where they apply, sets are made at once. Rare constructs (subroutine calls, absent
//! functions, grapheme clusters, conditionals, callouts, `\K`) are refused. Linear in the length of the
//! expression and of its sets; nesting is bounded.

use super::ast::{Anchor, Node};
use super::error::CompileError;
use super::literal;
use super::look_behind::Chars;
use super::sets::Sets;

/// An expression that was read.
pub(super) struct Parsed {
    pub(super) root: Node,
    pub(super) sets: Sets,
    /// For each group, from 1 on, whether it can match the empty text.
    pub(super) nullable_groups: Vec<bool>,
}

/// Groups and brackets within each other, at most.
pub(super) const MAX_DEPTH: usize = 50;

/// Characters of an expression, at most.
const MAX_CHARS: usize = 1 << 16;

/// Read an expression.
pub(super) fn read(source: &str) -> Result<Parsed, CompileError> {
    let chars: Vec<char> = source.chars().collect();
    let mut reader = Reader { has_names: has_named_groups(&chars), chars, ..Reader::default() };
    if reader.chars.len() > MAX_CHARS {
        return Err(reader.unsupported("an expression of more than 65,536 characters"));
    }
    let root = reader.alternatives(Options::default())?;
    match reader.peek() {
        None => Ok(Parsed { root, sets: reader.sets, nullable_groups: reader.nullable }),
        Some(_) => Err(reader.malformed("a closing parenthesis without an opening one")),
    }
}

#[derive(Clone, Copy, Default)]
pub(super) struct Options {
    pub(super) ignore_case: bool,
    pub(super) dot_matches_newline: bool,
    pub(super) extended: bool,
    /// Not written by the user: text in look-behind is folded by single characters only.
    pub(super) in_look_behind: bool,
}

#[derive(Default)]
pub(super) struct Reader {
    pub(super) chars: Vec<char>,
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) sets: Sets,
    /// Where groups have names, plain parentheses do not capture.
    pub(super) has_names: bool,
    pub(super) names: Vec<String>,
    pub(super) groups: usize,
    /// Numbers of the capturing groups that have not ended yet; they cannot be referred to.
    pub(super) open: Vec<usize>,
    /// What groups can match, by number.
    pub(super) nullable: Vec<bool>,
    pub(super) group_chars: Vec<Chars>,
}

/// Something that can be repeated.
pub(super) enum Atom {
    /// A literal character; neighbours matter when case does not.
    Literal(char),
    Unit(Node),
    /// Nothing at all, such as a comment.
    Nothing,
}

impl Reader {
    pub(super) fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += usize::from(c.is_some());
        c
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let len = text.chars().count();
        let found = self.chars.iter().skip(self.at).copied().take(len).eq(text.chars());
        self.at += if found { len } else { 0 };
        found
    }

    pub(super) fn malformed(&self, what: &str) -> CompileError {
        CompileError { found: format!("{what} at character {}", self.at), expected: "a regular expression" }
    }

    pub(super) fn unsupported(&self, what: &str) -> CompileError {
        let expected = "a regular expression without subroutines, absent functions, \\K and the like";
        CompileError { found: format!("{what} at character {} is not supported", self.at), expected }
    }

    /// Alternatives up to the end or a closing parenthesis, which stays.
    pub(super) fn alternatives(&mut self, mut options: Options) -> Result<Node, CompileError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.malformed("groups nested too deeply"));
        }
        let (mut branches, mut nodes, mut run) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(c) = self.peek().filter(|&c| c != ')') {
            if c == '|' {
                self.at += 1;
                self.flush(&mut run, options, &mut nodes);
                branches.push(Node::concat(std::mem::take(&mut nodes)));
            } else if let Some(changed) = self.isolated_options(options)? {
                // The rest of the group is a group of its own.
                self.flush(&mut run, options, &mut nodes);
                options = changed;
                nodes.push(Node::Concat(vec![self.alternatives(options)?]));
            } else {
                self.item(options, &mut run, &mut nodes)?;
            }
        }
        self.flush(&mut run, options, &mut nodes);
        branches.push(Node::concat(nodes));
        self.depth -= 1;
        Ok(Node::alternate(branches))
    }

    /// Literal characters so far become a node.
    fn flush(&mut self, run: &mut Vec<char>, options: Options, nodes: &mut Vec<Node>) {
        if !run.is_empty() {
            nodes.push(literal::text(run, options.ignore_case, options.in_look_behind, &mut self.sets));
            run.clear();
        }
    }

    /// One atom with its repetitions.
    fn item(
        &mut self,
        options: Options,
        run: &mut Vec<char>,
        nodes: &mut Vec<Node>,
    ) -> Result<(), CompileError> {
        let unit = match self.atom(options)? {
            Atom::Nothing => return Ok(()),
            Atom::Literal(c) => {
                if !self.is_repeat_next(options) {
                    run.push(c);
                    return Ok(());
                }
                literal::text(&[c], options.ignore_case, options.in_look_behind, &mut self.sets)
            }
            Atom::Unit(node) => node,
        };
        self.flush(run, options, nodes);
        let unit = self.repeated(unit, options)?;
        nodes.push(unit);
        Ok(())
    }

    fn atom(&mut self, options: Options) -> Result<Atom, CompileError> {
        let Some(c) = self.next() else { return Ok(Atom::Nothing) };
        Ok(match c {
            '\\' => return self.escape(options),
            '[' => Atom::Unit(self.brackets(options)?),
            '(' => return self.group(options),
            '.' => Atom::Unit(self.dot(options.dot_matches_newline)),
            '^' => Atom::Unit(Node::Anchor(Anchor::LineStart)),
            '$' => Atom::Unit(Node::Anchor(Anchor::LineEnd)),
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
                Atom::Nothing
            }
            ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}' if options.extended => Atom::Nothing,
            _ => Atom::Literal(c),
        })
    }
}

fn has_named_groups(chars: &[char]) -> bool {
    chars.windows(4).any(|w| w[..3] == ['(', '?', '<'] && !matches!(w[3], '=' | '!'))
}
