//! Translates a regular expression from Oniguruma's syntax (its manual, doc/RE) to fancy-regex's.
//!
//! Every construct is read and written anew in a form that both agree on: sets as explicit ranges, options
//! resolved where they apply, anchors as look-around where they differ. Rare constructs (subroutine calls,
//! absent functions, grapheme clusters, conditionals, callouts, `\K`, `\G`) are refused. Linear in the
//! length of the expression and of what it writes; nesting is bounded.

use std::fmt::Write;

use super::class;
use super::write::{flush, literal_unit, write_set};

/// Why an expression was not translated.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) what: String,
    pub(super) expected: &'static str,
}

/// Groups and brackets within each other, at most.
pub(super) const MAX_DEPTH: usize = 50;

/// Largest number in a repetition, as in Oniguruma.
const MAX_REPEAT: u32 = 100_000;

/// Translate an expression.
pub(super) fn translate(source: &str) -> Result<String, Fault> {
    let chars: Vec<char> = source.chars().collect();
    let has_names = has_named_groups(&chars);
    let mut reader =
        Reader { chars, at: 0, depth: 0, has_names, names: Vec::new(), groups: 0, open: Vec::new() };
    let out = reader.alternatives(Options::default())?;
    match reader.peek() {
        None => Ok(out),
        Some(_) => Err(reader.malformed("a closing parenthesis without an opening one")),
    }
}

#[derive(Clone, Copy, Default)]
pub(super) struct Options {
    pub(super) ignore_case: bool,
    dot_matches_newline: bool,
    extended: bool,
}

pub(super) struct Reader {
    pub(super) chars: Vec<char>,
    pub(super) at: usize,
    pub(super) depth: usize,
    /// Where groups have names, plain parentheses do not capture.
    has_names: bool,
    names: Vec<String>,
    groups: usize,
    /// Numbers of the capturing groups that have not ended yet; they cannot be referred to.
    open: Vec<usize>,
}

