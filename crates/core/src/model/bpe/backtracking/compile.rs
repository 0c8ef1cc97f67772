//! Build the tables of [`BacktrackingBpe`] from merges.

use super::split_table::SplitTable;
use super::token_trie::{LateTrie, TokenBytes, TokenTrie};
use super::{streaming, token_trie, BacktrackingBpe, MergeIds};
use crate::model::ByteAdjacency;
use crate::table_sections::TableSections;

/// The tokens and merges of a model; all ids are below `id_bound`.
#[derive(Clone, Copy, Debug)]
pub(in crate::model) struct MergeRules<'r> {
    pub(in crate::model) id_bound: usize,
    /// The tokens that words consist of before any merge.
    pub(in crate::model) symbols: &'r [u32],
    /// The merges by rank.
    pub(in crate::model) merges: &'r [MergeIds],
    /// Tokens that match whole words, even if merges do not make them; only if the symbols are bytes.
    pub(in crate::model) whole_words: &'r [u32],
    /// The table sections of a compiled cache, if any.
    pub(in crate::model) stored: &'r TableSections,
}

impl BacktrackingBpe {
    /// Build the tables; `push_bytes` appends the bytes of a token. `None` if merges are not in order or too many.
    pub(in crate::model) fn compile(
        rules: &MergeRules<'_>,
        push_bytes: impl Fn(u32, &mut Vec<u8>),
    ) -> Option<Self> {
        let (split_table, mut entries) = SplitTable::number(rules.symbols, rules.merges, rules.id_bound)?;
        let first_whole = entries.len();
        let mut is_made = vec![false; rules.id_bound];
        entries.iter().for_each(|&entry| is_made[entry as usize] = true);
        entries.extend(rules.whole_words.iter().filter(|&&entry| !is_made[entry as usize]));
        let mut texts = TokenBytes::default();
        rules.symbols.iter().for_each(|&symbol| texts.push(|bytes| push_bytes(symbol, bytes)));
        split_table.splits().for_each(|(left, right)| texts.push_merged(left, right));
        entries[first_whole..].iter().for_each(|&entry| texts.push(|bytes| push_bytes(entry, bytes)));
        let bytes: [u8; 256] = std::array::from_fn(|byte| byte as u8);
        let are_bytes = split_table.symbols() == 256 && texts.bytes.starts_with(&bytes);
        let byte_pairs = are_bytes.then(|| split_table.byte_pairs());
        let texts = texts.all();
        let (made, wholes) = texts.split_at(first_whole);
        let whole_words = wholes.iter().copied().zip(entries.drain(first_whole..));
        let byte_adjacency = are_bytes.then(|| ByteAdjacency::of(texts.iter().copied(), whole_words));
        let trie = if are_bytes && wholes.is_empty() {
            LateTrie::unbuilt(rules.stored)
        } else {
            let stored = token_trie::restore(rules.stored, made);
            LateTrie::built(stored.or_else(|| TokenTrie::of(made))?)
        };
        let longest = texts.iter().map(|text| text.len()).max().unwrap_or(0);
        let chunk_len = streaming::chunk_len(longest);
        Some(Self { split_table, trie, entries, byte_pairs, byte_adjacency, longest, chunk_len })
    }
}
