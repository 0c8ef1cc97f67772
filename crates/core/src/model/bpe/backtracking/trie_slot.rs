//! The trie of a model, or the table sections that it may be read from at its first lookup.

use std::sync::OnceLock;

use super::stored_trie;
use super::token_trie::TokenTrie;
use crate::table_sections::TableSections;

/// The trie once it is built, and the table sections that may contain it.
#[derive(Clone, Debug)]
pub(super) struct TrieSlot {
    pub(super) trie: OnceLock<TokenTrie>,
    pub(super) stored: TableSections,
}

impl TrieSlot {
    /// Return a trie that is built already.
    pub(super) fn built(trie: TokenTrie) -> Self {
        Self { trie: OnceLock::from(trie), stored: TableSections::default() }
    }

    /// Return a trie that is built at its first lookup, or read from these sections.
    pub(super) fn later(stored: &TableSections) -> Self {
        Self { trie: OnceLock::new(), stored: stored_trie::sections(stored) }
    }
}
