//! Align a text with its rewriting: finds the characters that correspond where no sources are known.
//!
//! The common prefix and suffix are removed first. Between them, the search finds the fewest insertions and
//! deletions that lead from a difference to the next match (Myers 1986, "An O(ND) difference algorithm"),
//! so time grows with the differences rather than with the square of the length. Characters that differ
//! only in case or accents match. The number of steps is limited, linear in the lengths; beyond the limit,
//! or if too little matches, the rest becomes one run.

use std::ops::Range;

use piecework_unicode::{decompose, lowercase};

/// After this many matching characters the texts count as aligned again.
const ALIKE_CHARS: usize = 8;
/// The most edits between two such positions.
const MAX_EDITS: usize = 512;
/// The limit of steps: a constant, and a number for each character.
const STEPS: usize = 1 << 16;
const STEPS_PER_CHAR: usize = 64;

/// A byte span of the old text and the corresponding byte span of the new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlignedRun {
    /// The span of the old text.
    pub old: Range<usize>,
    /// The span of the new text.
    pub new: Range<usize>,
    /// Whether the characters correspond one to one; if not, all new ones correspond to all old ones.
    pub one_for_one: bool,
}

/// Emit the runs of both texts from left to right; together they cover both.
pub fn align(old: &str, new: &str, mut emit: impl FnMut(AlignedRun)) {
    let head = common_prefix(old, new);
    let tail = common_suffix(&old[head..], &new[head..]);
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let mut emit_run = |old: Range<usize>, new: Range<usize>, one_for_one| {
        if !old.is_empty() || !new.is_empty() {
            emit(AlignedRun { old, new, one_for_one });
        }
    };
    emit_run(0..head, 0..head, true);
    align_middle(&old[head..old_end], &new[head..new_end], |old, new, one_for_one| {
        emit_run(head + old.start..head + old.end, head + new.start..head + new.end, one_for_one);
    });
    emit_run(old_end..old.len(), new_end..new.len(), true);
}

fn align_middle(old: &str, new: &str, mut emit_run: impl FnMut(Range<usize>, Range<usize>, bool)) {
    let (old_chars, new_chars): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    let bytes = |chars: &[char]| chars.iter().map(|c| c.len_utf8()).sum::<usize>();
    let (mut old_at, mut new_at) = (0, 0);
    let mut emit_chars = |old: &[char], new: &[char], alike: bool| {
        let (old_to, new_to) = (old_at + bytes(old), new_at + bytes(new));
        emit_run(old_at..old_to, new_at..new_to, alike || old.len() == new.len());
        (old_at, new_at) = (old_to, new_to);
    };
    let (mut i, mut j) = (0, 0);
    for MatchingRun { old, new, len } in DiffSearch::new(&old_chars, &new_chars).run() {
        emit_chars(&old_chars[i..old], &new_chars[j..new], false);
        emit_chars(&old_chars[old..old + len], &new_chars[new..new + len], true);
        (i, j) = (old + len, new + len);
    }
    emit_chars(&old_chars[i..], &new_chars[j..], false);
}

fn common_prefix(a: &str, b: &str) -> usize {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    (0..=same).rev().find(|&at| a.is_char_boundary(at)).unwrap_or(0)
}

fn common_suffix(a: &str, b: &str) -> usize {
    let same = a.bytes().rev().zip(b.bytes().rev()).take_while(|(a, b)| a == b).count();
    (0..=same).rev().find(|&at| a.is_char_boundary(a.len() - at)).unwrap_or(0)
}

/// Characters from `old` and from `new` on that match.
#[derive(Clone, Copy, Debug)]
struct MatchingRun {
    old: usize,
    new: usize,
    len: usize,
}

/// Searches the characters that two texts share.
struct DiffSearch<'t> {
    old: &'t [char],
    new: &'t [char],
    steps_left: usize,
    /// The furthest position in `old` on each diagonal: for `e` edits, diagonals `-e` to `e` are stored
    /// from `e * e` on; `None` if no path leads there.
    reached: Vec<Option<u32>>,
    found: Vec<MatchingRun>,
}

impl<'t> DiffSearch<'t> {
    fn new(old: &'t [char], new: &'t [char]) -> Self {
        let steps_left = STEPS + STEPS_PER_CHAR * (old.len() + new.len());
        Self { old, new, steps_left, reached: Vec::new(), found: Vec::new() }
    }

    /// Find the matching runs, from left to right.
    fn run(mut self) -> Vec<MatchingRun> {
        let (mut i, mut j) = (0, 0);
        loop {
            let len = self.alike_from(i, j, usize::MAX);
            self.push_match(i, j, len);
            (i, j) = (i + len, j + len);
            if i == self.old.len() || j == self.new.len() {
                return self.found;
            }
            match self.find_edits(i, j) {
                Some((edits, diagonal)) => (i, j) = self.follow(i, j, edits, diagonal),
                None => return self.found,
            }
        }
    }

