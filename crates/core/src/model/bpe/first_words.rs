//! Words by rank-BPE, with lookups in the vocabulary: the definition, for which no table is built.
//!
//! Deriving the merges takes half of the time of loading. The first words do without them, and so do the words of other
//! threads while one builds the tables.

use super::merge::merge_by_heap;
use super::merges::NO_RANK;
use super::scratch::BpeScratch;
use super::symbols::{push_all, rank_all, MergeLookup, Symbol};
use crate::model::TokenSink;
use crate::text::byte_of_printable;
use crate::vocab::Vocab;

/// Merge a word of printable characters by the ids of a vocabulary: O(n log n). Return `false` for a word with a
/// character that represents no byte or is no token.
#[cold]
pub(super) fn merge(word: &str, vocab: &Vocab, scratch: &mut BpeScratch, out: &mut impl TokenSink) -> bool {
    let BpeScratch { symbols, merging, .. } = scratch;
    symbols.clear();
    for (start, c) in word.char_indices() {
        let end = start + c.len_utf8();
        let id = byte_of_printable(c).and_then(|_| vocab.id_of(&word[start..end]));
        let Some(id) = id else { return false };
        symbols.push(Symbol { id, rank: NO_RANK, start: start as u32, end: end as u32 });
    }
    let mut merges = RankMerges { word, vocab };
    rank_all(symbols, &mut merges);
    merge_by_heap(symbols, &mut merges, (&mut merging.links, &mut merging.queue), || false);
    push_all(symbols, 0, out);
    true
}

/// The merges of a word: two symbols merge if their text is a token, whose id is the rank of the merge.
struct RankMerges<'w> {
    word: &'w str,
    vocab: &'w Vocab,
}

impl MergeLookup for RankMerges<'_> {
    fn rank(&mut self, left: &Symbol, right: &Symbol) -> u32 {
        self.vocab.id_of(&self.word[left.start as usize..right.end as usize]).unwrap_or(NO_RANK)
    }

    fn merged(&self, rank: u32) -> u32 {
        rank
    }
}
