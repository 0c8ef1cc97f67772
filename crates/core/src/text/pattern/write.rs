//! Writes what was read as an expression for fancy-regex: explicit ranges, and every reading of a literal
//! text when case does not matter.

use std::fmt::Write;

use regex_syntax::hir::ClassUnicode;

use super::{class, fold};

/// A set as explicit ranges.
pub(super) fn write_set(set: &ClassUnicode) -> String {
    if set.ranges().is_empty() {
        return "[^\\x{0}-\\x{10FFFF}]".to_owned();
    }
    let mut out = String::from("[");
    for range in set.ranges() {
        write!(out, "\\x{{{:X}}}-\\x{{{:X}}}", range.start() as u32, range.end() as u32).ok();
    }
    out.push(']');
    out
}

fn write_char(c: char) -> String {
    format!("\\x{{{:X}}}", c as u32)
}

/// A literal character as one unit.
pub(super) fn literal_unit(c: char, ignore_case: bool) -> String {
    if !ignore_case {
        return write_char(c);
    }
    let mut run = vec![c];
    let mut out = String::from("(?:");
    flush(&mut run, ignore_case, &mut out);
    out.push(')');
    out
}

/// Write a run of literal characters; without regard to case, one of them may stand for several.
pub(super) fn flush(run: &mut Vec<char>, ignore_case: bool, out: &mut String) {
    if ignore_case {
        let folded: Vec<char> =
            run.iter().flat_map(|&c| fold::full_fold(c).unwrap_or_else(|| vec![c])).collect();
        write_folded(&folded, out);
    } else {
        run.iter().for_each(|&c| out.push_str(&write_char(c)));
    }
    run.clear();
}

fn write_folded(run: &[char], out: &mut String) {
    let mut at = 0;
    while at < run.len() {
        // The shortest stretch from here that no character folding to several goes out of.
        let mut end = at + 1;
        let mut next = at;
        while next < end {
            for len in [2, 3] {
                if next + len <= run.len() && !fold::folding_to(&run[next..next + len]).is_empty() {
                    end = end.max(next + len);
                }
            }
            next += 1;
        }
        if end == at + 1 {
            let mut set = class::single(run[at]);
            set.case_fold_simple();
            out.push_str(&write_set(&set));
        } else {
            out.push_str(&write_stretch(&run[at..end.min(at + MAX_STRETCH)]));
            end = end.min(at + MAX_STRETCH);
        }
        at = end;
    }
}

/// Longest stretch whose every reading is written out.
const MAX_STRETCH: usize = 12;

/// Every way to read a stretch: each character alone, or two or three as one.
fn write_stretch(run: &[char]) -> String {
    let Some((&first, rest)) = run.split_first() else { return String::new() };
    let mut set = class::single(first);
    set.case_fold_simple();
    let mut ways = vec![format!("{}{}", write_set(&set), write_stretch(rest))];
    for len in [2, 3] {
        if run.len() >= len {
            let members = fold::folding_to(&run[..len]);
            if !members.is_empty() {
                let set: String = members.iter().map(|&c| write_char(c)).collect();
                ways.push(format!("[{set}]{}", write_stretch(&run[len..])));
            }
        }
    }
    format!("(?:{})", ways.join("|"))
}

/// The sequences that members of a set equal when case does not matter, longest first.
pub(super) fn sequences_of(set: &ClassUnicode) -> Vec<String> {
    let has = |c: char| set.ranges().iter().any(|range| range.start() <= c && c <= range.end());
    let mut sequences: Vec<&[char]> =
        fold::sequences().filter(|&(_, to)| to.iter().any(|&c| has(c))).map(|s| s.0).collect();
    sequences.sort_by_key(|&sequence| (std::cmp::Reverse(sequence.len()), sequence));
    let write = |sequence: &[char]| {
        let mut out = String::new();
        write_folded(sequence, &mut out);
        out
    };
    sequences.into_iter().map(write).collect()
}
