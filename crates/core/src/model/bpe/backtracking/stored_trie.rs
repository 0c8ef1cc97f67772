//! The table sections of a trie. A trie that is read is compared with the tokens that it should have, in a quarter of
//! the time of building it; if it differs, it is built again.

use super::token_trie::{TokenMatch, TokenTrie, NONE, NO_MATCH, ROOT};
use crate::double_array::{CompactNode, BLOCK};
use crate::table_sections::TableSections;

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
pub(super) fn restore(sections: &TableSections, texts: &[&[u8]], first_whole: u32) -> Option<TokenTrie> {
    let next_prefix = sections.get::<[u32; 2]>(NEXT_PREFIXES).ok()?;
    let trie = TokenTrie {
        nodes: sections.get(NODES).ok()?.iter().copied().map(CompactNode::from_bits).collect(),
        entries: sections.get(ENTRIES).ok()?.to_vec(),
        next_prefix: next_prefix.iter().map(|&[entry, len]| TokenMatch { entry, len }).collect(),
    };
    has_exactly(&trie, texts, first_whole as usize).then_some(trie)
}

/// Return whether a trie has exactly these texts.
fn has_exactly(trie: &TokenTrie, texts: &[&[u8]], first_whole: usize) -> bool {
    let TokenTrie { nodes, entries, next_prefix } = trie;
    let ends = nodes.iter().filter(|node| node.is_final()).count();
    let entry_count = entries.iter().filter(|&&entry| entry != NONE).count();
    // Blocks are whole, so all children of a base within them are within them.
    let is_whole = nodes.len().is_multiple_of(BLOCK) && nodes.len() == entries.len() && nodes.len() > ROOT;
    is_whole
        && nodes.iter().all(|node| node.base() < nodes.len())
        && (ends, entry_count, next_prefix.len()) == (first_whole, texts.len(), texts.len())
        && texts.iter().enumerate().all(|(number, text)| has_text(trie, number, text, first_whole))
}

/// Return whether a text ends at its number, and its next prefix is right.
fn has_text(trie: &TokenTrie, number: usize, text: &[u8], first_whole: usize) -> bool {
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
    let ends = trie.nodes[state].is_final();
    let expected = if number < first_whole { longest } else { NO_MATCH };
    let next_prefix = trie.next_prefix[number];
    trie.entries[state] as usize == number
        && ends == (number < first_whole)
        && (next_prefix.entry, next_prefix.len) == (expected.entry, expected.len)
}

#[cfg(test)]
mod tests {
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
            let first_whole = texts.len() as u32 / 2;
            let mut trie = TokenTrie::of(&texts, first_whole).unwrap();
            let made = trie.clone();
            match table {
                0 => trie.nodes[position.index(made.nodes.len())] = CompactNode::from_bits(value),
                1 => trie.entries[position.index(made.entries.len())] = value,
                _ => trie.next_prefix[position.index(texts.len())].len = value,
            }
            let mut sections = TableSections::default();
            store(&trie, &mut sections);
            if let Some(found) = restore(&sections, &texts, first_whole) {
                for text in &texts {
                    prop_assert_eq!(found.whole(text), made.whole(text));
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
        assert!(restore(&sections, &[b"a"], 1).is_none());
    }
}
