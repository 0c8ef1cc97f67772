//! Block by block equals character by character equals the regular expression.

mod published;

use piecework_kernels::level::Level;

use super::*;
use crate::spec::{PatternSpec, SplitBehavior};
use crate::stages::pretokenize::simple::MatchSplitter;
use crate::text::Pattern;

type Spans = Vec<(usize, usize)>;

fn by_chars(scanner: Scanner, text: &str) -> Spans {
    let mut found = Vec::new();
    scanner.split_scalar(text, &mut |start, end| found.push((start, end)));
    found
}

fn by_blocks(scanner: Scanner, text: &str) -> Spans {
    let (mut found, mut scratch, mut from) = (Vec::new(), ScanScratch::default(), 0);
    while from < text.len() {
        let to = scanner.find_words(text, from, &mut scratch);
        found.extend(scratch.words().spans().map(|(start, end)| (from + start, from + end)));
        from = to;
    }
    found
}

/// A pattern, and what is done with its matches.
type Split = (Pattern, SplitBehavior, bool);

fn compiled(patterns: &[&str]) -> Vec<Split> {
    let compiled = |&source: &&str| {
        let pattern = Pattern::compile(&PatternSpec::Regex(source.into()), "pattern").unwrap();
        let keeps_matches = source == CLIP;
        let behavior = if keeps_matches { SplitBehavior::Removed } else { SplitBehavior::Isolated };
        (pattern, behavior, keeps_matches)
    };
    patterns.iter().map(compiled).collect()
}

/// Cut at the matches of each pattern what those before have left.
fn by_patterns(splits: &[Split], text: &str) -> Spans {
    splits.iter().fold(vec![(0, text.len())], |words, (pattern, behavior, invert)| {
        let mut cut = Vec::new();
        for (from, to) in words {
            let mut emit = |start, end| cut.push((from + start, from + end));
            let mut splitter = MatchSplitter::new(*behavior, *invert, &mut emit);
            pattern.for_each_match(&text[from..to], |start, end| splitter.matched(start, end)).unwrap();
            splitter.finish(to - from);
        }
        cut
    })
}

/// All scanners equal the patterns.
fn check(name: &str, scanner: Scanner, compiled: &[Split], text: &str) {
    let expected = by_patterns(compiled, text);
    assert_eq!(by_chars(scanner, text), expected, "{text:?} by {name}");
    assert_eq!(by_blocks(scanner, text), expected, "{text:?} in blocks by {name}");
}

/// Numbers that look random, the same at every run.
fn random_numbers() -> impl FnMut(usize) -> usize {
    let mut state = 7u64;
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    }
}

#[test]
fn every_code_point_is_split_as_by_the_pattern() {
    for (name, scanner, patterns) in published::all() {
        let regex = compiled(&patterns);
        let mut text = String::new();
        // Beyond the assigned planes all are alike.
        let some = ('\u{32000}'..=char::MAX).step_by(101);
        for (count, c) in ('\0'..'\u{32000}').chain(some).enumerate() {
            for part in ["", " ", "a", "A", "'", "1", "\n", " '", "!!", "漢", "\0"] {
                text.push_str(part);
                text.push(c);
            }
            text.push_str("a x");
            if count % 512 == 0 {
                check(name, scanner, &regex, &text);
                text.clear();
            }
        }
        check(name, scanner, &regex, &text);
    }
}

#[test]
fn random_texts_are_split_as_by_the_pattern() {
    let all =
        "aeslmtdrvSTLRVEDMZ 12 \n\r\t\u{a0}\u{3000}'''1٣½!./-ǅʰ漢か\u{301}\u{5b0}ſé😀，・゛゗(\0\u{200b}";
    let few = [
        "a '\n",
        "aB \n!/",
        "1 23a٣",
        "1234٣½",
        "漢A，a !",
        "漢〇12⺀々!\na 's",
        "☆★'sd! <|>a",
        "\u{3000}\n a",
        "a's'S!ſ ",
        "\u{301}aA! ",
        "(aé_ \0",
        "\u{200b}\u{ad}a é\n",
        "゛・゗漢カ ゙(\na1",
    ];
    let alphabets: Vec<Vec<char>> = few.iter().chain([&all]).map(|some| some.chars().collect()).collect();
    let mut random = random_numbers();
    for (name, scanner, patterns) in published::all() {
        let regex = compiled(&patterns);
        for round in 0..8_000 {
            let letters = &alphabets[random(alphabets.len())];
            let length = random(if round % 16 == 0 { 400 } else { 14 });
            let text: String = (0..length).map(|_| letters[random(letters.len())]).collect();
            let text = text.replace('☆', "<|endoftext|>").replace('★', "<|startoftext|>");
            check(name, scanner, &regex, &text);
        }
    }
}

#[test]
fn every_level_splits_alike_at_every_offset_in_a_block() {
    let text = "It's  the 漢A，x \r\n \n\t12345٣ don'tx!!\n/ e\u{301}AB é\u{3000}\u{3000}z  (abcdefé \0\0a\u{200b}漢゗゛・\n";
    for (_, scanner, _) in published::all() {
        for before in 0..140 {
            let text = "a".repeat(before) + text;
            for level in Level::supported() {
                level.activate();
                assert_eq!(by_blocks(scanner, &text), by_chars(scanner, &text), "{}", level.name());
            }
        }
    }
}

#[test]
fn long_texts_are_scanned_in_windows() {
    let mut random = random_numbers();
    for (_, scanner, _) in published::all() {
        for filling in [
            "a", " ", "\n", " \n", "\n!/", "12", "1٣5", "漢A", "'s", "\u{3000}", "a\u{301}", "ab c", "_a",
            "\0", "・",
        ] {
            for _ in 0..4 {
                let text = filling.repeat(random(400)) + " x" + &filling.repeat(random(400));
                assert_eq!(by_blocks(scanner, &text), by_chars(scanner, &text), "{filling:?}");
            }
        }
    }
}
