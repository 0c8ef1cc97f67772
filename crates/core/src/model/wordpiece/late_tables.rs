//! The trie and its failure links, built after the first words.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::OnceLock;

use super::lin_max_match::LinMaxMatch;
use crate::double_array::Trie;
use crate::error::Error;
use crate::spec::{Segmentation, WordPieceSpec};
use crate::table_sections::TableSections;
use crate::vocab::Vocab;

/// The number of words that are matched by lookups before the tables are built.
pub(super) const LOOKUPS: usize = 64;
/// The longest word, in characters, that is matched by lookups, which take quadratic time.
const MAX_CHARS: usize = 256;
/// Vocabularies of more bytes have their trie built when they are loaded, so that errors are raised there.
const MAX_BYTES: usize = 1 << 22;

/// The trie of the tokens and its failure links.
#[derive(Clone, Debug)]
pub(super) struct MatchTables {
    pub(super) trie: Trie,
    pub(super) matcher: LinMaxMatch,
}

impl MatchTables {
    /// Build the tables, with the trie of `sections` if they contain one.
    pub(super) fn build(vocab: &Vocab, prefix: &str, sections: &TableSections) -> Result<Self, Error> {
        let at_start = vocab.iter().map(|(token, id)| (token.as_bytes(), id)).collect();
        let inside = vocab
            .iter()
            .filter_map(|(token, id)| Some((token.strip_prefix(prefix)?.as_bytes(), id)))
            .collect();
        let (trie, order) = Trie::restore_or_build(sections, [at_start, inside])?;
        let matcher = LinMaxMatch::compute(&trie, &order)?;
        Ok(Self { trie, matcher })
    }
}

/// The tables once they are built, and the number of words that are matched before.
#[derive(Debug)]
pub(super) struct LateTables {
    pub(super) tables: OnceLock<MatchTables>,
    /// The table sections that may contain the trie.
    pub(super) stored: TableSections,
    /// The words that may still be matched by lookups.
    lookups: AtomicU32,
}

impl LateTables {
    /// Return tables that are built already.
    pub(super) fn built(tables: MatchTables) -> Self {
        let stored = TableSections::default();
        Self { tables: OnceLock::from(tables), stored, lookups: AtomicU32::new(0) }
    }

    /// Return tables that are built after the first words, or read from these sections.
    pub(super) fn unbuilt(stored: &TableSections) -> Self {
        let (tables, stored) = (OnceLock::new(), Trie::stored_sections(stored));
        Self { tables, stored, lookups: AtomicU32::new(LOOKUPS as u32) }
    }

    /// Return the tables if they are built.
    pub(super) fn get(&self) -> Option<&MatchTables> {
        self.tables.get()
    }

    /// Return whether another word may be matched by lookups, and count it.
    pub(super) fn count_lookup(&self) -> bool {
        self.lookups.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok()
    }
}

impl Clone for LateTables {
    fn clone(&self) -> Self {
        let lookups = AtomicU32::new(self.lookups.load(Relaxed));
        Self { tables: self.tables.clone(), stored: self.stored.clone(), lookups }
    }
}

/// Return whether lookups can replace the tables, and building these cannot fail: their states, and the failure pops of
/// each, are within the bounds.
pub(super) fn can_wait(spec: &WordPieceSpec, vocab: &Vocab) -> bool {
    let lens = || vocab.iter().map(|(token, _)| token.len());
    // A state has no more pops than bytes lead to it; both sets of keys have the states of every token.
    let most_pops: usize = lens().map(|len| len * (len + 1)).sum();
    spec.segmentation == Segmentation::Greedy
        && spec.max_input_chars_per_word <= MAX_CHARS
        && lens().sum::<usize>() <= MAX_BYTES
        && most_pops <= 1_000_000 + 64 * vocab.len()
}
