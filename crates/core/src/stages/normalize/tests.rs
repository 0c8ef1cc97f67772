//! Every normalizer against text and character offsets that tokenizers 0.23.3 gives.

use piecework_formats::normalization_rules::{compile_named, compile_pairs};
use unicode_segmentation::UnicodeSegmentation;

use super::charsmap::Charsmap;
use super::*;
use crate::error::ErrorKind;
use crate::spec::{NormalizerSpec, PatternSpec};
use crate::text::{Aligned, CharIndex};

/// Run, and give the text and the character span behind each of its characters.
fn run(spec: &NormalizerSpec, text: &str) -> (String, Vec<(u32, u32)>) {
    let normalizer = Normalizer::compile(Some(spec)).unwrap();
    let (mut plain, mut aligned) = (String::new(), Aligned::default());
    normalizer.run(text, 0, &mut plain).unwrap();
    normalizer.run(text, 0, &mut aligned).unwrap();
    assert_eq!(plain, aligned.text());
    let index = CharIndex::new(text);
    let span = |(at, c): (usize, char)| {
        let (from, to) = aligned.source_of(at, at + c.len_utf8());
        (index.chars_before(from), index.chars_before(to))
    };
    let spans = plain.char_indices().map(span).collect();
    (plain, spans)
}

#[track_caller]
fn check(spec: &NormalizerSpec, text: &str, expected: &str, spans: &[(u32, u32)]) {
    assert_eq!(run(spec, text), (expected.to_owned(), spans.to_vec()));
}

fn replace(pattern: PatternSpec, content: &str) -> NormalizerSpec {
    NormalizerSpec::Replace { pattern, content: content.to_owned() }
}

fn regex(source: &str) -> PatternSpec {
    PatternSpec::Regex(source.to_owned())
}

#[test]
fn composes_canonically() {
    check(&NormalizerSpec::Nfc, "e\u{301}x", "éx", &[(0, 1), (2, 3)]);
    check(&NormalizerSpec::Nfc, "\u{301}e\u{323}\u{302}", "\u{301}\u{1EC7}", &[(0, 1), (1, 2)]);
    check(&NormalizerSpec::Nfc, "\u{D55C}\u{1112}\u{1161}\u{11AB}", "\u{D55C}\u{D55C}", &[(0, 1), (1, 2)]);
    check(&NormalizerSpec::Nfc, "\u{958}\u{212B}", "\u{915}\u{93C}Å", &[(0, 1), (0, 1), (1, 2)]);
    check(&NormalizerSpec::Nfc, "\u{9C7}\u{9BE}\u{9D7}", "\u{9CB}\u{9D7}", &[(0, 1), (2, 3)]);
    check(&NormalizerSpec::Nfc, "a\u{301}\u{316}", "á\u{316}", &[(0, 1), (2, 3)]);
}

#[test]
fn decomposes_canonically() {
    check(&NormalizerSpec::Nfd, "éx", "e\u{301}x", &[(0, 1), (0, 1), (1, 2)]);
    check(
        &NormalizerSpec::Nfd,
        "\u{AC01}\u{AC00}",
        "\u{1100}\u{1161}\u{11A8}\u{1100}\u{1161}",
        &[(0, 1), (0, 1), (0, 1), (1, 2), (1, 2)],
    );
    check(&NormalizerSpec::Nfd, "è\u{316}", "e\u{316}\u{300}", &[(0, 1), (1, 2), (1, 2)]);
    check(&NormalizerSpec::Nfd, "\u{344}\u{FB01}", "\u{308}\u{301}\u{FB01}", &[(0, 1), (0, 1), (1, 2)]);
    check(&NormalizerSpec::Nfd, "\u{1D15F}", "\u{1D158}\u{1D165}", &[(0, 1), (0, 1)]);
}

