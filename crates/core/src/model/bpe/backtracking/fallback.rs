//! Merge what backtracking leaves of a byte-level word, with the same merge table.
//!
//! Tokens are numbered in the order of their merges, so the number of a merged token is the rank of its merge.

use super::super::merge::{merge_by_heap, merge_by_rank};
use super::super::scratch::MergeScratch;
use super::super::symbols::{MergeLookup, Symbol};
use super::split_table::{SplitTable, NONE};
use super::BacktrackingBpe;

/// The longest word, in bytes, that is merged by a heap, which needs no memory for each rank.
const MAX_HEAP_BYTES: usize = 1 << 12;

impl BacktrackingBpe {
    /// Merge the rest of a word, with the bytes as first symbols; call `found` with the id and the bytes of each
    /// token.
    #[cold]
    pub(in crate::model::bpe) fn merge_rest(
        &self,
        rest: &[u8],
        symbols: &mut Vec<Symbol>,
        merging: &mut MergeScratch,
        mut found: impl FnMut(u32, usize),
    ) {
        let MergeScratch { links, queue, rank_queue, .. } = merging;
        self.split_table.push_symbols(rest, symbols);
        if rest.len() <= MAX_HEAP_BYTES {
            merge_by_heap(symbols, &mut &self.split_table, (links, queue), || false);
        } else {
            let ranks = (rank_queue, self.split_table.numbers());
            merge_by_rank(symbols, &mut &self.split_table, links, ranks);
        }
        for symbol in symbols {
            found(self.entries[symbol.id as usize], (symbol.end - symbol.start) as usize);
        }
    }
}

impl SplitTable {
    /// Replace `symbols` by the bytes of a word.
    fn push_symbols(&self, bytes: &[u8], symbols: &mut Vec<Symbol>) {
        symbols.clear();
        symbols.extend((0..).zip(bytes).map(|(start, &byte)| {
            let end = start + 1;
            let next = bytes.get(end as usize);
            let rank = next.map_or(NONE, |&next| self.merged(byte.into(), next.into()));
            Symbol { id: byte.into(), rank, start, end }
        }));
    }
}

impl MergeLookup for &SplitTable {
    #[inline]
    fn rank(&mut self, left: &Symbol, right: &Symbol) -> u32 {
        SplitTable::merged(self, left.id, right.id)
    }

    #[inline]
    fn merged(&self, rank: u32) -> u32 {
        rank
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{test_models, BacktrackingScratch};
    use super::*;

    fn plain(model: &BacktrackingBpe, symbols: &[Symbol]) -> Vec<(u32, usize)> {
        let plain =
            |symbol: &Symbol| (model.entries[symbol.id as usize], (symbol.end - symbol.start) as usize);
        symbols.iter().map(plain).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn merging_equals_backtracking(
            pairs in prop::collection::vec((0..40usize, 0..40usize), 1..30),
            parts in prop::collection::vec((0..3u8, 1..20usize), 1..30),
        ) {
            let Some(model) = test_models::linear([0, 1, 2], &pairs, usize::MAX) else { return Ok(()) };
            let word: Vec<u8> = parts.iter().flat_map(|&(byte, times)| vec![byte; times]).collect();
            let (mut merging, mut symbols) = (MergeScratch::default(), Vec::new());
            let (mut segmented, mut heaped) = (Vec::new(), Vec::new());
            let done = model.segment(&word, &mut BacktrackingScratch::default(), |id, len| segmented.push((id, len)));
            model.merge_rest(&word, &mut symbols, &mut merging, |id, len| heaped.push((id, len)));
            prop_assert!(heaped.starts_with(&segmented));
            prop_assert!(done < word.len() || heaped.len() == segmented.len());
            model.split_table.push_symbols(&word, &mut symbols);
            let MergeScratch { links, rank_queue, .. } = &mut merging;
            let ranks = (rank_queue, model.split_table.numbers());
            merge_by_rank(&mut symbols, &mut &model.split_table, links, ranks);
            prop_assert_eq!(plain(&model, &symbols), heaped);
        }
    }
}