    fn push_match(&mut self, old: usize, new: usize, len: usize) {
        if len > 0 {
            self.found.push(MatchingRun { old, new, len });
        }
    }

    /// Return the number of characters that match from (i, j) on, at most `most`.
    fn alike_from(&self, i: usize, j: usize, most: usize) -> usize {
        let pairs = self.old[i..].iter().zip(&self.new[j..]).take(most);
        pairs.take_while(|(a, b)| is_alike(**a, **b)).count()
    }

    /// Return the fewest edits after the difference at (i, j) that lead to a match or to the end, and
    /// their diagonal.
    fn find_edits(&mut self, i: usize, j: usize) -> Option<(usize, isize)> {
        self.reached.clear();
        self.reached.push(Some(i as u32));
        for edits in 1..=MAX_EDITS {
            self.steps_left = self.steps_left.checked_sub(2 * edits + 1)?;
            self.reached.resize((edits + 1) * (edits + 1), None);
            // Diagonals near the middle come first, so of equal paths the one with the smaller shift wins.
            for shift in 0..=edits as isize {
                for diagonal in [shift, -shift] {
                    if self.extend(i, j, edits, diagonal) {
                        return Some((edits, diagonal));
                    }
                }
            }
        }
        self.furthest(i, j)
    }

    /// Extend one diagonal by one edit; return whether it leads to a match or to the end.
    fn extend(&mut self, i: usize, j: usize, edits: usize, diagonal: isize) -> bool {
        let Some((from, _)) = self.after_edit(i, j, edits, diagonal) else { return false };
        let new_from = on_new(i, j, from, diagonal);
        let len = self.alike_from(from, new_from, ALIKE_CHARS);
        self.reached[slot(edits, diagonal)] = Some((from + len) as u32);
        len == ALIKE_CHARS || (from + len == self.old.len() && new_from + len == self.new.len())
    }

    /// Return the furthest position on a diagonal after the last of `edits`, and the diagonal before it.
    fn after_edit(&self, i: usize, j: usize, edits: usize, diagonal: isize) -> Option<(usize, isize)> {
        // A deletion from the old text, or an insertion into the new one.
        let ways = [(diagonal - 1, 1), (diagonal + 1, 0)];
        let place = |&(before, step): &(isize, usize)| {
            if before.unsigned_abs() >= edits {
                return None;
            }
            let at = self.reached[slot(edits - 1, before)]? as usize + step;
            let is_inside = at <= self.old.len() && on_new(i, j, at, diagonal) <= self.new.len();
            is_inside.then_some((at, before))
        };
        ways.iter().filter_map(place).reduce(|best, way| if way.0 > best.0 { way } else { best })
    }

    /// Return the path that leads furthest with all allowed edits, if more characters match on it than
    /// differ.
    fn furthest(&self, i: usize, j: usize) -> Option<(usize, isize)> {
        let most = MAX_EDITS as isize;
        let way = |diagonal: isize| {
            let at = self.reached[slot(MAX_EDITS, diagonal)]? as usize;
            Some((at - i + on_new(i, j, at, diagonal) - j, diagonal))
        };
        let (length, diagonal) = (-most..=most).filter_map(way).max()?;
        // An edit is one character of either text, a match one of both.
        (length >= 3 * MAX_EDITS).then_some((MAX_EDITS, diagonal))
    }

    /// Record the matches on the path from (i, j); return its end.
    fn follow(&mut self, i: usize, j: usize, edits: usize, diagonal: isize) -> (usize, usize) {
        let first = self.found.len();
        let mut at = self.reached[slot(edits, diagonal)].map_or(i, |at| at as usize);
        let end = (at, on_new(i, j, at, diagonal));
        let mut diagonal = diagonal;
        for edits in (1..=edits).rev() {
            let Some((from, before)) = self.after_edit(i, j, edits, diagonal) else { break };
            self.push_match(from, on_new(i, j, from, diagonal), at - from);
            diagonal = before;
            at = self.reached[slot(edits - 1, diagonal)].map_or(i, |at| at as usize);
        }
        self.found[first..].reverse();
        end
    }
}

/// Return the index of a diagonal in the row of a number of edits.
fn slot(edits: usize, diagonal: isize) -> usize {
    (edits * edits + edits).wrapping_add_signed(diagonal)
}

/// Return the position in the new text on a diagonal, counted from (i, j), for position `at` in the old
/// one.
fn on_new(i: usize, j: usize, at: usize, diagonal: isize) -> usize {
    (at - i + j).wrapping_add_signed(-diagonal)
}

/// Return whether two characters are equal except for case and accents.
fn is_alike(a: char, b: char) -> bool {
    a == b || if a.is_ascii() && b.is_ascii() { a.eq_ignore_ascii_case(&b) } else { base(a) == base(b) }
}

fn base(c: char) -> char {
    let (mut first, mut lower) = (None, None);
    decompose(c, |part| first = first.or(Some(part)));
    lowercase(first.unwrap_or(c), |part| lower = lower.or(Some(part)));
    lower.unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
}