#[test]
fn composes_compatibly() {
    check(&NormalizerSpec::Nfkc, "\u{FB01}\u{301}x", "fíx", &[(0, 1), (1, 2), (2, 3)]);
    check(&NormalizerSpec::Nfkc, "\u{FF76}\u{FF9E}", "\u{30AC}", &[(0, 1)]);
    check(
        &NormalizerSpec::Nfkc,
        "\u{2460}\u{337F}",
        "1\u{682A}\u{5F0F}\u{4F1A}\u{793E}",
        &[(0, 1), (1, 2), (1, 2), (1, 2), (1, 2)],
    );
    check(&NormalizerSpec::Nfkc, "\u{FFA1}\u{FFC2}", "\u{AC00}", &[(0, 1)]);
}

#[test]
fn decomposes_compatibly() {
    check(&NormalizerSpec::Nfkd, "\u{FB01}é", "fie\u{301}", &[(0, 1), (0, 1), (1, 2), (1, 2)]);
    check(&NormalizerSpec::Nfkd, "\u{FF8A}\u{FF9F}", "\u{30CF}\u{309A}", &[(0, 1), (1, 2)]);
    check(&NormalizerSpec::Nfkd, "½", "1\u{2044}2", &[(0, 1), (0, 1), (0, 1)]);
}

#[test]
fn lowercases() {
    check(
        &NormalizerSpec::Lowercase,
        "Éİ\u{3A3}x",
        "éi\u{307}\u{3C3}x",
        &[(0, 1), (1, 2), (1, 2), (2, 3), (3, 4)],
    );
}

#[test]
fn strips_marks_of_every_kind() {
    check(
        &NormalizerSpec::StripAccents,
        "\u{301}e\u{301}é\u{903}\u{20DD}x",
        "eéx",
        &[(1, 2), (3, 4), (6, 7)],
    );
}

#[test]
fn nmt_normalizes_whitespace_and_control_characters() {
    check(
        &NormalizerSpec::Nmt,
        "\u{1}a\u{9}b\u{200B}\u{FEFF}\u{7F}\u{8F}\u{2581}\u{0}c",
        "a b   \u{0}c",
        &[(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (8, 9), (9, 10), (10, 11)],
    );
}

#[test]
fn byte_level_writes_printable_characters() {
    check(
        &NormalizerSpec::ByteLevel,
        "a é\u{AD}\u{A}",
        "aĠÃ\u{A9}ÂŃĊ",
        &[(0, 1), (1, 2), (2, 3), (2, 3), (3, 4), (3, 4), (4, 5)],
    );
}

#[test]
fn strip_removes_whitespace_at_both_ends() {
    check(
        &NormalizerSpec::Strip { left: true, right: true },
        "\u{3000} aé b\u{85} ",
        "aé b",
        &[(2, 3), (3, 4), (4, 5), (5, 6)],
    );
    check(
        &NormalizerSpec::Strip { left: true, right: false },
        "\u{3000} aé b\u{85} ",
        "aé b\u{85} ",
        &[(2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 8)],
    );
    check(
        &NormalizerSpec::Strip { left: false, right: true },
        "\u{3000} aé b\u{85} ",
        "\u{3000} aé b",
        &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6)],
    );
    check(
        &NormalizerSpec::Strip { left: false, right: false },
        "\u{3000} aé b\u{85} ",
        "\u{3000} aé b\u{85} ",
        &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 8)],
    );
    check(&NormalizerSpec::Strip { left: true, right: true }, " \u{9}", "", &[]);
}

#[test]
fn prepend_adds_text_before_the_first_character() {
    check(
        &NormalizerSpec::Prepend { prepend: "▁x".to_owned() },
        "éa",
        "\u{2581}xéa",
        &[(0, 1), (0, 1), (0, 1), (1, 2)],
    );
    check(&NormalizerSpec::Prepend { prepend: "▁x".to_owned() }, "", "", &[]);
}

