//! The trie of a byte-level model, built at its first lookup.
//!
//! Short words are merged in batches, and need no trie: many programs never look it up, and building it takes a fifth of
//! the time of loading.

use super::stored_trie;
use super::token_bytes::TokenBytes;
use super::token_trie::TokenTrie;
use super::BacktrackingBpe;

impl BacktrackingBpe {
    /// Return the trie. Two threads may both build it: waiting for another thread would block forever after a fork.
    #[inline]
    pub(super) fn trie(&self) -> &TokenTrie {
        match self.trie.trie.get() {
            Some(trie) => trie,
            None => self.make_trie(),
        }
    }

    /// Build the trie of the bytes and of all tokens that merges make. If it has too many states, it stays empty, and
    /// words are merged without it.
    #[cold]
    fn make_trie(&self) -> &TokenTrie {
        let texts = TokenBytes::of_bytes(&self.split_table);
        let (texts, count) = (texts.all(), self.entries.len() as u32);
        let trie = stored_trie::restore(&self.trie.stored, &texts, count)
            .or_else(|| TokenTrie::of(&texts, count))
            .unwrap_or_else(TokenTrie::empty);
        self.trie.trie.get_or_init(|| trie)
    }
}

#[cfg(test)]
mod tests {
    use super::super::trie_slot::TrieSlot;
    use super::super::{test_models, BacktrackingScratch};
    use super::*;

    #[test]
    fn words_are_merged_without_a_trie_that_is_empty() {
        let mut model = test_models::linear(*b"abc", &[(0, 0), (0, 1)], 12).unwrap();
        model.trie = TrieSlot::built(TokenTrie::empty());
        let done = model.segment(b"aab\xFF\0", &mut BacktrackingScratch::default(), |_, _| unreachable!());
        assert_eq!(done, 0);
        assert!(!model.starts_with_symbol(b"\0") && !model.starts_with_symbol(b"\xFF"));
    }
}