/// Something that can be repeated.
enum Atom {
    /// A literal character; neighbours matter when case does not.
    Literal(char),
    /// Already translated, and one unit.
    Unit(String),
    /// An assertion, which must not be repeated.
    Anchor(String),
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
        let found = self.chars[self.at..].iter().copied().take(len).eq(text.chars());
        self.at += if found { len } else { 0 };
        found
    }

    pub(super) fn malformed(&self, what: &str) -> Fault {
        Fault { what: format!("{what} at character {}", self.at), expected: "a regular expression" }
    }

    pub(super) fn unsupported(&self, what: &str) -> Fault {
        let expected = "a regular expression without subroutines, absent functions, \\K, \\G and the like";
        Fault { what: format!("{what} at character {} is not supported", self.at), expected }
    }

    /// Alternatives up to the end or a closing parenthesis, which stays.
    fn alternatives(&mut self, mut options: Options) -> Result<String, Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.malformed("groups nested too deeply"));
        }
        let mut out = String::new();
        let mut run = Vec::new();
        loop {
            match self.peek() {
                None | Some(')') => break,
                Some('|') => {
                    self.at += 1;
                    flush(&mut run, options.ignore_case, &mut out);
                    out.push('|');
                }
                Some(_) => {
                    if let Some(changed) = self.isolated_options(options)? {
                        // The rest of the group is a group of its own.
                        flush(&mut run, options.ignore_case, &mut out);
                        options = changed;
                        let rest = self.alternatives(options)?;
                        write!(out, "(?:{rest})").ok();
                        break;
                    }
                    self.item(options, &mut run, &mut out)?;
                }
            }
        }
        flush(&mut run, options.ignore_case, &mut out);
        self.depth -= 1;
        Ok(out)
    }

    /// One atom with its repetitions.
    fn item(&mut self, options: Options, run: &mut Vec<char>, out: &mut String) -> Result<(), Fault> {
        let atom = self.atom(options)?;
        let repeat = match atom {
            Atom::Nothing => return Ok(()),
            _ => self.repeat(options)?,
        };
        let mut unit = match (atom, &repeat) {
            (Atom::Literal(c), None) => {
                run.push(c);
                return Ok(());
            }
            (Atom::Literal(c), Some(_)) => literal_unit(c, options.ignore_case),
            (Atom::Anchor(_), Some(_)) => return Err(self.unsupported("a repeated assertion")),
            (Atom::Anchor(text) | Atom::Unit(text), _) => text,
            (Atom::Nothing, _) => return Ok(()),
        };
        flush(run, options.ignore_case, out);
        let mut repeat = repeat;
        while let Some(suffix) = repeat {
            unit = format!("(?:{unit}{suffix})");
            repeat = self.repeat(options)?;
        }
        out.push_str(&unit);
        Ok(())
    }

    fn atom(&mut self, options: Options) -> Result<Atom, Fault> {
        let Some(c) = self.next() else { return Ok(Atom::Nothing) };
        Ok(match c {
            '\\' => return self.escape(options),
            '[' => Atom::Unit(self.brackets(options)?),
            '(' => return self.group(options),
            '.' if options.dot_matches_newline => Atom::Unit("(?s:.)".to_owned()),
            '.' => Atom::Unit("[^\\n]".to_owned()),
            '^' => Atom::Anchor("(?:\\A|(?<=\\n)(?!\\z))".to_owned()),
            '$' => Atom::Anchor("(?=\\n|\\z)".to_owned()),
            '*' | '+' | '?' => return Err(self.malformed("nothing to repeat")),
            '{' => {
                let start = self.at;
                if self.interval()?.is_some() {
                    return Err(self.malformed("nothing to repeat"));
                }
                self.at = start;
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

    /// A repetition, if one is next, as fancy-regex writes it.
    fn repeat(&mut self, options: Options) -> Result<Option<String>, Fault> {
        if options.extended {
            self.skip_extended();
        }
        let start = self.at;
        let (mut text, is_interval, is_fixed) = match self.next() {
            Some(c @ ('*' | '+' | '?')) => (c.to_string(), false, false),
            Some('{') => match self.interval()? {
                Some((text, is_fixed)) => (text, true, is_fixed),
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
        // After `{n,m}` a plus is a repetition again, and so is a question mark after `{n}`.
        match self.peek() {
            Some('?') if !is_fixed => text.push('?'),
            Some('+') if !is_interval => text.push('+'),
            _ => return Ok(Some(text)),
        }
        self.at += 1;
        Ok(Some(text))
    }

    /// The rest of `{n}`, `{n,}`, `{,m}` or `{n,m}`; anything else is literal text.
    fn interval(&mut self) -> Result<Option<(String, bool)>, Fault> {
        let low = self.number();
        let has_comma = self.eat(",");
        let high = if has_comma { self.number() } else { low };
        if !self.eat("}") || (low.is_none() && high.is_none()) {
            return Ok(None);
        }
        if low.or(high).is_some_and(|n| n > MAX_REPEAT) || high.is_some_and(|n| n > MAX_REPEAT) {
            return Err(self.malformed("a repetition of more than 100,000"));
        }
        if high.is_some_and(|high| low.unwrap_or(0) > high) {
            return Err(self.unsupported("a repetition with its bounds swapped"));
        }
        let text = match high {
            Some(high) => format!("{{{},{high}}}", low.unwrap_or(0)),
            None => format!("{{{},}}", low.unwrap_or(0)),
        };
        Ok(Some((text, !has_comma)))
    }

    fn number(&mut self) -> Option<u32> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        let digits: String = self.chars[start..self.at].iter().collect();
        (!digits.is_empty()).then(|| digits.parse().unwrap_or(u32::MAX))
    }

    fn skip_extended(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}') => self.at += 1,
                Some('#') => while self.next().is_some_and(|c| c != '\n') {},
                _ => return,
            }
        }
    }

    /// `(?i)` and the like, which hold to the end of the group.
    fn isolated_options(&mut self, options: Options) -> Result<Option<Options>, Fault> {
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

    fn options(&mut self, mut options: Options) -> Result<Options, Fault> {
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
    fn group(&mut self, options: Options) -> Result<Atom, Fault> {
        if !self.eat("?") {
            if self.peek() == Some('*') {
                return Err(self.unsupported("a callout"));
            }
            return Ok(Atom::Unit(match self.has_names {
                true => self.closed("(?:", options)?,
                false => self.capturing(options)?,
            }));
        }
        if self.eat("#") {
            while let Some(c) = self.next() {
                match c {
                    '\\' => drop(self.next()),
                    ')' => return Ok(Atom::Nothing),
                    _ => {}
                }
            }
            return Err(self.malformed("a comment without an end"));
        }
        for look in ["=", "!", "<=", "<!"] {
            if self.eat(look) {
                return Ok(Atom::Anchor(self.closed(&format!("(?{look}"), options)?));
            }
        }
        if self.eat(">") {
            return Ok(Atom::Unit(self.closed("(?>", options)?));
        }
        if self.eat("<") {
            return self.named_group(options);
        }
        if !matches!(self.peek(), Some(':' | 'i' | 'm' | 'x' | '-')) {
            return Err(self.unsupported("this kind of group"));
        }
        let options = self.options(options)?;
        if !self.eat(":") {
            return Err(self.malformed("a group option without an end"));
        }
        Ok(Atom::Unit(self.closed("(?:", options)?))
    }

    fn named_group(&mut self, options: Options) -> Result<Atom, Fault> {
        let name = self.name('>')?;
        if self.names.contains(&name) {
            return Err(self.unsupported("a name for two groups"));
        }
        self.names.push(name);
        // Names may be in any script; fancy-regex gets numbers.
        Ok(Atom::Unit(self.capturing(options)?))
    }

    fn capturing(&mut self, options: Options) -> Result<String, Fault> {
        self.groups += 1;
        self.open.push(self.groups);
        let group = self.closed("(", options)?;
        self.open.pop();
        Ok(group)
    }

    fn name(&mut self, end: char) -> Result<String, Fault> {
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

    fn closed(&mut self, opening: &str, options: Options) -> Result<String, Fault> {
        let inner = self.alternatives(options)?;
        if !self.eat(")") {
            return Err(self.malformed("a group without an end"));
        }
        Ok(format!("{opening}{inner})"))
    }

    /// The rest of an escape outside of brackets.
    fn escape(&mut self, options: Options) -> Result<Atom, Fault> {
        let Some(c) = self.peek() else { return Err(self.malformed("a backslash at the end")) };
        if let Some(set) = class::escape(c, false) {
            self.at += 1;
            return Ok(Atom::Unit(write_set(&set)));
        }
        if matches!(c, 'p' | 'P') {
            self.at += 1;
            return Ok(Atom::Unit(write_set(&self.property(c == 'P')?)));
        }
        let fixed = match c {
            'A' => Atom::Anchor("\\A".to_owned()),
            'z' => Atom::Anchor("\\z".to_owned()),
            'Z' => Atom::Anchor("(?=\\n?\\z)".to_owned()),
            'b' | 'B' => Atom::Anchor(word_boundary(c == 'b')),
            'R' => Atom::Unit("(?>\\r\\n|[\\n-\\r\\x{85}\\x{2028}\\x{2029}])".to_owned()),
            'N' => Atom::Unit("[^\\n]".to_owned()),
            'O' => Atom::Unit("(?s:.)".to_owned()),
            '1'..='9' => return self.backreference(options),
            'k' => return self.named_backreference(options),
            'g' | 'X' | 'y' | 'Y' | 'K' | 'G' => return Err(self.unsupported("this escape")),
            _ => return Ok(Atom::Literal(self.escaped_char()?)),
        };
        self.at += 1;
        Ok(fixed)
    }

    fn backreference(&mut self, options: Options) -> Result<Atom, Fault> {
        let number = self.number().unwrap_or(0) as usize;
        if self.has_names {
            return Err(self.unsupported("this reference to a group"));
        }
        self.reference(number, options)
    }

    fn reference(&mut self, number: usize, options: Options) -> Result<Atom, Fault> {
        if number > self.groups || options.ignore_case || self.open.contains(&number) {
            return Err(self.unsupported("this reference to a group"));
        }
        Ok(Atom::Unit(format!("(?:\\{number})")))
    }

    fn named_backreference(&mut self, options: Options) -> Result<Atom, Fault> {
        if !self.eat("k<") {
            return Err(self.unsupported("this reference to a group"));
        }
        let name = self.name('>')?;
        let number = self.names.iter().position(|known| *known == name).map_or(usize::MAX, |at| at + 1);
        self.reference(number, options)
    }

    /// The rest of an escape that means one character.
    pub(super) fn escaped_char(&mut self) -> Result<char, Fault> {
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
            // Above 7F it would be a byte, not a character.
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

    fn code(&mut self, least: usize, most: usize, radix: u32) -> Result<char, Fault> {
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

fn has_named_groups(chars: &[char]) -> bool {
    chars.windows(4).any(|w| w[..3] == ['(', '?', '<'] && !matches!(w[3], '=' | '!'))
}

fn word_boundary(at_boundary: bool) -> String {
    let word = write_set(&class::word());
    match at_boundary {
        true => format!("(?:(?<={word})(?!{word})|(?<!{word})(?={word}))"),
        false => format!("(?:(?<={word})(?={word})|(?<!{word})(?!{word}))"),
    }
}
