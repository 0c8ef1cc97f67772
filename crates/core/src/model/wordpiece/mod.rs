//! WordPiece: segments a word into tokens, which have a continuation prefix inside the word.
//!
//! Greedy longest match by LinMaxMatch in linear time (Song et al. 2021, "Fast WordPiece Tokenization", section 3),
//! or the fewest tokens by dynamic programming in O(word x longest token).
//!
//! ```text
//! lin_max_match  the states with failure links and pops
//! first_words    the first words, matched by lookups before these states are built
//! interleaved    many words in turns
//! shortest       the fewest tokens
//! ```

mod first_words;
mod interleaved;
mod lin_max_match;
mod shortest;

pub(super) use self::shortest::BestSuffix;

use piecework_unicode::{char_count, CodePointMap, CodePointMapBuilder};

use self::lin_max_match::{LinMaxMatch, INSIDE, START};
use self::shortest::FewestTokens;
use super::late_tables::LateTables;
use super::{BatchWord, TokenSink, TokenSpan};
use crate::double_array::Trie;
use crate::error::Error;
use crate::spec::{Segmentation, UnknownUnit, WordPieceSpec};
use crate::table_sections::TableSections;
use crate::vocab::Vocab;

/// The number of words that are matched by lookups before the tables are built.
const LOOKUPS: usize = 64;
/// The longest word, in characters, that is matched by lookups, which take quadratic time.
const MAX_CHARS: usize = 256;
/// Vocabularies of more bytes have their trie built when they are loaded, so that errors are raised there.
const MAX_BYTES: usize = 1 << 22;

/// The compiled WordPiece model.
#[derive(Clone, Debug)]
pub struct WordPiece {
    tables: LateTables<MatchTables>,
    prefix: String,
    /// The ids of words of one character; `None` if even these are too long.
    chars: Option<CodePointMap<u32>>,
    unk_id: u32,
    unk: UnknownUnit,
    segmentation: Segmentation,
    max_chars: usize,
    /// The length in bytes of each token.
    entry_lens: Vec<u32>,
}

impl WordPiece {
    /// Return the id of the unknown token.
    pub(super) fn unk_id(&self) -> u32 {
        self.unk_id
    }

    /// Compile the model. The unknown token must be in the vocabulary.
    pub fn compile(spec: &WordPieceSpec, vocab: &Vocab) -> Result<Self, Error> {
        Self::restore(spec, vocab, &TableSections::default())
    }

    /// Return the same, with the trie of `sections` if it contains one.
    pub(super) fn restore(
        spec: &WordPieceSpec,
        vocab: &Vocab,
        sections: &TableSections,
    ) -> Result<Self, Error> {
        let unk_id = vocab.require(&spec.unk_token, "model.unk_token")?;
        let prefix = spec.continuing_subword_prefix.as_str();
        let tables = if can_wait(spec, vocab) {
            LateTables::unbuilt(LOOKUPS as u32, Trie::stored_sections(sections))
        } else {
            LateTables::built(MatchTables::build(vocab, prefix, sections)?)
        };
        let mut entry_lens = Vec::new();
        for (token, id) in vocab.iter() {
            entry_lens.resize(id as usize, 0);
            entry_lens.push(token.len() as u32);
        }
        Ok(Self {
            tables,
            prefix: prefix.to_owned(),
            chars: (spec.max_input_chars_per_word > 0).then(|| ids_of_chars(vocab, unk_id)),
            unk_id,
            unk: spec.unk,
            segmentation: spec.segmentation,
            max_chars: spec.max_input_chars_per_word,
            entry_lens,
        })
    }

    /// Return the number of bytes that a token at byte `start` of a word covers.
    #[inline]
    fn len_of(&self, id: u32, start: u32) -> u32 {
        let marked = if start > 0 { self.prefix.len() as u32 } else { 0 };
        self.entry_lens.get(id as usize).map_or(0, |len| len - marked.min(*len))
    }

    /// Add the table sections of the trie.
    pub(super) fn store(&self, vocab: &Vocab, sections: &mut TableSections) {
        if let Some(tables) = self.made_tables(vocab) {
            tables.trie.store(sections);
        }
    }

    /// Build every table that is not built yet.
    pub(super) fn warm_up(&self, vocab: &Vocab) {
        self.made_tables(vocab);
    }

    /// Return the bytes of memory of the tables derived from the trie.
    pub(super) fn derived_bytes(&self) -> usize {
        self.tables.get().map_or(0, |tables| tables.matcher.bytes())
            + self.chars.as_ref().map_or(0, CodePointMap::memory)
    }

    /// Return the id of a word of one character.
    #[inline]
    pub fn id_of_char(&self, c: char) -> u32 {
        self.chars.as_ref().map_or(self.unk_id, |chars| chars.get(c))
    }

    /// Segment one non-empty word.
    #[inline]
    pub(super) fn run(
        &self,
        word: &str,
        vocab: &Vocab,
        suffixes: &mut Vec<BestSuffix>,
        out: &mut impl TokenSink,
    ) {
        if self.is_too_long(word.as_bytes()) {
            self.push_unknown(word, out);
            return;
        }
        let Some(MatchTables { trie, matcher }) = self.tables(vocab) else {
            return self.match_by_lookups(word, vocab, out);
        };
        match (self.segmentation, self.unk) {
            (Segmentation::Greedy, UnknownUnit::Word) => self.greedy_match(matcher, word, out),
            (Segmentation::Greedy, UnknownUnit::Char) => self.greedy_match_by_char(matcher, word, out),
            (Segmentation::Shortest, _) => self.shortest_match(trie, word, suffixes, out),
        }
    }

