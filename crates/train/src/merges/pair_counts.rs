//! The counts from which a pair is scored.

use super::state::MergeState;

/// The merged entry was not looked up yet.
const UNKNOWN: u32 = u32::MAX;
/// The merged string is not an entry.
const NO_ENTRY: u32 = u32::MAX - 1;

/// The counts from which a pair is scored.
#[derive(Clone, Copy)]
pub(super) struct PairCounts {
    /// Occurrences of the pair.
    pub(super) count: u64,
    /// Occurrences of its left entry, of its right entry and of the merged entry.
    pub(super) left: u64,
    pub(super) right: u64,
    pub(super) merged: u64,
    /// Whether both entries are the same.
    pub(super) doubled: bool,
}

/// By pair, the entry that merging the pair yields.
#[derive(Default)]
pub(super) struct MergedEntries(Vec<u32>);

impl MergedEntries {
    /// Reserve memory for new pairs.
    pub(super) fn grow(&mut self, state: &MergeState) {
        self.0.resize(state.pairs.len(), UNKNOWN);
    }

    /// Store the merged entry of a pair.
    pub(super) fn set(&mut self, pair: u32, entry: u32) {
        self.0[pair as usize] = entry;
    }

    /// Return the counts of a pair; `PairCounts::merged` is 0 unless `with_merged`.
    pub(super) fn counts(&mut self, state: &MergeState, pair: u32, with_merged: bool) -> PairCounts {
        let (left, right) = state.pairs.parts(pair);
        PairCounts {
            count: state.pairs.count(pair),
            left: state.counts[left as usize],
            right: state.counts[right as usize],
            merged: if with_merged { self.merged_count(state, pair) } else { 0 },
            doubled: left == right,
        }
    }

    fn merged_count(&mut self, state: &MergeState, pair: u32) -> u64 {
        let entry = &mut self.0[pair as usize];
        if *entry == UNKNOWN {
            let (left, right) = state.pairs.parts(pair);
            *entry = state.entries.find_merged(left, right).unwrap_or(NO_ENTRY);
        }
        state.counts.get(*entry as usize).copied().unwrap_or(0)
    }
}
