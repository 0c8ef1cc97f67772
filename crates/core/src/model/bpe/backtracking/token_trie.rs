//! The longest token that a text begins with, by a trie of four bytes a state, and the next shorter prefix of each
//! token that is a token too.

use crate::double_array::{
    build_breadth_first, sorted_keys, CompactNode, SortedKey, TrieLayout, TrieStep, BLOCK, MAX_BASE,
};

pub(super) const ROOT: usize = 0;
/// The entry of a state at which no token ends.
pub(super) const NONE: u32 = u32::MAX;

/// The trie and the prefixes.
#[derive(Clone, Debug)]
pub(super) struct TokenTrie {
    pub(super) nodes: Vec<CompactNode>,
    /// The number of the token that ends at each state, or `NONE`. Separate from the nodes, since most lookups need
    /// few of them.
    pub(super) entries: Vec<u32>,
    /// The longest other token that each token begins with.
    pub(super) next_prefix: Vec<TokenMatch>,
}

/// The number and the length of a token at the start of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct TokenMatch {
    pub(super) entry: u32,
    pub(super) len: u32,
}

pub(super) const NO_MATCH: TokenMatch = TokenMatch { entry: NONE, len: 0 };

impl TokenTrie {
    /// Build the trie of the bytes of each token, no two alike. Tokens from `first_whole` on match whole texts only.
    /// `None` if there are too many states.
    pub(super) fn of(texts: &[&[u8]], first_whole: u32) -> Option<Self> {
        let keys = sorted_keys(texts.iter().copied().zip(0..));
        let mut states = TokenTrieBuilder { first_whole, ..TokenTrieBuilder::default() };
        states.next_prefix.resize(texts.len(), NO_MATCH);
        let allocator = build_breadth_first(&[keys], MAX_BASE, &mut states)?;
        // A free slot, and the root, gets the label of a base that no state has, so that no byte leads to it.
        for slot in (0..states.nodes.len()).filter(|&slot| slot == ROOT || allocator.is_free(slot)) {
            states.nodes[slot].set_label((slot ^ allocator.unused_base(slot)) as u8);
        }
        let TokenTrieBuilder { nodes, entries, next_prefix, .. } = states;
        Some(Self { nodes, entries, next_prefix })
    }

    /// Return a trie without tokens.
    pub(super) fn empty() -> Self {
        // No byte leads to a slot with another label.
        let nodes = (0..=255u8).map(|slot| CompactNode::with_label(!slot)).collect();
        Self { nodes, entries: vec![NONE; BLOCK], next_prefix: Vec::new() }
    }

    /// Return the longest token at the start of `bytes`, and the number of bytes read.
    #[inline]
    pub(super) fn longest(&self, bytes: &[u8]) -> (TokenMatch, u32) {
        let (mut node, mut state, mut len, mut read_len) = (self.nodes[ROOT], ROOT, 0, 0);
        for &byte in bytes {
            read_len += 1;
            let child = node.child(byte);
            node = self.nodes[child];
            if !node.has_label(byte) {
                break;
            }
            if node.is_final() {
                (state, len) = (child, read_len);
            }
        }
        (TokenMatch { entry: self.entries[state], len }, read_len)
    }

    /// Return the token with exactly these bytes.
    pub(super) fn whole(&self, bytes: &[u8]) -> Option<u32> {
        let mut state = ROOT;
        for &byte in bytes {
            state = self.nodes[state].child(byte);
            if !self.nodes[state].has_label(byte) {
                return None;
            }
        }
        Some(self.entries[state]).filter(|&entry| entry != NONE)
    }

    /// Return the longest other token that a token begins with; of length 0 without one.
    #[inline]
    pub(super) fn next_prefix(&self, entry: u32) -> TokenMatch {
        self.next_prefix[entry as usize]
    }
}

/// The trie while its states are placed.
#[derive(Default)]
struct TokenTrieBuilder {
    nodes: Vec<CompactNode>,
    entries: Vec<u32>,
    next_prefix: Vec<TokenMatch>,
    first_whole: u32,
}

impl TrieLayout for TokenTrieBuilder {
    /// The longest entry that ends above a state.
    type Context = TokenMatch;

    fn grow(&mut self, slots: usize) {
        self.nodes.resize(slots, CompactNode::default());
        self.entries.resize(slots, NONE);
    }

    fn end_key(
        &mut self,
        state: u32,
        SortedKey { bytes, number, .. }: SortedKey<'_>,
        longest: TokenMatch,
    ) -> TokenMatch {
        self.entries[state as usize] = number;
        if number >= self.first_whole {
            return longest;
        }
        self.nodes[state as usize].set_final();
        self.next_prefix[number as usize] = longest;
        TokenMatch { entry: number, len: bytes.len() as u32 }
    }

    fn set_base(&mut self, state: u32, base: usize) {
        self.nodes[state as usize].set_base(base);
    }

    fn add_child(&mut self, TrieStep { state, byte, .. }: TrieStep) {
        self.nodes[state as usize] = CompactNode::with_label(byte);
    }
}

impl Default for TokenMatch {
    fn default() -> Self {
        NO_MATCH
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::bpe::backtracking::stored_trie;
    use crate::table_sections::TableSections;
    use proptest::prelude::*;

    /// Texts of bytes that lead to all parts of a block.
    fn text(most: usize) -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(
            prop::sample::select(vec![0, 1, 2, b'a', b'b', 0x7F, 0x80, 0xFE, 0xFF]),
            1..most,
        )
    }

    proptest! {
        #[test]
        fn lookups_equal_a_comparison_with_all_tokens(
            entries in prop::collection::btree_set(text(6), 1..300),
            wholes in 0..20usize,
            texts in prop::collection::vec(text(12), 50),
        ) {
            let entries: Vec<&[u8]> = entries.iter().map(Vec::as_slice).collect();
            let first_whole = entries.len().saturating_sub(wholes);
            let trie = TokenTrie::of(&entries, first_whole as u32).unwrap();
            let longest = |text: &[u8], bound: usize| {
                let begins = |&at: &usize| text.starts_with(entries[at]) && entries[at].len() < bound;
                let found = (0..first_whole).filter(begins).max_by_key(|&at| entries[at].len());
                found.map_or((NONE, 0), |at| (at as u32, entries[at].len() as u32))
            };
            let mut sections = TableSections::default();
            stored_trie::store(&trie, &mut sections);
            prop_assert!(stored_trie::restore(&sections, &entries, first_whole as u32).is_some());
            prop_assert!(stored_trie::restore(&sections, &entries[1..], first_whole as u32).is_none());
            for text in texts.iter().map(Vec::as_slice).chain(entries.iter().copied()) {
                let (found, _) = trie.longest(text);
                prop_assert_eq!((found.entry, found.len), longest(text, usize::MAX));
                let whole = entries.iter().position(|&entry| entry == text);
                prop_assert_eq!(trie.whole(text), whole.map(|at| at as u32));
            }
            for (at, entry) in entries[..first_whole].iter().enumerate() {
                let next_prefix = trie.next_prefix(at as u32);
                prop_assert_eq!((next_prefix.entry, next_prefix.len), longest(entry, entry.len()));
            }
        }
    }
}
