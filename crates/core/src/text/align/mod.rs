//! Which characters of a text became which characters of its rewriting, when nobody kept account.
//!
//! What both have at the beginning and at the end is set aside. Between, edits are sought from one place
//! where the texts differ to where they run alike again, by the fewest characters left out and put in
//! (Myers 1986, "An O(ND) difference algorithm"), so that time grows with the differences and not with
//! the square of the text. Characters that differ in case or accents alone
//! count as alike. All of it is paid from a budget that is linear in the lengths; where that is spent,
//! or where too little is alike, the rest becomes one block.

mod search;
#[cfg(test)]
mod tests;

use std::ops::Range;

use search::{DiffSearch, MatchingRun};

/// A stretch of the old text and the stretch of the new one that stands for it; in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlignedRun {
    /// In the old text.
    pub old: Range<usize>,
    /// In the new text.
    pub new: Range<usize>,
    /// Whether the characters stand one for one; if not, all new ones stand for all old ones.
    pub one_for_one: bool,
}

/// Give the runs of both texts from left to right; together they cover both.
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
