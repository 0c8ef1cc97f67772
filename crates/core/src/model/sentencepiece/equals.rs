//! The last joins of a text where pieces have the same score, the lowest of all: the leftmost comes first,
//! whichever it is. Models trained on code have runs of spaces like these.
//!
//! All other joins have been made, and none of them joins such a piece, so nothing but these is left.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::bpe::Merge;

/// The joins.
#[derive(Clone, Debug, Default)]
pub(super) struct Equals {
    joins: FxHashMap<(u32, u32), u32>,
    /// What something is merged to on its right.
    lefts: FxHashSet<u32>,
    /// By entry, whether it is merged to anything; none where there are no joins.
    are_joined: Vec<bool>,
}

/// Entries and their lengths, between which there is nothing to join.
pub(super) type Waiting = Vec<(u32, usize)>;

impl Equals {
    /// Joins of entries below a bound.
    pub(super) fn of(merges: &[Merge], id_bound: usize) -> Self {
        let mut equals = Self::default();
        for &Merge { left, right, merged } in merges {
            equals.joins.insert((left, right), merged);
            equals.lefts.insert(left);
            equals.are_joined.resize(id_bound, false);
            [left, right].iter().for_each(|&entry| equals.are_joined[entry as usize] = true);
        }
        equals
    }

    /// Take the next entry of a text, and give out what is merged to nothing more.
    #[inline]
    pub(super) fn take(
        &self,
        entry: u32,
        len: usize,
        waiting: &mut Waiting,
        mut give: impl FnMut(u32, usize),
    ) {
        if !self.are_joined.get(entry as usize).is_some_and(|&is_joined| is_joined) {
            finish(waiting, &mut give);
            return give(entry, len);
        }
        let mut next = (entry, len);
        while let Some(&(last, last_len)) = waiting.last() {
            let Some(&merged) = self.joins.get(&(last, next.0)) else { break };
            next = (merged, last_len + next.1);
            waiting.pop();
        }
        if waiting.last().is_some_and(|(last, _)| !self.lefts.contains(last)) {
            finish(waiting, &mut give);
        }
        waiting.push(next);
    }
}

/// Give out what waits.
#[inline]
pub(super) fn finish(waiting: &mut Waiting, mut give: impl FnMut(u32, usize)) {
    waiting.drain(..).for_each(|(entry, len)| give(entry, len));
}
