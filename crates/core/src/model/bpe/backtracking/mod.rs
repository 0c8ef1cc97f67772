//! BPE from left to right, the longest entry first, in model time: no pair is ever read_len for.
//!
//! BPE of a text is the only sequence of entries in which every two neighbours are what BPE makes of the two
//! alone, and every one what it makes of that alone. (If a merge crossed a border of such a sequence, take the
//! first: up to then both sides had been merged as they are alone, so it would cross there too. And where none
//! crosses, every part becomes what it is alone.) So a sequence that is begun right and ends with the text is
//! the answer; a place that no longer can be left is remembered as dead_ends, and the entry before is tried next_prefix.
//! The same argument says that a place is reached in one way only, so it is left for good when it is dead_ends.
//!
//! split_table    what entries are merged from, and whether two may be neighbours
//! merges     which two entries join to which
//! valid_pairs  which were last found to be, or not
//! trie  the entries that a text begins with
//! stored    keeps them in files
//! rest      what is left where that takes too long
//! rows      words that are not long, many at once
//! streaming what is decided_count of a long word before its end
//!
//! New words of a text, most of them not long and printable by their bytes, are merged at once instead, merge by merge:
//! `piecework_kernels::merges` has their rows. Both ways find what BPE makes of a word.
//!
//! What it demands:
//! - the merge of the lowest rank comes first, the leftmost of equals; none is left out at random;
//! - every symbol that a word begins with is an entry, told by its bytes, and none begins with another. Where
//!   one is not known nothing is merged, so the word ends before it;
//! - merges are given by rank. Several may make one entry: the first that can happen counts, as no other can.
//!   Entries that no merge can make are not matched;
//! - no merge is there twice, and none can join what only a later one makes: both are checked.
//!
//! The published description of the idea is the documentation of GitHub's `bpe` crate (van Antwerpen and
//! Neubeck 2024, "So many tokens, so little time").

mod compile;
mod fallback;
mod interleaved;
mod merge_table;
mod scratch;
mod split_table;
#[cfg(test)]
mod splitting_tests;
mod stored_trie;
mod streaming;
#[cfg(test)]
mod test_models;
mod token_trie;
mod valid_pair_cache;

use piecework_kernels::merges::BytePairMap;

pub(in crate::model) use self::compile::MergeRules;
pub(super) use self::interleaved::MergeBatches;
pub(in crate::model) use self::scratch::BacktrackingScratch;
pub(in crate::model) use self::split_table::SplitTable;
use self::token_trie::{TokenMatch, TokenTrie};
use super::merges::Merge;
use crate::model::ByteAdjacency;
use crate::table_sections::TableSections;

/// Nothing of what numbers stand for here.
const NONE: u32 = u32::MAX;

/// The entries that merges make, and how.
#[derive(Clone, Debug)]
pub(in crate::model) struct BacktrackingBpe {
    split_table: SplitTable,
    trie: TokenTrie,
    /// The entries by the time at which they are made, then those that only whole words are.
    entries: Vec<u32>,
    /// Where symbols are the bytes, and nothing but merges makes entries: words that are not long go by rows.
    byte_pairs: Option<BytePairMap>,
    /// There, too, words may be tokens apart where nothing merges.
    byte_adjacency: Option<ByteAdjacency>,
    /// The most bytes that one of them has.
    longest: usize,
    /// After how many bytes it is asked what of them is decided_count.
    chunk_len: usize,
}

impl BacktrackingBpe {
    /// Give `found` the entries of a word and how many bytes each has, up to a symbol that is not known; gives
    /// how many bytes they have. Where it takes too long they are fewer, but right as far as they go.
    pub(in crate::model) fn segment(
        &self,
        word: &[u8],
        scratch: &mut BacktrackingScratch,
        mut found: impl FnMut(u32, usize),
    ) -> usize {
        let (longest, read_len) = self.trie.longest(word);
        if longest.len as usize == word.len() {
            found(self.entries[longest.entry as usize], word.len());
            return word.len();
        }
        if read_len as usize == word.len() {
            if let Some(entry) = self.trie.whole(word) {
                found(self.entries[entry as usize], word.len());
                return word.len();
            }
        }
        let give = |token: TokenMatch| found(self.entries[token.entry as usize], token.len as usize);
        self.segment_from(word, longest, scratch, give)
    }

