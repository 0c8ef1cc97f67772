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

/// The longest text, in bytes, whose boundaries are the bits of one number.
pub(super) const MAX_SHORT: usize = 62;

/// Run rank-BPE on a text of 2 to [`MAX_SHORT`] bytes until two symbols are left; return the boundary between them, or
/// `None` if more are left. `rank` returns the rank of a span.
pub(super) fn last_boundary(len: usize, rank: impl Fn(usize, usize) -> u32) -> Option<usize> {
    // The starts of symbols, and the end of the text.
    let mut boundaries = (1_u64 << len << 1) - 1;
    let after = |boundaries: u64, at: usize| at + 1 + (boundaries >> at >> 1).trailing_zeros() as usize;
    // Of each start, the rank of its symbol merged with the next one.
    let mut ranks = [NO_RANK; MAX_SHORT + 1];
    (0..len - 1).for_each(|at| ranks[at] = rank(at, at + 2));
    for _ in 2..len {
        let (mut lowest, mut at, mut left) = (NO_RANK, 0, boundaries);
        while left != 0 {
            let start = left.trailing_zeros() as usize;
            if ranks[start] < lowest {
                (lowest, at) = (ranks[start], start);
            }
            left &= left - 1;
        }
        if lowest == NO_RANK {
            return None;
        }
        let right = after(boundaries, at);
        boundaries &= !(1 << right);
        ranks[right] = NO_RANK;
        let end = after(boundaries, at);
        ranks[at] = if end < len { rank(at, after(boundaries, end)) } else { NO_RANK };
        let before = boundaries & ((1 << at) - 1);
        if before != 0 {
            let start = before.ilog2() as usize;
            ranks[start] = rank(start, end);
        }
    }
    Some(after(boundaries, 0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn short_texts_are_merged_like_all_others(
            text in prop::collection::vec(0..3u8, 2..=MAX_SHORT),
            tokens in prop::collection::vec(prop::collection::vec(0..3u8, 2..12), 0..60),
        ) {
            let rank = |start: usize, end: usize| {
                let token = tokens.iter().position(|token| *token == text[start..end]);
                token.map_or(NO_RANK, |rank| rank as u32)
            };
            let mut merger = RankMerger { boundaries: (0..=text.len()).collect(), ..RankMerger::default() };
            merger.merge(2, rank);
            let expected = <[usize; 3]>::try_from(merger.boundaries).ok().map(|[_, boundary, _]| boundary);
            prop_assert_eq!(last_boundary(text.len(), rank), expected);
        }
    }
}
