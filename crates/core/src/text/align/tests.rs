//! Run cover both texts with as few edits as possible.

use super::*;
use proptest::prelude::*;

fn runs(old: &str, new: &str) -> Vec<AlignedRun> {
    let mut runs = Vec::new();
    align(old, new, |run| runs.push(run));
    runs
}

/// Return the runs that differ, as old -> new.
fn changes(old: &str, new: &str) -> Vec<(String, String)> {
    let text = |run: AlignedRun| (old[run.old].to_owned(), new[run.new].to_owned());
    runs(old, new).into_iter().map(text).filter(|(a, b)| a != b).collect()
}

fn change(old: &str, new: &str) -> (String, String) {
    (old.to_owned(), new.to_owned())
}

/// Return the fewest insertions and deletions, by definition, row by row.
fn distance(old: &[char], new: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=new.len()).collect();
    for (i, a) in old.iter().enumerate() {
        let mut before = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in new.iter().enumerate() {
            let kept = if is_alike(*a, *b) { before } else { usize::MAX };
            before = row[j + 1];
            row[j + 1] = kept.min(before + 1).min(row[j] + 1);
        }
    }
    row[new.len()]
}

/// Return the cost of the runs as edits.
fn cost(old: &str, new: &str) -> usize {
    let cost = |run: AlignedRun| {
        let (a, b): (Vec<_>, Vec<_>) = (old[run.old].chars().collect(), new[run.new].chars().collect());
        match run.one_for_one {
            true => a.iter().zip(&b).filter(|(a, b)| !is_alike(**a, **b)).count() * 2,
            false => a.len() + b.len(),
        }
    };
    runs(old, new).into_iter().map(cost).sum()
}

fn check_cover(old: &str, new: &str) {
    let (mut i, mut j) = (0, 0);
    for run in runs(old, new) {
        assert_eq!((run.old.start, run.new.start), (i, j));
        (i, j) = (run.old.end, run.new.end);
        let same = old[run.old].chars().count() == new[run.new].chars().count();
        assert!(same || !run.one_for_one);
    }
    assert_eq!((i, j), (old.len(), new.len()));
}

#[test]
fn sources_of_changes_are_where_they_were_made() {
    assert_eq!(changes("a … b", "a ... b"), [change("…", "...")]);
    assert_eq!(changes("“Hi” he said", "\"Hi\" he said"), [change("“", "\""), change("”", "\"")]);
    assert_eq!(changes("one <b>two</b> three", "one two three").len(), 2);
    assert_eq!(changes("Ça va", "ca va"), [change("Ç", "c")]);
    assert_eq!(changes("", "abc"), [change("", "abc")]);
    assert_eq!(changes("abc", ""), [change("abc", "")]);
    assert!(changes("same", "same").is_empty());
}

#[test]
fn a_text_in_other_letters_is_aligned_one_to_one() {
    let (old, new) = ("abcdefghij".repeat(500), "ABCDEFGHIJ".repeat(500));
    assert!(runs(&old, &new).iter().all(|run| run.one_for_one));
    let cipher = old.replace(|c: char| c.is_ascii(), "☃");
    assert_eq!(runs(&old, &cipher).len(), 1);
}

#[test]
fn texts_that_differ_too_much_are_one_block() {
    let (old, new) = ("ab".repeat(20_000), "xyz".repeat(9_999));
    assert_eq!(runs(&old, &new).len(), 1);
    check_cover(&old, &new);
}

#[test]
fn each_of_many_changes_in_a_long_text_is_found() {
    let old = "say … to the “world” of 12 words; ".repeat(5_000);
    let new = old.replace('…', "...").replace(['“', '”'], "\"").replace(" of", "");
    check_cover(&old, &new);
    assert!(changes(&old, &new).len() > 3 * 5_000 - 10);
}

proptest! {
    #[test]
    fn short_texts_are_aligned_with_the_fewest_edits(old in "[abcdÉe ]{0,14}", new in "[abcdEé ]{0,14}") {
        check_cover(&old, &new);
        let (a, b): (Vec<_>, Vec<_>) = (old.chars().collect(), new.chars().collect());
        prop_assert_eq!(cost(&old, &new), distance(&a, &b));
    }

    #[test]
    fn an_alignment_covers_both_texts(old in ".{0,300}", new in ".{0,300}") {
        check_cover(&old, &new);
    }
}
