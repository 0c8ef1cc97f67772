//! Align a text with its rewriting: finds the characters that correspond where no sources are known.
//!
//! The common prefix and suffix are removed first. Between them, the search finds the fewest insertions and
//! deletions that lead from a difference to the next match (Myers 1986, "An O(ND) difference algorithm"),
//! so time grows with the differences rather than with the square of the length. Characters that differ
//! only in case or accents match. The number of steps is limited, linear in the lengths; beyond the limit,
//! or if too little matches, the rest becomes one run.

mod search;
#[cfg(test)]
mod tests;

use std::ops::Range;

use search::{DiffSearch, MatchingRun};

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
