//! Matches of Oniguruma 6.9.10, and expressions that are rejected.

mod random_expressions;
mod reference_matcher;

use super::*;

fn matches<'t>(source: &str, text: &'t str) -> Vec<&'t str> {
    let pattern = Regex::new(source).unwrap();
    let mut found = Vec::new();
    pattern.for_each_match(text, |start, end| found.push(&text[start..end])).unwrap();
    found
}

fn compile_error(source: &str) -> CompileError {
    Regex::new(source).unwrap_err()
}

#[test]
fn lines_and_options_are_those_of_oniguruma() {
    assert_eq!(matches("^.", "ab\ncd\n"), ["a", "c"]);
    assert_eq!(matches(".$", "ab\ncd"), ["b", "d"]);
    assert_eq!(matches("(?m)a.", "a\n"), ["a\n"]);
    assert_eq!(matches("a(?i)b|c", "aB ac c"), ["aB", "ac"]);
    assert_eq!(matches("(?x) a b # c", "ab"), ["ab"]);
}

#[test]
fn repetitions_are_those_of_oniguruma() {
    assert_eq!(matches(r"\d{1,3}+", "12345"), ["12345"]);
    assert_eq!(matches(r"\d{2}?x", "x12x"), ["x", "12x"]);
    assert_eq!(matches("a{,2}b", "aaab"), ["aab"]);
    assert_eq!(matches("a{b", "a{b"), ["a{b"]);
    assert_eq!(matches("a{2,1}?b", "b aab ab"), ["b", "aab", "ab"]);
    assert_eq!(matches("a++a", "aaa"), [""; 0]);
    assert_eq!(matches("a??b", "ab"), ["ab"]);
}

#[test]
fn sets_are_those_of_oniguruma() {
    assert_eq!(matches(r"\w", "a²\u{200d}_"), ["a", "²", "_"]);
    assert_eq!(matches(r"[\w]", "a²"), ["a"]);
    assert_eq!(matches(r"[^\W]|[\W]", "a²"), ["a", "²"]);
    assert_eq!(matches("[[:graph:]]+|[[:print:]]", "a .\u{3000}\t\u{85}"), ["a", " ", ".", "\u{3000}"]);
    assert_eq!(matches(r"[\p{L}&&[^a-c]]", "abcd"), ["d"]);
    assert_eq!(matches("[^a&&b]", "abc"), ["a", "b", "c"]);
    assert_eq!(matches("[[:punct:]]", "a$."), ["$", "."]);
    assert_eq!(matches(r"\p{Punct}", "a$."), ["."]);
    assert_eq!(matches(r"\p{^Han}", "漢a"), ["a"]);
    assert_eq!(matches(r"\h+", "xfFg"), ["fF"]);
    assert_eq!(matches("[]a]+", "a]b"), ["a]"]);
}

#[test]
fn case_is_folded_in_full() {
    assert_eq!(matches("(?i:'s|'t)", "'S 'ſ"), ["'S", "'ſ"]);
    assert_eq!(matches("(?i)ss", "SS ß ẞ"), ["SS", "ß", "ẞ"]);
    assert_eq!(matches("(?i)ß", "SS ß"), ["SS", "ß"]);
    assert_eq!(matches("(?i)[ß]", "SS ß"), ["SS", "ß"]);
    assert_eq!(matches(r"(?i)[^\s]", "Sſ"), ["S", "ſ"]);
}

#[test]
fn empty_matches_come_between_others() {
    assert_eq!(matches("b*", "abc"), ["", "b", "", ""][..3]);
    let mut at = Vec::new();
    let pattern = Regex::new("b*").unwrap();
    pattern.for_each_match("abc", |start, end| at.push((start, end))).unwrap();
    assert_eq!(at, [(0, 0), (1, 2), (3, 3)]);
}

#[test]
fn thousands_of_alternatives_are_tried_in_order() {
    let words: Vec<String> = (1000..3000).map(|n| format!(r"w{n}\.|w{n}")).collect();
    let found = matches(&words.join("|"), "w1000 w1063. w1064 w2999. w3000");
    assert_eq!(found, ["w1000", "w1063.", "w1064", "w2999."]);
    assert_eq!(matches(&format!("(?<={})x", words.join("|")), "w1077x w2999.x wx"), ["x", "x"]);
}

#[test]
fn groups_can_be_referred_to() {
    assert_eq!(matches(r"(.)\1", "abbccd"), ["bb", "cc"]);
    assert_eq!(matches(r"(?<x>.)(.)\k<x>", "abab"), ["aba"]);
}

#[test]
fn malformed_and_unsupported_expressions_are_errors() {
    for source in [
        "(",
        ")",
        "[a",
        "*",
        "a**b(",
        r"\",
        "(?<n>a",
        r"\g<1>",
        r"\X",
        "(?~a)",
        r"\Kx",
        "[b-a]",
        r"\p{Nope}",
    ] {
        assert!(Regex::new(source).is_err(), "{source}");
    }
    assert!(compile_error(&"(".repeat(10_000)).found.len() < 60_000);
    assert_eq!(compile_error("(?:(?:ab){1000}){1000}"), CompileError::too_large());
    assert_eq!(compile_error(&format!("(?:{}){{1000}}", "ab".repeat(1000))), CompileError::too_large());
}

#[test]
fn catastrophic_expressions_take_linear_time() {
    let text = "a".repeat(200_000);
    for source in [
        "(?=(a+)+b)a",
        "(?=a+b)a",
        "(a|a)*b",
        "(a*)*b",
        "(?:a|aa)+$(?!x)b",
        "(?<=a+b)a",
        "(?<!b.*)b",
        "(?:(?:aa)*)*c",
        ".*?b",
        "(?>a*)b",
    ] {
        assert_eq!(matches(source, &text), [""; 0], "{source}");
    }
    assert_eq!(matches(r"\s+(?!\S)", &(" ".repeat(200_000) + "x")), [" ".repeat(199_999)]);
    assert_eq!(matches(r"\d{1,3}(?=(\d{3})+(?!\d))", &"1".repeat(200_000)).len(), 66_666);
}

#[test]
fn the_step_limit_is_an_error() {
    let long = "a".repeat(50_000) + "b";
    for source in [r"(a+a+)+\1y", "a{1,1000}b", "(?:a?){50}a{50}b", r"(.+)\1b", "(?<=(?>a*)b)a", &long] {
        let pattern = Regex::new(source).unwrap();
        let found = pattern.for_each_match(&"a".repeat(300_000), |_, _| {});
        assert_eq!(found, Err(StepLimitExceeded), "{source}");
    }
}

#[test]
fn look_behind_is_that_of_oniguruma() {
    assert_eq!(matches("(?<=a+b)c", "aabc bc"), ["c"]);
    assert_eq!(matches("(?<=a|bc)d", "ad bcd cd"), ["d", "d"]);
    assert_eq!(matches("(?i)(?<=ß)x", "ßx ssx"), ["x"]);
    for source in ["(?<=a(?=b))", "(?<!(a))", r"(?<=\z)", "(?<=(?<!a)b)", "(?:^|a)*", "(?=a)*"] {
        assert!(Regex::new(source).is_err(), "{source}");
    }
}