#[test]
fn replace_writes_the_content_for_each_match() {
    check(
        &replace(PatternSpec::Text(" ".to_owned()), "▁é"),
        " a b",
        "\u{2581}éa\u{2581}éb",
        &[(0, 1), (0, 1), (1, 2), (2, 3), (2, 3), (3, 4)],
    );
    check(
        &replace(PatternSpec::Text("".to_owned()), "x"),
        "aé",
        "xaxéx",
        &[(0, 0), (0, 1), (0, 1), (1, 2), (1, 2)],
    );
    check(&replace(PatternSpec::Text("".to_owned()), "x"), "", "", &[]);
    check(&replace(regex("b*"), "x"), "abbc", "xaxcx", &[(0, 0), (0, 1), (2, 3), (3, 4), (3, 4)]);
    check(&replace(regex("é+"), ""), "aéé b", "a b", &[(0, 1), (3, 4), (4, 5)]);
    check(&replace(regex("^"), ">"), "ab", ">ab", &[(0, 0), (0, 1), (1, 2)]);
}

#[test]
fn sources_of_a_sequence_are_in_the_original() {
    check(
        &NormalizerSpec::Sequence(vec![
            NormalizerSpec::Nfd,
            NormalizerSpec::StripAccents,
            NormalizerSpec::Prepend { prepend: "▁".to_owned() },
            replace(PatternSpec::Text(" ".to_owned()), "▁"),
            NormalizerSpec::Sequence(vec![NormalizerSpec::ByteLevel]),
        ]),
        "é \u{FB01}",
        "âĸģeâĸģï\u{AC}ģ",
        &[(0, 1), (0, 1), (0, 1), (0, 1), (1, 2), (1, 2), (1, 2), (2, 3), (2, 3), (2, 3)],
    );
    check(&NormalizerSpec::Sequence(vec![]), "é", "é", &[(0, 1)]);
}

#[test]
fn a_bad_pattern_names_its_place() {
    let spec = NormalizerSpec::Sequence(vec![replace(regex("("), "")]);
    let error = Normalizer::compile(Some(&spec)).unwrap_err();
    assert_eq!(error.place, "normalizer.normalizers[0].pattern");
}

#[test]
fn inserted_text_has_an_empty_source_at_the_start() {
    // tokenizers 0.23.3 panics on the first and doubles the mark on the second.
    let mark = || replace(regex("^"), ">");
    check(
        &NormalizerSpec::Sequence(vec![mark(), NormalizerSpec::Lowercase]),
        "Ab",
        ">ab",
        &[(0, 0), (0, 1), (1, 2)],
    );
    let strip = NormalizerSpec::Strip { left: true, right: true };
    check(&NormalizerSpec::Sequence(vec![mark(), strip.clone()]), "Ab ", ">Ab", &[(0, 0), (0, 1), (1, 2)]);
    check(&NormalizerSpec::Sequence(vec![strip, mark()]), " Ab", ">Ab", &[(0, 0), (1, 2), (2, 3)]);
    check(&NormalizerSpec::Prepend { prepend: String::new() }, "a", "a", &[(0, 1)]);
}

#[test]
fn long_runs_of_marks_take_the_time_of_sorting() {
    let text = format!("a{}", "\u{301}\u{316}".repeat(100_000));
    for form in [NormalizerSpec::Nfc, NormalizerSpec::Nfd, NormalizerSpec::Nfkc, NormalizerSpec::Nfkd] {
        assert!(run(&form, &text).0.ends_with('\u{301}'));
    }
    let kept = format!("a{}", "\u{301}\u{302E}".repeat(100_000));
    let bert = crate::spec::BertNormalizerSpec {
        clean_text: true,
        handle_chinese_chars: true,
        strip_accents: None,
        lowercase: true,
        cleaning: crate::spec::Cleaning::Tokenizers,
    };
    assert_eq!(run(&NormalizerSpec::Bert(bert), &kept).0.chars().count(), 100_001);
}

