//! Parses escapes outside of brackets, and escapes for single characters anywhere.

use regex_syntax::hir::ClassUnicode;

use crate::ast::{Anchor, Node};
use crate::char_classes;
use crate::parse::{Atom, Options, Parser};
use crate::CompileError;

impl Parser {
    /// Return the set of any character, with or without the line feed.
    pub(crate) fn dot(&mut self, with_newline: bool) -> Node {
        let set = match with_newline {
            true => char_classes::range('\0', char::MAX),
            false => char_classes::negate_if(char_classes::single('\n'), true),
        };
        Node::Set(self.sets.id(&set))
    }

    /// Return the set of an escape such as `\w`, if the letter has one.
    pub(crate) fn letter_escape_set(&mut self, letter: char, in_brackets: bool) -> Option<ClassUnicode> {
        let name = format!("\\{letter}{in_brackets}");
        self.sets.named(&name, || char_classes::escape(letter, in_brackets))
    }

    /// Parse the rest of an escape outside of brackets.
    pub(crate) fn escape(&mut self, options: Options) -> Result<Atom, CompileError> {
        let Some(c) = self.peek() else { return Err(self.malformed("a backslash at the end")) };
        if let Some(set) = self.letter_escape_set(c, false) {
            self.at += 1;
            return Ok(Atom::Node(Node::Set(self.sets.id(&set))));
        }
        if matches!(c, 'p' | 'P') {
            self.at += 1;
            let set = self.property(c == 'P')?;
            return Ok(Atom::Node(Node::Set(self.sets.id(&set))));
        }
        let unit = match c {
            'R' => self.newline(),
            'N' => self.dot(false),
            'O' => self.dot(true),
            '1'..='9' => return self.backreference(options),
            'k' => return self.named_backreference(options),
            'g' | 'X' | 'y' | 'Y' | 'K' => return Err(self.unsupported("this escape")),
            c => match anchor(c) {
                Some(anchor) => Node::Anchor(anchor),
                None => return Ok(Atom::Literal(self.escaped_char()?)),
            },
        };
        self.at += 1;
        Ok(Atom::Node(unit))
    }

    /// Return `\R`: a line break, where `\r\n` is one.
    fn newline(&mut self) -> Node {
        let mut one = char_classes::range('\n', '\r');
        one.union(&char_classes::single('\u{85}'));
        one.union(&char_classes::range('\u{2028}', '\u{2029}'));
        let one = Node::Set(self.sets.id(&one));
        Node::Atomic(Box::new(Node::Alternate(vec![Node::Text(vec!['\r', '\n']), one])))
    }

    /// Parse the rest of an escape for one character.
    pub(crate) fn escaped_char(&mut self) -> Result<char, CompileError> {
        let Some(c) = self.next() else { return Err(self.malformed("a backslash at the end")) };
        Ok(match c {
            't' => '\t',
            'n' => '\n',
            'r' => '\r',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'a' => '\u{7}',
            'e' => '\u{1b}',
            'x' if self.eat("{") => {
                let c = self.code(1, 8, 16)?;
                if !self.eat("}") {
                    return Err(self.unsupported("this code point"));
                }
                c
            }
            // In Oniguruma, a code above 7F is a byte, not a character.
            'x' => self.code(1, 2, 16)?,
            'u' => self.code(4, 4, 16)?,
            '0'..='7' => {
                self.at -= usize::from(c != '0');
                self.code(0, if c == '0' { 2 } else { 3 }, 8)?
            }
            'c' | 'C' | 'M' | 'o' => return Err(self.unsupported("this escape")),
            _ => c,
        })
    }

    /// Parse a code point of `least` to `most` digits. Codes of up to three digits must be ASCII.
    fn code(&mut self, least: usize, most: usize, radix: u32) -> Result<char, CompileError> {
        let start = self.at;
        while self.at - start < most && self.peek().is_some_and(|c| c.is_digit(radix)) {
            self.at += 1;
        }
        let digits: String = self.chars[start..self.at].iter().collect();
        let code = if digits.is_empty() { Ok(0) } else { u32::from_str_radix(&digits, radix) };
        let c = code.ok().and_then(char::from_u32).filter(|&c| most > 3 || c <= '\u{7f}');
        match c {
            Some(c) if self.at - start >= least => Ok(c),
            _ => Err(self.unsupported("this code point")),
        }
    }
}

/// Return the anchor of an escape, if the letter has one.
fn anchor(letter: char) -> Option<Anchor> {
    Some(match letter {
        'A' => Anchor::TextStart,
        'z' => Anchor::TextEnd,
        'Z' => Anchor::TextEndOrLastLine,
        'G' => Anchor::SearchStart,
        'b' => Anchor::WordBoundary,
        'B' => Anchor::NotWordBoundary,
        _ => return None,
    })
}
