//! Which characters of a text became which characters of its rewriting, when nobody kept account.
//!
//! What both have at the beginning and at the end is set aside. Between, edits are sought from one place
//! where the texts differ to where they run alike again, by the fewest characters left out and put in
//! (Myers 1986, "An O(ND) difference algorithm"), so that time grows with the differences and not with
//! the square of the text. Characters that differ in case or accents alone
//! count as alike. All of it is paid from a budget that is linear in the lengths; where that is spent,
//! or where too little is alike, the rest becomes one block.

use std::ops::Range;

use super::unicode::{decompose, lowercase};

/// A stretch of the old text and the stretch of the new one that stands for it; in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// In the old text.
    pub old: Range<usize>,
    /// In the new text.
    pub new: Range<usize>,
    /// Whether the characters stand one for one; if not, all new ones stand for all old ones.
    pub one_for_one: bool,
}

/// Texts that run alike for so many characters are taken to be together again.
const ALIKE_CHARS: usize = 8;
/// Most edits between two such places.
const MAX_EDITS: usize = 512;
/// Steps that the search may take: some always, and some for each character.
const STEPS: usize = 1 << 16;
const STEPS_PER_CHAR: usize = 64;

/// Give the runs of both texts from left to right; together they cover both.
pub fn align(old: &str, new: &str, mut emit: impl FnMut(Run)) {
    let head = common_prefix(old, new);
    let tail = common_suffix(&old[head..], &new[head..]);
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let mut give = |old: Range<usize>, new: Range<usize>, one_for_one| {
        if !old.is_empty() || !new.is_empty() {
            emit(Run { old, new, one_for_one });
        }
    };
    give(0..head, 0..head, true);
    align_middle(&old[head..old_end], &new[head..new_end], |old, new, one_for_one| {
        give(head + old.start..head + old.end, head + new.start..head + new.end, one_for_one);
    });
    give(old_end..old.len(), new_end..new.len(), true);
}

fn align_middle(old: &str, new: &str, mut give: impl FnMut(Range<usize>, Range<usize>, bool)) {
    let (old_chars, new_chars): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    let bytes = |chars: &[char]| chars.iter().map(|c| c.len_utf8()).sum::<usize>();
    let (mut old_at, mut new_at) = (0, 0);
    let mut give_chars = |old: &[char], new: &[char], alike: bool| {
        let (old_to, new_to) = (old_at + bytes(old), new_at + bytes(new));
        give(old_at..old_to, new_at..new_to, alike || old.len() == new.len());
        (old_at, new_at) = (old_to, new_to);
    };
    let (mut i, mut j) = (0, 0);
    for Alike { old, new, len } in Search::new(&old_chars, &new_chars).run() {
        give_chars(&old_chars[i..old], &new_chars[j..new], false);
        give_chars(&old_chars[old..old + len], &new_chars[new..new + len], true);
        (i, j) = (old + len, new + len);
    }
    give_chars(&old_chars[i..], &new_chars[j..], false);
}

/// Characters from `old` and from `new` on that are alike.
#[derive(Clone, Copy, Debug)]
struct Alike {
    old: usize,
    new: usize,
    len: usize,
}

struct Search<'t> {
    old: &'t [char],
    new: &'t [char],
    steps_left: usize,
    /// How far into `old` each diagonal can be followed from the last place: for `e` edits those from
    /// `-e` to `e` stand from `e * e` on; `None` where no path leads.
    reached: Vec<Option<u32>>,
    found: Vec<Alike>,
}

impl<'t> Search<'t> {
    fn new(old: &'t [char], new: &'t [char]) -> Self {
        let steps_left = STEPS + STEPS_PER_CHAR * (old.len() + new.len());
        Self { old, new, steps_left, reached: Vec::new(), found: Vec::new() }
    }

