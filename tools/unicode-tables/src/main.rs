//! Writes `crates/unicode/src/tables.rs` to standard output.
//!
//! One byte of class flags and the index of one row of mappings for every code point, in two-stage
//! tables, and the pairs that compose. The data is that of tokenizers 0.23, so that ids agree on every
//! code point: general categories from `unicode_categories` (Unicode 8), normal forms from
//! `unicode-normalization-alignments` (Unicode 9), whitespace and lowercase from the Rust standard
//! library (Unicode 17 in Rust 1.95; another version refuses to run).
//!
//! Run from the repository root: `make unicode-tables`.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

use unicode_categories::UnicodeCategories;
use unicode_normalization_alignments::char::{
    canonical_combining_class, compose, decompose_canonical, decompose_compatible, is_combining_mark,
};
use unicode_normalization_alignments::UnicodeNormalization;

const DROP: u8 = 1;
const WHITESPACE: u8 = 2;
const PUNCTUATION: u8 = 4;
const CJK: u8 = 8;
const NONSPACING_MARK: u8 = 16;
const DECOMPOSES: u8 = 32;
const HAS_LOWERCASE: u8 = 64;
const REORDERS: u8 = 128;

const MARK: u8 = 1;
const JOINS_CANONICAL: u8 = 2;
const JOINS_COMPATIBLE: u8 = 4;
const WORK_NFC: u8 = 8;
const WORK_NFD: u8 = 16;
const WORK_NFKC: u8 = 32;
const WORK_NFKD: u8 = 64;

const CODE_POINTS: usize = 0x11_0000;
const BLOCK: usize = 128;

/// What one code point becomes, and how it behaves under normal forms; texts are spans of the pool.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Row {
    canonical: (u16, u8),
    compatible: (u16, u8),
    lower: (u16, u8),
    combining_class: u8,
    flags: u8,
}

fn main() {
    assert_eq!(char::UNICODE_VERSION, (17, 0, 0), "build with a Rust whose tables are Unicode 17");
    let pairs = composing_pairs();
    let seconds: BTreeSet<char> = pairs.iter().map(|pair| pair.1).chain(hangul_seconds()).collect();
    let mut classes = vec![0u8; CODE_POINTS];
    let mut row_of = vec![0u16; CODE_POINTS];
    let mut pool: Vec<char> = Vec::new();
    let (mut rows, mut seen): (Vec<Row>, HashMap<Row, u16>) = Default::default();
    let mut index_of = |row: Row| {
        *seen.entry(row).or_insert_with(|| {
            rows.push(row);
            u16::try_from(rows.len() - 1).expect("fewer than 65536 rows")
        })
    };
    index_of(row(&mut pool, '\0', &seconds));
    for c in code_points() {
        classes[c as usize] = class_of(c);
        row_of[c as usize] = index_of(row(&mut pool, c, &seconds));
    }
    print!("{}", render(&classes, &row_of, &rows, &pool, &pairs));
}

fn code_points() -> impl Iterator<Item = char> {
    (0..CODE_POINTS as u32).filter_map(char::from_u32)
}

/// Every pair that composes, but Hangul, in order.
fn composing_pairs() -> Vec<(char, char, char)> {
    let parts: BTreeSet<char> = code_points()
        .filter(|&c| !is_hangul_syllable(c))
        .flat_map(|c| canonical(c).into_iter().skip(1))
        .collect();
    let mut pairs = Vec::new();
    for first in code_points() {
        let composed = |&second: &char| Some((first, second, compose(first, second)?));
        pairs.extend(parts.iter().filter_map(composed));
    }
    pairs
}

/// Hangul vowels and final consonants, which compose by arithmetic.
fn hangul_seconds() -> impl Iterator<Item = char> {
    ('\u{1161}'..='\u{1175}').chain('\u{11A8}'..='\u{11C2}')
}

fn row(pool: &mut Vec<char>, c: char, seconds: &BTreeSet<char>) -> Row {
    let (canonical, compatible, lower) = (canonical(c), compatible(c), lowercase(c));
    let joins = |first: char| canonical_combining_class(first) != 0 || seconds.contains(&first);
    let changes = |form: &mut dyn Iterator<Item = (char, isize)>| !form.map(|(f, _)| f).eq([c]);
    let one = || std::iter::once(c);
    let mut flags = 0;
    let mut set = |flag, on: bool| flags |= if on { flag } else { 0 };
    set(MARK, is_combining_mark(c));
    set(JOINS_CANONICAL, joins(canonical[0]));
    set(JOINS_COMPATIBLE, joins(compatible[0]));
    set(WORK_NFC, changes(&mut one().nfc()) || seconds.contains(&canonical[0]));
    set(WORK_NFD, changes(&mut one().nfd()));
    set(WORK_NFKC, changes(&mut one().nfkc()) || seconds.contains(&compatible[0]));
    set(WORK_NFKD, changes(&mut one().nfkd()));
    let by_arithmetic = is_hangul_syllable(c);
    let mut mapped = |text: &[char]| match text {
        &[same] if same == c => (0, 0),
        _ if by_arithmetic => (0, 0),
        _ => intern(pool, text),
    };
    Row {
        canonical: mapped(&canonical),
        compatible: mapped(&compatible),
        lower: mapped(&lower),
        combining_class: canonical_combining_class(c),
        flags,
    }
}

