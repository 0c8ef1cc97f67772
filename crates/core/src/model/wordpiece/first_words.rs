//! The first words of a process, matched by lookups in the vocabulary before the trie is built.
//!
//! Building the trie takes half of the time of loading. A program that encodes a short text and ends never needs it, and
//! the first text of every other one does not wait for it.

use super::{MatchTables, WordPiece};
use crate::model::{TokenSink, TokenSpan};
use crate::spec::UnknownUnit;
use crate::table_sections::TableSections;
use crate::vocab::Vocab;

impl WordPiece {
    /// Return the tables to match a word with, unless it is among the first.
    #[inline]
    pub(super) fn tables(&self, vocab: &Vocab) -> Option<&MatchTables> {
        match self.tables.get() {
            None if self.tables.count_lookup() => None,
            None => self.make_tables(vocab),
            tables => tables,
        }
    }

    /// Build the tables.
    #[cold]
    pub(super) fn make_tables(&self, vocab: &Vocab) -> Option<&MatchTables> {
        let build = |stored: &TableSections| MatchTables::build(vocab, &self.prefix, stored);
        let tables = build(self.tables.stored()).or_else(|_| build(&TableSections::default()));
        // `can_wait` checked that there is no error; lookups would replace the tables.
        tables.ok().map(|tables| self.tables.keep(tables))
    }

    /// The greedy longest match, by lookups of every prefix of the rest, the longest first.
    #[cold]
    pub(super) fn match_by_lookups(&self, word: &str, vocab: &Vocab, out: &mut impl TokenSink) {
        let checkpoint = out.checkpoint();
        let mut key = String::new();
        let mut start = 0;
        while start < word.len() {
            let rest = &word[start..];
            key.clear();
            key.push_str(if start > 0 { &self.prefix } else { "" });
            let prefix_len = key.len();
            key.push_str(rest);
            let ends = rest.char_indices().rev().map(|(at, c)| at + c.len_utf8());
            let found = ends
                .map(|len| (vocab.id_of(&key[..prefix_len + len]), len))
                .find_map(|(id, len)| Some((id?, len)));
            let (id, len) = match (found, self.unk) {
                (Some(found), _) => found,
                (None, UnknownUnit::Char) => (self.unk_id, rest.chars().next().map_or(1, char::len_utf8)),
                (None, UnknownUnit::Word) => {
                    out.rollback(checkpoint);
                    return self.push_unknown(word, out);
                }
            };
            out.push(TokenSpan { id, start: start as u32, end: (start + len) as u32 });
            start += len;
        }
    }
}
