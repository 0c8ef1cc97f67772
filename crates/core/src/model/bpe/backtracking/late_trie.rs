//! The trie of a byte-level model, built at its first lookup.
//!
//! Short words are merged in batches, and need no trie: many programs never look it up, and building it takes a fifth of
//! the time of loading.

use super::split_table::SplitTable;
use super::stored_trie;
use super::token_bytes::TokenBytes;
use super::token_trie::TokenTrie;
use crate::locks::Late;
use crate::table_sections::TableSections;

/// The trie once it is built, and the table sections that may contain it.
#[derive(Clone, Debug)]
pub(super) struct LateTrie {
    trie: Late<TokenTrie>,
    stored: TableSections,
}

impl LateTrie {
    /// Return a trie that is built already.
    pub(super) fn built(trie: TokenTrie) -> Self {
        Self { trie: Late::built(trie), stored: TableSections::default() }
    }

    /// Return a trie that is built at its first lookup, or read from these sections.
    pub(super) fn unbuilt(stored: &TableSections) -> Self {
        Self { trie: Late::unbuilt(), stored: stored_trie::sections(stored) }
    }

    /// Return the trie of the bytes and of all tokens that merges make. If it has too many states, it stays empty, and
    /// words are merged without it. So are words while another thread builds it: then there is none.
    #[inline]
    pub(super) fn get(&self, split_table: &SplitTable) -> Option<&TokenTrie> {
        self.trie.get_or_build(|| self.build(split_table))
    }

    /// Return the trie, which is built now if it is not yet, even if another thread builds it.
    pub(super) fn get_or_make(&self, split_table: &SplitTable) -> &TokenTrie {
        self.trie.get_or_make(|| self.build(split_table))
    }

    fn build(&self, split_table: &SplitTable) -> TokenTrie {
        let texts = TokenBytes::of_bytes(split_table);
        let texts = texts.all();
        let count = texts.len() as u32;
        stored_trie::restore(&self.stored, &texts, count)
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
}