fn class_of(c: char) -> u8 {
    let control = c.is_other() && !matches!(c, '\t' | '\n' | '\r');
    let mark = c.is_mark_nonspacing();
    let mut class = 0;
    let mut set = |flag, on: bool| class |= if on { flag } else { 0 };
    set(DROP, c == '\0' || c == '\u{FFFD}' || control);
    set(WHITESPACE, c.is_whitespace());
    set(PUNCTUATION, c.is_ascii_punctuation() || c.is_punctuation());
    set(CJK, is_cjk_ideograph(c));
    set(NONSPACING_MARK, mark);
    set(DECOMPOSES, canonical(c) != [c]);
    set(HAS_LOWERCASE, lowercase(c) != [c]);
    set(REORDERS, canonical_combining_class(c) != 0 && !mark);
    class
}

/// The ranges that tokenizers treats as CJK; the one at 2B920 is its own.
fn is_cjk_ideograph(c: char) -> bool {
    matches!(u32::from(c),
        0x4E00..=0x9FFF | 0x3400..=0x4DBF | 0x20000..=0x2A6DF | 0x2A700..=0x2B73F
        | 0x2B740..=0x2B81F | 0x2B920..=0x2CEAF | 0xF900..=0xFAFF | 0x2F800..=0x2FA1F)
}

fn is_hangul_syllable(c: char) -> bool {
    ('\u{AC00}'..='\u{D7A3}').contains(&c)
}

fn canonical(c: char) -> Vec<char> {
    let mut out = Vec::new();
    decompose_canonical(c, |d| out.push(d));
    out
}

fn compatible(c: char) -> Vec<char> {
    let mut out = Vec::new();
    decompose_compatible(c, |d| out.push(d));
    out
}

fn lowercase(c: char) -> Vec<char> {
    c.to_lowercase().collect()
}

fn intern(pool: &mut Vec<char>, text: &[char]) -> (u16, u8) {
    let at = pool.windows(text.len()).position(|window| window == text).unwrap_or_else(|| {
        pool.extend_from_slice(text);
        pool.len() - text.len()
    });
    (u16::try_from(at).expect("pool below 65536"), text.len() as u8)
}

fn two_stage<T: Copy + Eq + std::hash::Hash>(values: &[T]) -> (Vec<u16>, Vec<T>) {
    let mut seen: HashMap<&[T], u16> = HashMap::new();
    let (mut stage1, mut stage2) = (Vec::new(), Vec::new());
    for block in values.chunks(BLOCK) {
        let index = *seen.entry(block).or_insert_with(|| {
            stage2.extend_from_slice(block);
            (stage2.len() / BLOCK - 1) as u16
        });
        stage1.push(index);
    }
    (stage1, stage2)
}

fn render(
    classes: &[u8],
    row_of: &[u16],
    rows: &[Row],
    pool: &[char],
    pairs: &[(char, char, char)],
) -> String {
    let (class1, class2) = two_stage(classes);
    let (row1, row2) = two_stage(row_of);
    let mut out = String::from(
        "// Generated by `make unicode-tables` (tools/unicode-tables); do not edit.\n\n\
         use super::row::{row, Row};\n\n",
    );
    array(&mut out, "CLASS_BLOCKS", "u16", &class1);
    array(&mut out, "CLASSES", "u8", &class2);
    array(&mut out, "ROW_BLOCKS", "u16", &row1);
    array(&mut out, "ROW_INDEX", "u16", &row2);
    let cells: Vec<String> = rows.iter().map(literal).collect();
    array(&mut out, "ROWS", "Row", &cells);
    let chars: Vec<String> = pool.iter().map(|c| format!("'{}'", c.escape_unicode())).collect();
    array(&mut out, "MAPPED_CHARS", "char", &chars);
    let triples: Vec<String> = pairs
        .iter()
        .map(|(a, b, c)| format!("(0x{:X}, 0x{:X}, '{}')", *a as u32, *b as u32, c.escape_unicode()))
        .collect();
    array(&mut out, "COMPOSITIONS", "(u32, u32, char)", &triples);
    out
}

fn literal(row: &Row) -> String {
    let Row { canonical, compatible, lower, combining_class, flags } = row;
    format!("row({canonical:?}, {compatible:?}, {lower:?}, {combining_class}, {flags})")
}

fn array<T: std::fmt::Display>(out: &mut String, name: &str, kind: &str, values: &[T]) {
    writeln!(out, "pub(super) static {name}: [{kind}; {}] = [", values.len()).expect("string");
    for line in values.chunks(24) {
        let cells: Vec<String> = line.iter().map(ToString::to_string).collect();
        writeln!(out, "    {},", cells.join(", ")).expect("string");
    }
    out.push_str("];\n\n");
}
