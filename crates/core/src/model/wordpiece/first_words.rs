//! The first words of a process, and those of other threads while one builds the trie, matched by lookups in the
//! vocabulary.
//!
//! Building the trie takes half of the time of loading. A program that encodes a short text and ends never needs it, and
//! the first text of every other one does not wait for it.

use super::{MatchTables, WordPiece};
use crate::model::{TokenSink, TokenSpan};
use crate::spec::UnknownUnit;
use crate::table_sections::TableSections;
use crate::vocab::Vocab;

impl WordPiece {
    /// Return the tables to match a word with; `None` if it is among the first, and while another thread builds the
    /// tables.
    #[inline]
    pub(super) fn tables(&self, vocab: &Vocab) -> Option<&MatchTables> {
        match self.tables.get() {
            None if self.tables.count_lookup() => None,
            None => self.tables.get_or_build(|| self.build_tables(vocab)),
            tables => tables,
        }
    }

    /// Return the tables; build them now if they are not built, even if another thread builds them.
    pub(super) fn made_tables(&self, vocab: &Vocab) -> Option<&MatchTables> {
        let make = || self.build_tables(vocab).map(|tables| self.tables.get_or_make(|| tables));
        self.tables.get().or_else(make)
    }

    #[cold]
    pub(super) fn build_tables(&self, vocab: &Vocab) -> Option<MatchTables> {
        let build = |stored: &TableSections| MatchTables::build(vocab, &self.prefix, stored);
        // `can_wait` checked that there is no error; lookups would replace the tables.
        build(self.tables.stored()).or_else(|_| build(&TableSections::default())).ok()
    }

    /// Segment by greedy longest match: look up every prefix of the rest, the longest first.
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