    /// Return whether a word has more characters than `max_input_chars_per_word`.
    #[inline]
    fn is_too_long(&self, word: &[u8]) -> bool {
        word.len() > self.max_chars && char_count(word) as usize > self.max_chars
    }

    /// Segment words of `bytes` in turns. Return `false` for settings that only [`WordPiece::run`] supports, and for the
    /// first words.
    pub(super) fn run_batch(
        &self,
        bytes: &[u8],
        words: &mut [BatchWord],
        vocab: &Vocab,
        ids: &mut Vec<u32>,
    ) -> bool {
        if !matches!((self.segmentation, self.unk), (Segmentation::Greedy, UnknownUnit::Word)) {
            return false;
        }
        let tables = match self.tables.get() {
            // Each word is counted when it is looked up.
            None if words.len() <= LOOKUPS => return false,
            None => self.tables.get_or_build(|| self.build_tables(vocab)),
            tables => tables,
        };
        let Some(tables) = tables else { return false };
        self.greedy_match_batch(&tables.matcher, bytes, words, ids);
        true
    }

    fn push_unknown(&self, word: &str, out: &mut impl TokenSink) {
        out.push(TokenSpan { id: self.unk_id, start: 0, end: word.len() as u32 });
    }

    /// The greedy longest match; a dead end makes the whole word unknown.
    fn greedy_match(&self, matcher: &LinMaxMatch, word: &str, out: &mut impl TokenSink) {
        let checkpoint = out.checkpoint();
        let mut state = START;
        let mut done = 0;
        for &byte in word.as_bytes() {
            loop {
                if let Some(next) = matcher.child(state, byte) {
                    state = next;
                    break;
                }
                match self.pop(matcher, state, &mut done, out) {
                    Some(next) => state = next,
                    None => {
                        out.rollback(checkpoint);
                        return self.push_unknown(word, out);
                    }
                }
            }
        }
        while state != INSIDE {
            match self.pop(matcher, state, &mut done, out) {
                Some(next) => state = next,
                None => {
                    out.rollback(checkpoint);
                    return self.push_unknown(word, out);
                }
            }
        }
    }

    /// The greedy longest match; a dead end makes the first unmatched character unknown.
    fn greedy_match_by_char(&self, matcher: &LinMaxMatch, word: &str, out: &mut impl TokenSink) {
        let bytes = word.as_bytes();
        let mut state = START;
        let (mut done, mut at) = (0u32, 0usize);
        while at < bytes.len() || state != INSIDE {
            if let Some(next) = bytes.get(at).and_then(|&byte| matcher.child(state, byte)) {
                state = next;
                at += 1;
            } else if let Some(next) = self.pop(matcher, state, &mut done, out) {
                state = next;
            } else {
                let start = done;
                let unmatched = word[start as usize..].chars().next().map_or(1, char::len_utf8);
                done += unmatched as u32;
                out.push(TokenSpan { id: self.unk_id, start, end: done });
                (state, at) = (INSIDE, done as usize);
            }
        }
    }

    /// The fewest tokens; a word without a segmentation is unknown.
    fn shortest_match(
        &self,
        trie: &Trie,
        word: &str,
        suffixes: &mut Vec<BestSuffix>,
        out: &mut impl TokenSink,
    ) {
        let tokens = FewestTokens { trie, unk_id: self.unk_id, unk: self.unk };
        if !tokens.append(word, suffixes, out) {
            self.push_unknown(word, out);
        }
    }

    /// Append the failure pops of a state; return its failure link, `None` at a dead end.
    #[inline]
    fn pop(
        &self,
        matcher: &LinMaxMatch,
        state: u32,
        done: &mut u32,
        out: &mut impl TokenSink,
    ) -> Option<u32> {
        let (pops, next) = matcher.failure(state);
        for &id in pops {
            let start = *done;
            *done += self.len_of(id, start);
            out.push(TokenSpan { id, start, end: *done });
        }
        next
    }
}

/// The trie of the tokens and its failure links.
#[derive(Clone, Debug)]
struct MatchTables {
    trie: Trie,
    matcher: LinMaxMatch,
}

impl MatchTables {
    /// Build the tables, with the trie of `sections` if they contain one.
    fn build(vocab: &Vocab, prefix: &str, sections: &TableSections) -> Result<Self, Error> {
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

/// Return whether lookups can replace the tables, and building these cannot fail: their states, and the failure pops of
/// each, are within the bounds.
fn can_wait(spec: &WordPieceSpec, vocab: &Vocab) -> bool {
    let lens = || vocab.iter().map(|(token, _)| token.len());
    // A state has no more pops than bytes lead to it; both sets of keys have the states of every token.
    let most_pops: usize = lens().map(|len| len * (len + 1)).sum();
    spec.segmentation == Segmentation::Greedy
        && spec.max_input_chars_per_word <= MAX_CHARS
        && lens().sum::<usize>() <= MAX_BYTES
        && most_pops <= 1_000_000 + 64 * vocab.len()
}

/// Return the ids of the tokens of one character; other characters have the id `unknown`.
fn ids_of_chars(vocab: &Vocab, unknown: u32) -> CodePointMap<u32> {
    let mut ids = CodePointMapBuilder::new(unknown);
    for (token, id) in vocab.iter() {
        let mut chars = token.chars();
        if let (Some(c), None) = (chars.next(), chars.next()) {
            ids.set(c, id);
        }
    }
    ids.build_as_is()
}

#[cfg(test)]
mod tests;
