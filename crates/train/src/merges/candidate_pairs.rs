//! The tracked pairs that are frequent enough to be merged.

use super::state::MergeState;

/// Candidate pairs, in all and by entry.
pub(super) struct CandidatePairs {
    /// May include pairs whose count has fallen below the minimum since the last `restart`.
    pairs: Vec<u32>,
    /// By pair.
    is_candidate: Vec<bool>,
    by_entry: PairsByEntry,
}

impl CandidatePairs {
    /// Collect the candidates among the tracked pairs.
    pub(super) fn new(state: &MergeState) -> Self {
        let mut candidates =
            Self { pairs: Vec::new(), is_candidate: Vec::new(), by_entry: PairsByEntry::default() };
        candidates.grow(state);
        (0..state.pairs.len() as u32).for_each(|pair| _ = candidates.add(state, pair));
        candidates
    }

    /// Forget all pairs.
    pub(super) fn forget(&mut self) {
        (self.pairs, self.is_candidate) = (Vec::new(), Vec::new());
        self.by_entry = PairsByEntry::default();
    }

    /// Reserve memory for new entries and pairs.
    pub(super) fn grow(&mut self, state: &MergeState) {
        self.is_candidate.resize(state.pairs.len(), false);
        self.by_entry.grow(state);
    }

    /// Add a pair if it qualifies; return whether it is a candidate.
    pub(super) fn add(&mut self, state: &MergeState, pair: u32) -> bool {
        let is_candidate = &mut self.is_candidate[pair as usize];
        if !*is_candidate && state.is_frequent(pair) {
            *is_candidate = true;
            self.pairs.push(pair);
            self.by_entry.insert(state, pair);
        }
        self.is_candidate[pair as usize]
    }

    /// Remove the pairs that are no longer frequent enough.
    pub(super) fn restart(&mut self, state: &MergeState) {
        let Self { pairs, is_candidate, by_entry } = self;
        by_entry.clear();
        pairs.retain(|&pair| {
            is_candidate[pair as usize] = state.is_frequent(pair);
            is_candidate[pair as usize]
        });
        pairs.iter().for_each(|&pair| by_entry.insert(state, pair));
    }

    /// Return all candidates.
    pub(super) fn pairs(&self) -> &[u32] {
        &self.pairs
    }

    /// Return the candidates that contain an entry.
    pub(super) fn of_entry(&self, entry: u32) -> &[u32] {
        &self.by_entry.0[entry as usize]
    }
}

/// Pairs by each entry that they contain.
#[derive(Default)]
pub(super) struct PairsByEntry(pub(super) Vec<Vec<u32>>);

impl PairsByEntry {
    /// Reserve memory for new entries.
    pub(super) fn grow(&mut self, state: &MergeState) {
        self.0.resize_with(state.entries.len(), Vec::new);
    }

    /// Add a pair to both of its entries.
    pub(super) fn insert(&mut self, state: &MergeState, pair: u32) {
        let (left, right) = state.pairs.parts(pair);
        self.0[left as usize].push(pair);
        if left != right {
            self.0[right as usize].push(pair);
        }
    }

    /// Remove all pairs.
    pub(super) fn clear(&mut self) {
        self.0.iter_mut().for_each(Vec::clear);
    }
}