/// Return a charsmap of few rules: a trie whose node of depth one for each byte stands at its own block.
fn charsmap(rules: &[(u8, &str)]) -> Vec<u8> {
    let mut units = vec![0_u32; 256 * (rules.len() + 2)];
    let mut replacements = Vec::new();
    units[0] = 256 << 10;
    for (index, &(byte, new)) in rules.iter().enumerate() {
        let (at, below) = (256 ^ usize::from(byte), 256 * (index + 2));
        units[at] = ((at ^ below) as u32) << 10 | 1 << 8 | u32::from(byte);
        units[below] = 1 << 31 | replacements.len() as u32;
        replacements.extend(new.bytes().chain([0]));
    }
    let trie = units.iter().flat_map(|unit| unit.to_le_bytes());
    ((4 * units.len()) as u32).to_le_bytes().into_iter().chain(trie).chain(replacements).collect()
}

fn precompiled(rules: &[(u8, &str)]) -> NormalizerSpec {
    NormalizerSpec::Precompiled { charsmap: charsmap(rules) }
}

#[test]
fn charsmaps_replace_whole_short_clusters() {
    let spec = precompiled(&[(b'a', "xyz"), (b'b', ""), (b'c', "d")]);
    check(&spec, "ca\u{301}q", "dxyzq", &[(0, 1), (1, 2), (2, 3), (2, 3), (3, 4)]);
    check(
        &spec,
        "a\u{301}\u{302}\u{303}",
        "xyz\u{301}\u{302}\u{303}",
        &[(0, 1), (0, 1), (0, 1), (1, 2), (2, 3), (3, 4)],
    );
    check(&spec, "abbq", "xyzq", &[(0, 1), (0, 1), (1, 2), (3, 4)]);
    check(&spec, "c\r\nc", "d\r\nd", &[(0, 1), (1, 2), (2, 3), (3, 4)]);
}

/// Apply the rules of a charsmap to each cluster, as the documentation of `Precompiled` says.
fn rewritten_clusters(rules: &Charsmap, text: &str) -> String {
    let rewritten = |part: &str| rules.shortest_match(part.as_bytes()).map(str::to_owned);
    let rewrite = |cluster: &str| {
        let whole = Some(cluster).filter(|cluster| cluster.len() < 6).and_then(rewritten);
        whole.unwrap_or_else(|| {
            let chars = cluster.chars().map(String::from);
            chars.map(|c| rewritten(&c).unwrap_or(c)).collect()
        })
    };
    text.graphemes(true).map(rewrite).collect()
}

/// Return each character of the planes that have any in clusters of every kind, many characters to a text.
fn clusters_of_all_characters() -> impl Iterator<Item = String> {
    let chars: Vec<char> = ('\0'..'\u{40000}').chain('\u{e0000}'..'\u{e1000}').collect();
    let around = |c: &char| {
        format!(
            "{c}e{c}\u{301}\u{438}{c} {c}\u{94d}\u{915}\u{94d}{c}\u{915}{c}\u{1f469}\u{200d}{c}\r{c}\n\u{600}{c}\
             \u{1100}{c}\u{1161}{c}\u{ac00}{c}\u{11a8}\u{1f1e6}{c}\u{1f1e6}\u{1f1e6}{c}\u{e40}{c}\u{e33}\u{3099}"
        )
    };
    let texts: Vec<String> = chars.chunks(64).map(|chars| chars.iter().map(around).collect()).collect();
    texts.into_iter()
}

#[test]
fn charsmaps_rewrite_clusters_around_every_character() {
    let pairs =
        [("\u{438}\u{306}", "\u{439}"), ("ee", "e"), ("\u{e9}", ""), ("\u{600}a", "b"), ("\r\n", "\n")];
    let pairs = pairs.map(|(old, new)| (old.to_owned(), new.to_owned()));
    let named = ["nmt_nfkc", "nmt_nfkc_cf"].map(|name| compile_named(name).unwrap());
    let within_chars = charsmap(&[(0xC3, "x"), (0xE0, ""), (b'e', "i")]);
    for charsmap in named.into_iter().chain([compile_pairs(&pairs).unwrap(), within_chars]) {
        let rules = Charsmap::parse(&charsmap, "rules").unwrap();
        let normalizer = Normalizer::compile(Some(&NormalizerSpec::Precompiled { charsmap })).unwrap();
        let mut new = String::new();
        for text in clusters_of_all_characters() {
            new.clear();
            normalizer.run(&text, 0, &mut new).unwrap();
            assert_eq!(new, rewritten_clusters(&rules, &text), "{text:?}");
        }
    }
}

