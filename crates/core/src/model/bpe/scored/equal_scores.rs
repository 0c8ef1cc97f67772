//! The last merges of a text, if several pieces have the lowest score: the leftmost of these merges comes first.
//! Models trained on code have runs of spaces with equal scores.
//!
//! All other merges are done before, and none of them needs such a piece.

use foldhash::{HashMap, HashSet};

use crate::model::bpe::merges::MergeIds;

/// The merges by pair.
#[derive(Clone, Debug, Default)]
pub(super) struct EqualScoreMerges {
    merges: HashMap<(u32, u32), u32>,
    /// The tokens that are the left side of a merge.
    lefts: HashSet<u32>,
    /// By id, whether a token is in any merge; empty without merges.
    is_merged: Vec<bool>,
}

/// Tokens with their byte lengths that have no merge with each other but may merge with the next token.
pub(super) type PendingTokens = Vec<(u32, usize)>;

impl EqualScoreMerges {
    /// Build from merges of ids below a bound.
    pub(super) fn of(merges: &[MergeIds], id_bound: usize) -> Self {
        let mut equals = Self::default();
        for &MergeIds { left, right, merged } in merges {
            equals.merges.insert((left, right), merged);
            equals.lefts.insert(left);
            equals.is_merged.resize(id_bound, false);
            [left, right].iter().for_each(|&entry| equals.is_merged[entry as usize] = true);
        }
        equals
    }

    /// Push the next token of a text, and emit the tokens that have no more merges.
    #[inline]
    pub(super) fn push(
        &self,
        entry: u32,
        len: usize,
        pending: &mut PendingTokens,
        mut emit: impl FnMut(u32, usize),
    ) {
        if !self.is_merged.get(entry as usize).is_some_and(|&is_merged| is_merged) {
            flush(pending, &mut emit);
            return emit(entry, len);
        }
        let mut next = (entry, len);
        while let Some(&(last, last_len)) = pending.last() {
            let Some(&merged) = self.merges.get(&(last, next.0)) else { break };
            next = (merged, last_len + next.1);
            pending.pop();
        }
        if pending.last().is_some_and(|(last, _)| !self.lefts.contains(last)) {
            flush(pending, &mut emit);
        }
        pending.push(next);
    }
}

/// Emit the pending tokens.
#[inline]
pub(super) fn flush(pending: &mut PendingTokens, mut emit: impl FnMut(u32, usize)) {
    pending.drain(..).for_each(|(entry, len)| emit(entry, len));
}
