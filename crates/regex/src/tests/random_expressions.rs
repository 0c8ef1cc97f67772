//! Random expressions: the matcher agrees with the reference matcher, with a memo and without. Malformed
//! expressions never panic.

use super::*;
use crate::matcher::Matcher;
use crate::tests::reference_matcher::ReferenceMatcher;

/// A generator of small expressions and texts from a fixed seed (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 || self.below(4) == 0 {
            return self.pick(ATOMS).to_owned();
        }
        let one = self.expression(depth - 1);
        match self.below(7) {
            0 | 1 => one + &self.expression(depth - 1),
            2 => format!("(?:{one}|{})", self.expression(depth - 1)),
            3 | 4 => format!("(?:{one}){}", self.pick(REPEATS)),
            5 => format!("({one}){}", self.pick(&["", "*", "\\1"])),
            _ => format!("{}{one})", self.pick(&["(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:"])),
        }
    }
}

const ATOMS: &[&str] = &[
    "a", "b", "ab", "s", "ß", ".", r"\w", r"\s+", "[^a]", "^", "$", r"\b", r"\G", "", "a*", "(?<=a)", "é+?",
];
const REPEATS: &[&str] =
    &["*", "+", "?", "*?", "+?", "??", "*+", "++", "{2}", "{1,3}", "{2,}", "{0,2}?", "{5}"];

fn matches_of(program: &Program, text: &str, memoize: bool) -> Vec<(usize, usize)> {
    let mut machine = Matcher::new(program, text, 1 << 24);
    if memoize && program.is_memoizable {
        machine.start_memo();
    }
    let starts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    starts.filter_map(|from| machine.find(from).unwrap()).collect()
}

fn has_atomic_look_behind(node: &ast::Node) -> bool {
    let is_atomic = |node: &ast::Node| matches!(node, ast::Node::Atomic(_));
    matches!(node, ast::Node::Look(look) if look.behind && look.body.any(&is_atomic))
}

#[test]
fn the_matcher_agrees_with_the_reference_matcher() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let (mut compared, mut differences) = (0, Vec::new());
    while compared < 6000 {
        let source = random.expression(4);
        let Ok(parsed) = parse::parse(&source) else { continue };
        // The reference matcher does not define how far a possessive repetition in look-behind reads.
        if parsed.root.any(&has_atomic_look_behind) {
            continue;
        }
        let program = compile::compile(parse::parse(&source).unwrap()).unwrap();
        let len = random.below(8);
        let text: String = (0..len).map(|_| random.pick(&["a", "b", "s", "ß", " ", "\n", "é"])).collect();
        let chars: Vec<char> = text.chars().collect();
        let reference = ReferenceMatcher {
            parsed: &parsed,
            text: &chars,
            search_start: 0,
            fuel: std::cell::Cell::new(200_000),
        };
        let bytes: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let expected: Vec<(usize, usize)> = (0..=chars.len())
            .filter_map(|from| {
                ReferenceMatcher { search_start: from, fuel: reference.fuel.clone(), ..reference }
                    .find(from)
            })
            .map(|(start, end)| (bytes[start], bytes[end]))
            .collect();
        for memoize in [false, true] {
            let found = matches_of(&program, &text, memoize);
            if found != expected {
                differences
                    .push(format!("{source:?} on {text:?} ({memoize}): {found:?}, not {expected:?}"));
            }
        }
        compared += 1;
    }
    assert!(differences.is_empty(), "{}\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn any_text_compiles_or_is_an_error() {
    let mut random = Random(0x1234_5678_9ABC_DEF1);
    let pieces = [
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "?",
        "*",
        "+",
        "|",
        "\\",
        "^",
        "$",
        ".",
        "-",
        "&&",
        ":",
        "<",
        "=",
        "!",
        ",",
        "1",
        "9",
        "p",
        "{L}",
        "x",
        "i",
        "a",
        "k",
        "ß",
        "漢",
        "\u{0}",
        "\u{10FFFF}",
        "#",
        "'",
        "\n",
        "(?<",
        "(?i",
    ];
    let text = "aß漢1 \n'x".repeat(20);
    for _ in 0..30_000 {
        let len = random.below(16);
        let source: String = (0..len).map(|_| random.pick(&pieces)).collect();
        if let Ok(pattern) = Regex::new(&source) {
            // Exceeding the step limit is allowed.
            let _ = pattern.for_each_match(&text, |_, _| {});
        }
    }
}
