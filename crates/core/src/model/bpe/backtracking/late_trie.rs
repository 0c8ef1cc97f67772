//! The trie of a byte-level model, built after the first long words.
//!
//! Short words are merged in batches, and need no trie: many programs never look it up, and building it takes a fifth of
//! the time of loading. The first long words are merged by a heap: a batch of code has a few hundred.

use super::split_table::SplitTable;
use super::stored_trie;
use super::token_bytes::TokenBytes;
use super::token_trie::TokenTrie;
use crate::model::late_tables::LateTables;
use crate::table_sections::TableSections;

/// The bytes of words that count as one lookup.
const LOOKUP_BYTES: usize = 64;
/// The number of lookups that are merged by a heap before the trie is built: 1 MB, half of the time that this takes.
const LOOKUPS: u32 = 1 << 14;

/// The trie once it is built, and the table sections that may contain it.
#[derive(Clone, Debug)]
pub(super) struct LateTrie(LateTables<TokenTrie>);

impl LateTrie {
    /// Return a trie that is built already.
    pub(super) fn built(trie: TokenTrie) -> Self {
        Self(LateTables::built(trie))
    }

    /// Return a trie that is built after the first words, or read from these sections.
    pub(super) fn unbuilt(stored: &TableSections) -> Self {
        Self(LateTables::unbuilt(LOOKUPS, stored_trie::sections(stored)))
    }

    /// Return whether a word of `len` bytes is among the first, which are merged without the trie, and count it.
    #[inline]
    pub(super) fn counts_as_first(&self, len: usize) -> bool {
        self.0.get().is_none() && (0..len.div_ceil(LOOKUP_BYTES)).all(|_| self.0.count_lookup())
    }

    /// Return the trie of the bytes and of all tokens that merges make. If it has too many states, it stays empty, and
    /// words are merged without it. So are words while another thread builds it: then there is none.
    #[inline]
    pub(super) fn get(&self, split_table: &SplitTable) -> Option<&TokenTrie> {
        self.0.get_or_build(|| Some(self.build(split_table)))
    }

    /// Return the trie, which is built now if it is not yet, even if another thread builds it.
    pub(super) fn get_or_make(&self, split_table: &SplitTable) -> &TokenTrie {
        self.0.get_or_make(|| self.build(split_table))
    }

    fn build(&self, split_table: &SplitTable) -> TokenTrie {
        let texts = TokenBytes::of_bytes(split_table);
        let texts = texts.all();
        let count = texts.len() as u32;
        stored_trie::restore(self.0.stored(), &texts, count)
            .or_else(|| TokenTrie::of(&texts, count))
            .unwrap_or_else(TokenTrie::empty)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{test_models, BacktrackingScratch};
    use super::*;

    #[test]
    fn words_are_merged_without_a_trie_that_is_empty() {
        let mut model = test_models::linear(*b"abc", &[(0, 0), (0, 1)], 12).unwrap();
        model.trie = LateTrie::built(TokenTrie::empty());
        let done = model.segment(b"aab\xFF\0", &mut BacktrackingScratch::default(), |_, _| unreachable!());
        assert_eq!(done, 0);
        assert!(!model.starts_with_symbol(b"\0") && !model.starts_with_symbol(b"\xFF"));
    }

    #[test]
    fn the_first_bytes_do_without_the_trie() {
        let (trie, words) = (LateTrie::unbuilt(&TableSections::default()), LOOKUPS as usize);
        assert!((0..words).all(|_| trie.counts_as_first(LOOKUP_BYTES)));
        assert!(!trie.counts_as_first(1) && trie.0.get().is_none());
        let trie = LateTrie::unbuilt(&TableSections::default());
        assert!(!trie.counts_as_first(LOOKUP_BYTES * words + 1));
        assert!(!LateTrie::built(TokenTrie::empty()).counts_as_first(1));
    }
}