    /// Where words may be tokens apart, if that is known.
    pub(in crate::model) fn byte_adjacency(&self) -> Option<&ByteAdjacency> {
        self.byte_adjacency.as_ref()
    }

    /// Whether a word begins with a symbol that is known.
    pub(in crate::model) fn starts_with_symbol(&self, word: &[u8]) -> bool {
        self.trie.longest(word).0.len > 0
    }

    /// Take entries of a word, of which the longest that it begins with is known, and give them out.
    fn segment_from(
        &self,
        word: &[u8],
        first: TokenMatch,
        scratch: &mut BacktrackingScratch,
        mut give: impl FnMut(TokenMatch),
    ) -> usize {
        scratch.begin(word.len());
        let (mut at, mut given) = (first.len as usize, 0);
        scratch.tokens.extend((first.len > 0).then_some(first));
        loop {
            let end = word.len().min(at.saturating_add(self.chunk_len));
            match self.extend_to(end, word, at, scratch) {
                None => return given,
                Some(reached) => at = reached,
            }
            if at < end || at == word.len() {
                scratch.tokens.drain(..).for_each(give);
                return at;
            }
            let decided_count = self.decided_count(word, at, scratch);
            for token in scratch.tokens.drain(..decided_count) {
                given += token.len as usize;
                give(token);
            }
        }
    }

    /// Take entries from a place on until they reach another one, or a symbol that is not known; returns where
    /// they end.
    #[inline]
    fn extend_to(
        &self,
        end: usize,
        word: &[u8],
        mut at: usize,
        scratch: &mut BacktrackingScratch,
    ) -> Option<usize> {
        while at < end {
            let (longest, read_len) = self.trie.longest(&word[at..]);
            if longest.len == 0 {
                break;
            }
            at = self.push_longest(longest, at, scratch)?;
            scratch.spend(read_len)?;
        }
        Some(at)
    }

    /// Take an entry at a place, or the longest next_prefix one that may follow what was tokens before, or let
    /// another be tokens before; returns where it ends.
    #[inline]
    fn push_longest(
        &self,
        mut next: TokenMatch,
        mut at: usize,
        scratch: &mut BacktrackingScratch,
    ) -> Option<usize> {
        loop {
            let end = at + next.len as usize;
            if !scratch.is_dead_end(end) && self.is_valid_next(next, scratch) {
                scratch.tokens.push(next);
                return Some(end);
            }
            scratch.spend(1)?;
            next = self.trie.next_prefix(next.entry);
            while next.len == 0 {
                scratch.set_dead_end(at)?;
                let last = scratch.tokens.pop()?;
                scratch.spend(1)?;
                at -= last.len as usize;
                next = self.trie.next_prefix(last.entry);
            }
        }
    }

    /// Whether a match may stand behind what was tokens last.
    #[inline]
    fn is_valid_next(&self, next: TokenMatch, scratch: &mut BacktrackingScratch) -> bool {
        let BacktrackingScratch { tokens, steps_left, valid_pairs, .. } = scratch;
        let Some(&last) = tokens.last() else { return true };
        valid_pairs.get_or_compute(last.entry, next.entry, || {
            *steps_left = steps_left.saturating_sub((last.len + next.len) as usize);
            self.split_table.is_valid_token_pair(last.entry, next.entry)
        })
    }

    /// Take the tables apart that take long to make.
    pub(in crate::model) fn store(&self, parts: &mut TableSections) {
        self.trie.store(parts);
    }

    /// The memory of the others.
    pub(in crate::model) fn bytes(&self) -> usize {
        self.split_table.bytes()
            + self.byte_pairs.as_ref().map_or(0, BytePairMap::bytes)
            + self.byte_adjacency.as_ref().map_or(0, ByteAdjacency::bytes)
            + size_of_val(self.entries.as_slice())
    }
}
