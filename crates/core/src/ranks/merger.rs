//! Rank-BPE: merges the leftmost symbols whose concatenation has the lowest rank, until none has a rank.

/// The rank of text that is no token.
pub(crate) const NO_RANK: u32 = u32::MAX;

/// The symbol boundaries of a text, and the rank of each symbol merged with its right neighbour.
#[derive(Default)]
pub(crate) struct RankMerger {
    pub(crate) boundaries: Vec<usize>,
    ranks: Vec<u32>,
}

impl RankMerger {
    /// Run rank-BPE until `symbols` symbols are left, or no two that merge; `rank` returns the rank of a span.
    pub(crate) fn merge(&mut self, symbols: usize, rank: impl Fn(usize, usize) -> u32) {
        let Self { boundaries, ranks } = self;
        ranks.clear();
        ranks.extend(boundaries.windows(3).map(|pair| rank(pair[0], pair[2])));
        while ranks.len() + 1 > symbols {
            let lowest = ranks.iter().enumerate().min_by_key(|(_, rank)| **rank);
            let Some((at, _)) = lowest.filter(|(_, rank)| **rank != NO_RANK) else { return };
            boundaries.remove(at + 1);
            ranks.remove(at);
            let rank_at = |at: usize| rank(boundaries[at], boundaries[at + 2]);
            if at < ranks.len() {
                ranks[at] = rank_at(at);
            }
            if at > 0 {
                ranks[at - 1] = rank_at(at - 1);
            }
        }
    }
}
