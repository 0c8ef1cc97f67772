//! The trie as a file holds it. What was read is compared with the texts that it should hold, which takes a quarter of
//! the time of making it; where it differs it is made anew.

use super::prefixes::{Match, Prefixes, NO_MATCH, ROOT};
use super::NONE;
use crate::double_array::{Node, BLOCK};
use crate::table_sections::TableSections;

/// The names of the tables where they are taken apart.
const UNITS: &str = "linear.units";
const ENTRIES: &str = "linear.entries";
const SHORTER: &str = "linear.shorter";

/// Take the tables apart.
pub(super) fn store(prefixes: &Prefixes, parts: &mut TableSections) {
    let shorter = prefixes.shorter.iter().map(|shorter| [shorter.entry, shorter.len]);
    parts.put(UNITS, &prefixes.nodes.iter().map(|node| node.bits()).collect::<Vec<_>>().into());
    parts.put(ENTRIES, &prefixes.entries.clone().into());
    parts.put(SHORTER, &shorter.collect::<Vec<_>>().into());
}

/// Put the trie of these texts together, if it is there.
pub(super) fn restore(parts: &TableSections, texts: &[&[u8]], first_whole: u32) -> Option<Prefixes> {
    let shorter = parts.get::<[u32; 2]>(SHORTER).ok()?;
    let prefixes = Prefixes {
        nodes: parts.get(UNITS).ok()?.iter().copied().map(Node::from_bits).collect(),
        entries: parts.get(ENTRIES).ok()?.to_vec(),
        shorter: shorter.iter().map(|&[entry, len]| Match { entry, len }).collect(),
    };
    holds(&prefixes, texts, first_whole as usize).then_some(prefixes)
}

/// Whether a trie is one of these texts and of no others.
fn holds(prefixes: &Prefixes, texts: &[&[u8]], first_whole: usize) -> bool {
    let Prefixes { nodes, entries, shorter } = prefixes;
    let ends = nodes.iter().filter(|node| node.is_final()).count();
    let entry_count = entries.iter().filter(|&&entry| entry != NONE).count();
    // Blocks are whole, so a base within them keeps all children within them.
    let is_whole = nodes.len().is_multiple_of(BLOCK) && nodes.len() == entries.len() && nodes.len() > ROOT;
    is_whole
        && nodes.iter().all(|node| node.base() < nodes.len())
        && (ends, entry_count, shorter.len()) == (first_whole, texts.len(), texts.len())
        && texts.iter().enumerate().all(|(number, text)| holds_text(prefixes, number, text, first_whole))
}

/// Whether a text ends where it should, and the longest entry before is the one written down.
fn holds_text(prefixes: &Prefixes, number: usize, text: &[u8], first_whole: usize) -> bool {
    let (mut state, mut longest) = (ROOT, NO_MATCH);
    for (&byte, len) in text.iter().zip(0..) {
        if prefixes.nodes[state].is_final() {
            longest = Match { entry: prefixes.entries[state], len };
        }
        state = prefixes.nodes[state].child(byte);
        if !prefixes.nodes[state].has_label(byte) {
            return false;
        }
    }
    let ends = prefixes.nodes[state].is_final();
    let expected = if number < first_whole { longest } else { NO_MATCH };
    let shorter = prefixes.shorter[number];
    prefixes.entries[state] as usize == number
        && ends == (number < first_whole)
        && (shorter.entry, shorter.len) == (expected.entry, expected.len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table_sections::Array;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_changed_is_not_taken_for_the_trie(
            texts in prop::collection::btree_set(prop::collection::vec(0..4u8, 1..5), 1..60),
            (table, place, value) in (0..3usize, any::<prop::sample::Index>(), any::<u32>()),
        ) {
            let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
            let first_whole = texts.len() as u32 / 2;
            let mut prefixes = Prefixes::of(&texts, first_whole).unwrap();
            let made = prefixes.clone();
            match table {
                0 => prefixes.nodes[place.index(made.nodes.len())] = Node::from_bits(value),
                1 => prefixes.entries[place.index(made.entries.len())] = value,
                _ => prefixes.shorter[place.index(texts.len())].len = value,
            }
            let mut parts = TableSections::default();
            store(&prefixes, &mut parts);
            if let Some(found) = restore(&parts, &texts, first_whole) {
                for text in &texts {
                    prop_assert_eq!(found.whole(text), made.whole(text));
                    let (expected, looked) = made.longest(text);
                    let (longest, found_looked) = found.longest(text);
                    prop_assert_eq!(
                        (longest.entry, longest.len, found_looked),
                        (expected.entry, expected.len, looked)
                    );
                }
            }
        }
    }

    #[test]
    fn numbers_of_another_size_are_refused() {
        let mut parts = TableSections::default();
        [UNITS, ENTRIES, SHORTER].iter().for_each(|name| parts.put(name, &Array::from(vec![1_u8; 3])));
        assert!(restore(&parts, &[b"a"], 1).is_none());
    }
}