#[test]
fn text_that_is_kept_is_unchanged() {
    for name in ["nfkc", "nmt_nfkc", "nmt_nfkc_cf"] {
        let charsmap = compile_named(name).unwrap();
        let normalizer = Normalizer::compile(Some(&NormalizerSpec::Precompiled { charsmap })).unwrap();
        let (mut new, mut kept) = (String::new(), 0);
        for c in '\0'..=char::MAX {
            for text in [format!("{c}"), format!("\u{438}{c}"), format!("{c}\u{301}\u{e01}")] {
                if text.bytes().any(|byte| byte.is_ascii_whitespace()) || !normalizer.keeps(&text) {
                    continue;
                }
                new.clear();
                normalizer.run(&text, 0, &mut new).unwrap();
                assert_eq!(new, text);
                assert!(!text.contains('\u{2581}') && !text.contains(char::is_whitespace), "{text:?}");
                kept += 1;
            }
        }
        assert!(kept > 2_000_000, "{kept}");
    }
}

#[test]
fn a_deletion_at_the_start_does_not_shift_offsets() {
    // tokenizers 0.23.3 gives q the span (0, 1).
    check(&precompiled(&[(b'b', "")]), "bq", "q", &[(1, 2)]);
}

#[test]
fn invalid_charsmaps_name_their_place() {
    let good = charsmap(&[(b'a', "x")]);
    let mut bad: Vec<Vec<u8>> = (0..good.len()).map(|len| good[..len].to_vec()).collect();
    bad.push([&good[..good.len() - 2], b"\xFF\0"].concat());
    bad.push([&(good.len() as u32).to_le_bytes(), &good[4..]].concat());
    bad.push([&10_u32.to_le_bytes(), &good[4..]].concat());
    // A child outside the trie, a value outside the replacements, a value that is none.
    let child = 256 ^ usize::from(b'a');
    for (unit, value) in [(child, 0x7FFF_FF61_u32), (child, 0x7FFF_FE61), (512, 1 << 31 | 2), (512, 0)] {
        let mut blob = good.clone();
        blob[4 + 4 * unit..8 + 4 * unit].copy_from_slice(&value.to_le_bytes());
        bad.push(blob);
    }
    for charsmap in bad {
        let spec =
            NormalizerSpec::Sequence(vec![NormalizerSpec::Nfc, NormalizerSpec::Precompiled { charsmap }]);
        let Err(error) = Normalizer::compile(Some(&spec)) else { panic!("accepted") };
        assert_eq!(error.place, "normalizer.normalizers[1].precompiled_charsmap");
        assert_eq!(error.kind, ErrorKind::Format);
    }
    Normalizer::compile(Some(&NormalizerSpec::Precompiled { charsmap: good })).unwrap();
}

#[test]
fn rules_that_grow_without_end_are_an_error() {
    let double = replace(PatternSpec::Text("a".to_owned()), "aa");
    let long = replace(PatternSpec::Text("a".to_owned()), &"b".repeat(1 << 20));
    let levels = NormalizerSpec::Sequence(vec![NormalizerSpec::ByteLevel; 60]);
    let doubles = NormalizerSpec::Sequence(vec![double; 60]);
    let rules = precompiled(&[(b'a', &"b".repeat(1 << 20))]);
    for (spec, text, place) in [
        (doubles, "a", "normalizer.normalizers[16]"),
        (long, "aaaa", "normalizer"),
        (levels, "é", "normalizer.normalizers[15]"),
        (rules, "aaaa", "normalizer"),
    ] {
        let normalizer = Normalizer::compile(Some(&spec)).unwrap();
        let error = normalizer.run(text, 0, &mut String::new()).unwrap_err();
        assert_eq!((error.kind, error.place.as_str()), (ErrorKind::Argument, place));
    }
}