    /// Find what is alike, from left to right.
    fn run(mut self) -> Vec<Alike> {
        let (mut i, mut j) = (0, 0);
        loop {
            let len = self.alike_from(i, j, usize::MAX);
            self.note(i, j, len);
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

    fn note(&mut self, old: usize, new: usize, len: usize) {
        if len > 0 {
            self.found.push(Alike { old, new, len });
        }
    }

    /// How many characters are alike from there on, `most` at the most.
    fn alike_from(&self, i: usize, j: usize, most: usize) -> usize {
        let pairs = self.old[i..].iter().zip(&self.new[j..]).take(most);
        pairs.take_while(|(a, b)| is_alike(**a, **b)).count()
    }

    /// The fewest edits after (i, j), where the texts differ, that lead to where they run alike again or
    /// end, and the diagonal that does.
    fn find_edits(&mut self, i: usize, j: usize) -> Option<(usize, isize)> {
        self.reached.clear();
        self.reached.push(Some(i as u32));
        for edits in 1..=MAX_EDITS {
            self.steps_left = self.steps_left.checked_sub(2 * edits + 1)?;
            self.reached.resize((edits + 1) * (edits + 1), None);
            // Diagonals near the middle first: of two ways that cost the same, the one that shifts less.
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

    /// Follow one diagonal by one more edit; whether it leads to where both run alike or end.
    fn extend(&mut self, i: usize, j: usize, edits: usize, diagonal: isize) -> bool {
        let Some((from, _)) = self.after_edit(i, j, edits, diagonal) else { return false };
        let new_from = on_new(i, j, from, diagonal);
        let len = self.alike_from(from, new_from, ALIKE_CHARS);
        self.reached[slot(edits, diagonal)] = Some((from + len) as u32);
        len == ALIKE_CHARS || (from + len == self.old.len() && new_from + len == self.new.len())
    }

    /// The furthest place on a diagonal right after the last of `edits`, and the diagonal before it.
    fn after_edit(&self, i: usize, j: usize, edits: usize, diagonal: isize) -> Option<(usize, isize)> {
        // A character left out of the old text, or one put into the new.
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

    /// Where all edits allowed lead furthest, if more characters are alike on the way than are not.
    fn furthest(&self, i: usize, j: usize) -> Option<(usize, isize)> {
        let most = MAX_EDITS as isize;
        let way = |diagonal: isize| {
            let at = self.reached[slot(MAX_EDITS, diagonal)]? as usize;
            Some((at - i + on_new(i, j, at, diagonal) - j, diagonal))
        };
        let (length, diagonal) = (-most..=most).filter_map(way).max()?;
        // Each edit is one character of either text, what is alike one of both.
        (length >= 3 * MAX_EDITS).then_some((MAX_EDITS, diagonal))
    }

    /// Note what is alike on the way from (i, j); returns where it leads.
    fn follow(&mut self, i: usize, j: usize, edits: usize, diagonal: isize) -> (usize, usize) {
        let first = self.found.len();
        let mut at = self.reached[slot(edits, diagonal)].map_or(i, |at| at as usize);
        let end = (at, on_new(i, j, at, diagonal));
        let mut diagonal = diagonal;
        for edits in (1..=edits).rev() {
            let Some((from, before)) = self.after_edit(i, j, edits, diagonal) else { break };
            self.note(from, on_new(i, j, from, diagonal), at - from);
            diagonal = before;
            at = self.reached[slot(edits - 1, diagonal)].map_or(i, |at| at as usize);
        }
        self.found[first..].reverse();
        end
    }
}

/// Where the row of a number of edits holds a diagonal.
fn slot(edits: usize, diagonal: isize) -> usize {
    (edits * edits + edits).wrapping_add_signed(diagonal)
}

/// The place in the new text that a diagonal, counted from (i, j), has beside place `at` in the old one.
fn on_new(i: usize, j: usize, at: usize, diagonal: isize) -> usize {
    (at - i + j).wrapping_add_signed(-diagonal)
}

/// Whether two characters are the same but for case and accents.
fn is_alike(a: char, b: char) -> bool {
    a == b || if a.is_ascii() && b.is_ascii() { a.eq_ignore_ascii_case(&b) } else { base(a) == base(b) }
}

fn base(c: char) -> char {
    let (mut first, mut lower) = (None, None);
    decompose(c, |part| first = first.or(Some(part)));
    lowercase(first.unwrap_or(c), |part| lower = lower.or(Some(part)));
    lower.unwrap_or(c)
}

fn common_prefix(a: &str, b: &str) -> usize {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    (0..=same).rev().find(|&at| a.is_char_boundary(at)).unwrap_or(0)
}

fn common_suffix(a: &str, b: &str) -> usize {
    let same = a.bytes().rev().zip(b.bytes().rev()).take_while(|(a, b)| a == b).count();
    (0..=same).rev().find(|&at| a.is_char_boundary(a.len() - at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn runs(old: &str, new: &str) -> Vec<Run> {
        let mut runs = Vec::new();
        align(old, new, |run| runs.push(run));
        runs
    }

    /// What is not one for one, or is but differs, as old -> new.
    fn changes(old: &str, new: &str) -> Vec<(String, String)> {
        let text = |run: Run| (old[run.old].to_owned(), new[run.new].to_owned());
        runs(old, new).into_iter().map(text).filter(|(a, b)| a != b).collect()
    }

    fn change(old: &str, new: &str) -> (String, String) {
        (old.to_owned(), new.to_owned())
    }

    /// The fewest characters left out and put in, by definition, row by row.
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

    /// What the runs cost as edits.
    fn cost(old: &str, new: &str) -> usize {
        let cost = |run: Run| {
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
    fn changes_stand_where_they_were_made() {
        assert_eq!(changes("a … b", "a ... b"), [change("…", "...")]);
        assert_eq!(changes("“Hi” he said", "\"Hi\" he said"), [change("“", "\""), change("”", "\"")]);
        assert_eq!(changes("one <b>two</b> three", "one two three").len(), 2);
        assert_eq!(changes("Ça va", "ca va"), [change("Ç", "c")]);
        assert_eq!(changes("", "abc"), [change("", "abc")]);
        assert_eq!(changes("abc", ""), [change("abc", "")]);
        assert!(changes("same", "same").is_empty());
    }

    #[test]
    fn a_text_in_other_letters_stands_one_for_one() {
        let (old, new) = ("abcdefghij".repeat(500), "ABCDEFGHIJ".repeat(500));
        assert!(runs(&old, &new).iter().all(|run| run.one_for_one));
        let cipher = old.replace(|c: char| c.is_ascii(), "☃");
        assert_eq!(runs(&old, &cipher).len(), 1);
    }

    #[test]
    fn what_is_too_different_is_one_block() {
        let (old, new) = ("ab".repeat(20_000), "xyz".repeat(9_999));
        assert_eq!(runs(&old, &new).len(), 1);
        check_cover(&old, &new);
    }

    #[test]
    fn many_changes_in_a_long_text_are_each_found() {
        let old = "say … to the “world” of 12 words; ".repeat(5_000);
        let new = old.replace('…', "...").replace(['“', '”'], "\"").replace(" of", "");
        check_cover(&old, &new);
        assert!(changes(&old, &new).len() > 3 * 5_000 - 10);
    }

    proptest! {
        #[test]
        fn short_texts_take_as_few_edits_as_can_be(old in "[abcdÉe ]{0,14}", new in "[abcdEé ]{0,14}") {
            check_cover(&old, &new);
            let (a, b): (Vec<_>, Vec<_>) = (old.chars().collect(), new.chars().collect());
            prop_assert_eq!(cost(&old, &new), distance(&a, &b));
        }

        #[test]
        fn any_two_texts_are_covered(old in ".{0,300}", new in ".{0,300}") {
            check_cover(&old, &new);
        }
    }
}
