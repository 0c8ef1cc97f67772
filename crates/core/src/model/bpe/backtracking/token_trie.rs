//! The longest token that a text begins with, by a trie of four bytes a state, and the next shorter prefix of each
//! token that is a token too.
//!
//! A trie that is read from table sections is compared with the tokens that it should have, in a quarter of the time of
//! building it; if it differs, it is built again.
//!
//! The trie of a byte-level model is built after the first long words ([`LateTrie`]).
//! Short words are merged in batches, and need no trie: many programs never look it up, and building it takes a fifth of
//! the time of loading. The first long words are merged by a heap: a batch of code has a few hundred.

use super::split_table::SplitTable;
use crate::double_array::{
    build_breadth_first, sorted_keys, CompactNode, SortedKey, TrieLayout, TrieStep, BLOCK, MAX_BASE,
};
use crate::model::late_tables::LateTables;
use crate::table_sections::TableSections;

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
    /// Build the trie of the bytes of each token, no two alike. `None` if there are too many states.
    pub(super) fn of(texts: &[&[u8]]) -> Option<Self> {
        let keys = sorted_keys(texts.iter().copied().zip(0..));
        let mut states = TokenTrieBuilder::default();
        states.next_prefix.resize(texts.len(), NO_MATCH);
        let allocator = build_breadth_first(&[keys], MAX_BASE, &mut states)?;
        // A free slot, and the root, gets the label of a base that no state has, so that no byte leads to it.
        for slot in (0..states.nodes.len()).filter(|&slot| slot == ROOT || allocator.is_free(slot)) {
            states.nodes[slot].set_label((slot ^ allocator.unused_base(slot)) as u8);
        }
        let TokenTrieBuilder { nodes, entries, next_prefix } = states;
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

/// The bytes of tokens, concatenated.
#[derive(Default)]
pub(super) struct TokenBytes {
    pub(super) bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl TokenBytes {
    /// Return the bytes of all tokens of a split table whose first symbols are the 256 bytes.
    pub(super) fn of_bytes(split_table: &SplitTable) -> Self {
        let mut texts = Self::default();
        (0..=255).for_each(|byte| texts.push(|bytes| bytes.push(byte)));
        split_table.splits().for_each(|(left, right)| texts.push_merged(left, right));
        texts
    }

    pub(super) fn push(&mut self, push_bytes: impl FnOnce(&mut Vec<u8>)) {
        push_bytes(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    /// Append the bytes of two earlier tokens as one token.
    pub(super) fn push_merged(&mut self, left: u32, right: u32) {
        for number in [left, right] {
            self.bytes.extend_from_within(self.span(number as usize));
        }
        self.ends.push(self.bytes.len());
    }

    fn span(&self, number: usize) -> std::ops::Range<usize> {
        number.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[number]
    }

    pub(super) fn all(&self) -> Vec<&[u8]> {
        (0..self.ends.len()).map(|number| &self.bytes[self.span(number)]).collect()
    }
}

/// The names of the table sections.
const NODES: &str = "bpe.nodes";
const ENTRIES: &str = "bpe.entries";
const NEXT_PREFIXES: &str = "bpe.next_prefixes";

/// Add the table sections.
pub(super) fn store(trie: &TokenTrie, sections: &mut TableSections) {
    let next_prefix = trie.next_prefix.iter().map(|next_prefix| [next_prefix.entry, next_prefix.len]);
    sections.put(NODES, &trie.nodes.iter().map(|node| node.bits()).collect::<Vec<_>>().into());
    sections.put(ENTRIES, &trie.entries.clone().into());
    sections.put(NEXT_PREFIXES, &next_prefix.collect::<Vec<_>>().into());
}

/// Return the sections of a trie among others.
pub(in crate::model) fn sections(all: &TableSections) -> TableSections {
    all.only(&[NODES, ENTRIES, NEXT_PREFIXES])
}

/// Read the trie of these texts, if the sections contain it.
pub(super) fn restore(sections: &TableSections, texts: &[&[u8]]) -> Option<TokenTrie> {
    let next_prefix = sections.get::<[u32; 2]>(NEXT_PREFIXES).ok()?;
    let trie = TokenTrie {
        nodes: sections.get(NODES).ok()?.iter().copied().map(CompactNode::from_bits).collect(),
        entries: sections.get(ENTRIES).ok()?.to_vec(),
        next_prefix: next_prefix.iter().map(|&[entry, len]| TokenMatch { entry, len }).collect(),
    };
    has_exactly(&trie, texts).then_some(trie)
}

/// Return whether a trie has exactly these texts.
fn has_exactly(trie: &TokenTrie, texts: &[&[u8]]) -> bool {
    let TokenTrie { nodes, entries, next_prefix } = trie;
    let ends = nodes.iter().filter(|node| node.is_final()).count();
    let entry_count = entries.iter().filter(|&&entry| entry != NONE).count();
    // Blocks are whole, so all children of a base within them are within them.
    let is_whole = nodes.len().is_multiple_of(BLOCK) && nodes.len() == entries.len() && nodes.len() > ROOT;
    is_whole
        && nodes.iter().all(|node| node.base() < nodes.len())
        && [ends, entry_count, next_prefix.len()] == [texts.len(); 3]
        && texts.iter().enumerate().all(|(number, text)| has_text(trie, number, text))
}

/// Return whether a text ends at its number, and its next prefix is right.
fn has_text(trie: &TokenTrie, number: usize, text: &[u8]) -> bool {
    let (mut state, mut longest) = (ROOT, NO_MATCH);
    for (&byte, len) in text.iter().zip(0..) {
        if trie.nodes[state].is_final() {
            longest = TokenMatch { entry: trie.entries[state], len };
        }
        state = trie.nodes[state].child(byte);
        if !trie.nodes[state].has_label(byte) {
            return false;
        }
    }
    let next_prefix = trie.next_prefix[number];
    trie.entries[state] as usize == number
        && trie.nodes[state].is_final()
        && (next_prefix.entry, next_prefix.len) == (longest.entry, longest.len)
}

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
        Self(LateTables::unbuilt(LOOKUPS, sections(stored)))
    }

    /// Return whether a word of `len` bytes is among the first, which are merged without the trie, and count it.
    #[inline]
    pub(super) fn counts_as_first(&self, len: usize) -> bool {
        self.0.get().is_none() && (0..len.div_ceil(LOOKUP_BYTES)).all(|_| self.0.count_lookup())
    }

    /// Return whether the trie is built.
    pub(super) fn is_built(&self) -> bool {
        self.0.get().is_some()
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
        restore(self.0.stored(), &texts).or_else(|| TokenTrie::of(&texts)).unwrap_or_else(TokenTrie::empty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
            texts in prop::collection::vec(text(12), 50),
        ) {
            let entries: Vec<&[u8]> = entries.iter().map(Vec::as_slice).collect();
            let trie = TokenTrie::of(&entries).unwrap();
            let longest = |text: &[u8], bound: usize| {
                let begins = |&at: &usize| text.starts_with(entries[at]) && entries[at].len() < bound;
                let found = (0..entries.len()).filter(begins).max_by_key(|&at| entries[at].len());
                found.map_or((NONE, 0), |at| (at as u32, entries[at].len() as u32))
            };
            let mut sections = TableSections::default();
            store(&trie, &mut sections);
            prop_assert!(restore(&sections, &entries).is_some());
            prop_assert!(restore(&sections, &entries[1..]).is_none());
            for text in texts.iter().map(Vec::as_slice).chain(entries.iter().copied()) {
                let (found, _) = trie.longest(text);
                prop_assert_eq!((found.entry, found.len), longest(text, usize::MAX));
            }
            for (at, entry) in entries.iter().enumerate() {
                let next_prefix = trie.next_prefix(at as u32);
                prop_assert_eq!((next_prefix.entry, next_prefix.len), longest(entry, entry.len()));
            }
        }
    }
}

#[cfg(test)]
mod stored_trie_tests {
    use super::*;
    use crate::table_sections::Array;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn changed_sections_are_refused(
            texts in prop::collection::btree_set(prop::collection::vec(0..4u8, 1..5), 1..60),
            (table, position, value) in (0..3usize, any::<prop::sample::Index>(), any::<u32>()),
        ) {
            let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
            let mut trie = TokenTrie::of(&texts).unwrap();
            let made = trie.clone();
            match table {
                0 => trie.nodes[position.index(made.nodes.len())] = CompactNode::from_bits(value),
                1 => trie.entries[position.index(made.entries.len())] = value,
                _ => trie.next_prefix[position.index(texts.len())].len = value,
            }
            let mut sections = TableSections::default();
            store(&trie, &mut sections);
            if let Some(found) = restore(&sections, &texts) {
                for text in &texts {
                    let (expected, read_len) = made.longest(text);
                    let (longest, found_looked) = found.longest(text);
                    prop_assert_eq!(
                        (longest.entry, longest.len, found_looked),
                        (expected.entry, expected.len, read_len)
                    );
                }
            }
        }
    }

    #[test]
    fn sections_of_another_size_are_refused() {
        let mut sections = TableSections::default();
        [NODES, ENTRIES, NEXT_PREFIXES]
            .iter()
            .for_each(|name| sections.put(name, &Array::from(vec![1_u8; 3])));
        assert!(restore(&sections, &[b"a"]).is_none());
    }
}

#[cfg(test)]
mod late_trie_tests {
    use super::super::{
        test_models, BacktrackingBpe, BacktrackingScratch, MergeBatches, MergeIds, MergeRules,
    };
    use super::*;
    use crate::model::BatchWord;

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

    #[test]
    fn words_stay_in_their_batch_when_the_trie_is_built_among_them() {
        let symbols: Vec<u32> = (0..256).collect();
        let merges = &[MergeIds { left: b'x'.into(), right: b'y'.into(), merged: 256 }];
        let stored = &TableSections::default();
        let rules = MergeRules { id_bound: 257, symbols: &symbols, merges, whole_words: &[], stored };
        let push_bytes = |id: u32, bytes: &mut Vec<u8>| match u8::try_from(id) {
            Ok(byte) => bytes.push(byte),
            Err(_) => bytes.extend(b"xy"),
        };
        let model = BacktrackingBpe::compile(&rules, push_bytes).unwrap();
        let (kana, building) = ("かな".repeat(3), "a".repeat(LOOKUP_BYTES * LOOKUPS as usize + 1));
        let (mut text, mut words) = (Vec::new(), Vec::new());
        for word in [&kana, &building, &kana, &"b".repeat(20)] {
            words.push(BatchWord { bytes: (text.len(), text.len() + word.len()), ids: (0, 0) });
            text.extend_from_slice(word.as_bytes());
        }
        let (mut batches, mut ids) = (MergeBatches::default(), Vec::new());
        model.begin(&mut batches);
        for (number, &BatchWord { bytes: (from, to), .. }) in words.iter().enumerate() {
            if !model.push_next((&text, &words[number..]), &mut batches, &mut ids) {
                let mut scratch = BacktrackingScratch::default();
                model.segment(&text[from..to], &mut scratch, |id, _| ids.push(id));
            }
        }
        assert!(model.trie.is_built());
        assert!(ids.iter().copied().eq(text.iter().map(|&byte| u32::from(byte))));
    }
}
