//! The last merges of a text where pieces have the same score, the lowest of all: the leftmost comes first,
//! whichever it is. Models trained on code have runs of spaces like these.
//!
//! All other merges have been made, and none of them merges such a piece, so nothing but these is left.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::bpe::Merge;

/// The merges.
#[derive(Clone, Debug, Default)]
pub(super) struct EqualScoreMerges {
    merges: FxHashMap<(u32, u32), u32>,
    /// What something is merged to on its right.
    lefts: FxHashSet<u32>,
    /// By entry, whether it is merged to anything; none where there are no merges.
    is_merged: Vec<bool>,
}

/// Entries and their lengths, between which there is nothing to join.
pub(super) type PendingTokens = Vec<(u32, usize)>;

impl EqualScoreMerges {
    /// Joins of entries below a bound.
    pub(super) fn of(merges: &[Merge], id_bound: usize) -> Self {
        let mut equals = Self::default();
        for &Merge { left, right, merged } in merges {
            equals.merges.insert((left, right), merged);
            equals.lefts.insert(left);
            equals.is_merged.resize(id_bound, false);
            [left, right].iter().for_each(|&entry| equals.is_merged[entry as usize] = true);
        }
        equals
    }

    /// Take the next entry of a text, and give out what is merged to nothing more.
    #[inline]
    pub(super) fn push(
        &self,
        entry: u32,
        len: usize,
        pending: &mut PendingTokens,
        mut give: impl FnMut(u32, usize),
    ) {
        if !self.is_merged.get(entry as usize).is_some_and(|&is_merged| is_merged) {
            flush(pending, &mut give);
            return give(entry, len);
        }
        let mut next = (entry, len);
        while let Some(&(last, last_len)) = pending.last() {
            let Some(&merged) = self.merges.get(&(last, next.0)) else { break };
            next = (merged, last_len + next.1);
            pending.pop();
        }
        if pending.last().is_some_and(|(last, _)| !self.lefts.contains(last)) {
            flush(pending, &mut give);
        }
        pending.push(next);
    }
}

/// Give out what waits.
#[inline]
pub(super) fn flush(pending: &mut PendingTokens, mut give: impl FnMut(u32, usize)) {
    pending.drain(..).for_each(|(entry, len)| give(entry, len));
}
