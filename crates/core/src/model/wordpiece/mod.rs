//! WordPiece: segments a word into tokens, which have a continuation prefix inside the word.
//!
//! Greedy longest match by LinMaxMatch in linear time (Song et al. 2021, "Fast WordPiece Tokenization", section 3),
//! or the fewest tokens by dynamic programming in O(word x longest token).
//!
//! ```text
//! lin_max_match  the states with failure links and pops
//! first_words    the first words, matched by lookups before these states are built
//! shortest       the fewest tokens
//! ```

mod first_words;
mod lin_max_match;
mod shortest;
#[cfg(test)]
mod tests;

use piecework_unicode::{char_count, CodePointMap, CodePointMapBuilder};

use self::lin_max_match::{LinMaxMatch, LinMaxState, INSIDE, START};
use self::shortest::FewestTokens;
use super::late_tables::LateTables;
use super::{BatchWord, TokenSink, TokenSpan};
use crate::double_array::Trie;
use crate::error::Error;
use crate::spec::{Segmentation, UnknownUnit, WordPieceSpec};
use crate::table_sections::TableSections;
use crate::vocab::Vocab;

pub(super) use self::shortest::BestSuffix;

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

    /// Compile the model, with the trie of `sections` if it contains one. The unknown token must be in the vocabulary.
    pub(super) fn compile(
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

    /// Segment by greedy longest match; a dead end makes the whole word unknown.
    fn greedy_match(&self, matcher: &LinMaxMatch, word: &str, out: &mut impl TokenSink) {
        let checkpoint = out.checkpoint();
        let mut done = 0;
        let is_matched = matcher.match_word(word.as_bytes(), |id| {
            let start = done;
            done += self.len_of(id, start);
            out.push(TokenSpan { id, start, end: done });
        });
        if !is_matched {
            out.rollback(checkpoint);
            self.push_unknown(word, out);
        }
    }

    /// Segment by greedy longest match; a dead end makes the first unmatched character unknown.
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

    /// Segment into the fewest tokens; a word without a segmentation is unknown.
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

// The greedy longest match of many words in turns: each step prefetches what the next step of its word reads.
//
// A single word waits for memory at every byte, since each state contains the slot of the next one. In turns these
// waits overlap.

/// The number of words that are matched in turns.
const MAX_INTERLEAVED: usize = 16;

/// A word that is being matched.
#[derive(Clone, Copy, Default)]
struct ActiveWord {
    /// Its index in the batch.
    number: usize,
    /// The next byte and the end of the word.
    at: usize,
    end: usize,
    /// The current state, and its slot.
    state: u32,
    current: LinMaxState,
    /// The state to read next.
    next: u32,
    /// Whether `next` is the child by the next byte, if there is one; otherwise it is the failure link.
    is_child: bool,
    /// The index of the next id.
    id_at: usize,
}

/// The outcome of a step.
enum Outcome {
    Continue,
    Done,
    DeadEnd,
}

/// All words, and those that are being matched.
struct WordBatch<'w> {
    bytes: &'w [u8],
    words: &'w mut [BatchWord],
    /// As many ids as there are bytes; a word writes its ids at its byte offsets.
    ids: &'w mut [u32],
    /// The number of ids before these.
    before: usize,
    active: [ActiveWord; MAX_INTERLEAVED],
    count: usize,
    /// The next word to start.
    next: usize,
}

impl WordPiece {
    /// Segment words of `bytes` by greedy longest match; a dead end makes the whole word unknown.
    fn greedy_match_batch(
        &self,
        matcher: &LinMaxMatch,
        bytes: &[u8],
        words: &mut [BatchWord],
        ids: &mut Vec<u32>,
    ) {
        let before = ids.len();
        // A word has no more ids than bytes.
        ids.resize(before + bytes.len(), 0);
        let (ids, active) = (&mut ids[before..], [ActiveWord::default(); MAX_INTERLEAVED]);
        let mut batch = WordBatch { bytes, words, ids, before, active, count: 0, next: 0 };
        while self.admit(matcher, &mut batch) {
            self.step_all(matcher, &mut batch);
        }
    }

    /// Start words while there are free places; return whether any word is active.
    #[inline]
    fn admit(&self, matcher: &LinMaxMatch, batch: &mut WordBatch<'_>) -> bool {
        while batch.count < MAX_INTERLEAVED && batch.next < batch.words.len() {
            let (number, word) = (batch.next, &mut batch.words[batch.next]);
            let (from, to) = word.bytes;
            batch.next += 1;
            if from == to {
                continue;
            }
            if self.is_too_long(&batch.bytes[from..to]) {
                word.ids = self.unknown(batch.before, from, batch.ids);
            } else if !batch.bytes[from].is_ascii() {
                word.ids =
                    self.match_at_once(matcher, &batch.bytes[from..to], from, batch.before, batch.ids);
            } else {
                batch.active[batch.count] = matcher.begin(number, *word, batch.bytes);
                batch.count += 1;
            }
        }
        batch.count > 0
    }

    /// Advance each active word by a step.
    #[inline]
    fn step_all(&self, matcher: &LinMaxMatch, batch: &mut WordBatch<'_>) {
        let mut at = 0;
        while at < batch.count {
            let active_word = &mut batch.active[at];
            let step = matcher.step(active_word, batch.bytes, batch.ids);
            if matches!(step, Outcome::Continue) {
                at += 1;
                continue;
            }
            let word = &mut batch.words[active_word.number];
            word.ids = match step {
                Outcome::DeadEnd => self.unknown(batch.before, word.bytes.0, batch.ids),
                _ => (batch.before + word.bytes.0, batch.before + active_word.id_at),
            };
            batch.count -= 1;
            batch.active[at] = batch.active[batch.count];
        }
    }

    /// Match a whole word. Words beyond ASCII have few states, which stay in the processor's cache.
    #[inline]
    fn match_at_once(
        &self,
        matcher: &LinMaxMatch,
        word: &[u8],
        at: usize,
        before: usize,
        ids: &mut [u32],
    ) -> (usize, usize) {
        let mut end = at;
        let is_matched = matcher.match_word(word, |id| {
            ids[end] = id;
            end += 1;
        });
        if is_matched {
            (before + at, before + end)
        } else {
            self.unknown(before, at, ids)
        }
    }

    fn unknown(&self, before: usize, at: usize, ids: &mut [u32]) -> (usize, usize) {
        ids[at] = self.unk_id;
        (before + at, before + at + 1)
    }
}

impl LinMaxMatch {
    fn begin(&self, number: usize, word: BatchWord, bytes: &[u8]) -> ActiveWord {
        let (at, end) = word.bytes;
        let current = self.at(START);
        let mut active_word =
            ActiveWord { number, at, end, state: START, current, id_at: at, ..ActiveWord::default() };
        self.prefetch_child(&mut active_word, bytes);
        active_word
    }

    /// Prefetch the child by the next byte, if there is one.
    #[inline(always)]
    fn prefetch_child(&self, active_word: &mut ActiveWord, bytes: &[u8]) {
        active_word.next = active_word.current.child(bytes[active_word.at]);
        active_word.is_child = true;
        self.prefetch(active_word.next);
    }

    /// Move to the prefetched state, or along the failure link, and prefetch the next state.
    #[inline(always)]
    fn step(&self, active_word: &mut ActiveWord, bytes: &[u8], ids: &mut [u32]) -> Outcome {
        let read = self.at(active_word.next);
        if active_word.is_child {
            if !read.is_child_of(active_word.state) {
                return self.follow_failure(active_word, bytes, ids);
            }
            active_word.at += 1;
        }
        (active_word.state, active_word.current) = (active_word.next, read);
        self.advance(active_word, bytes, ids)
    }

    #[inline(always)]
    fn advance(&self, active_word: &mut ActiveWord, bytes: &[u8], ids: &mut [u32]) -> Outcome {
        if active_word.at < active_word.end {
            self.prefetch_child(active_word, bytes);
            return Outcome::Continue;
        }
        if active_word.state == INSIDE {
            return Outcome::Done;
        }
        self.follow_failure(active_word, bytes, ids)
    }

    /// Write the failure pops and prefetch the state of the failure link.
    #[inline(always)]
    fn follow_failure(&self, active_word: &mut ActiveWord, bytes: &[u8], ids: &mut [u32]) -> Outcome {
        let (pops, link) = self.failure_at(&active_word.current);
        for &id in pops {
            ids[active_word.id_at] = id;
            active_word.id_at += 1;
        }
        let Some(link) = link else { return Outcome::DeadEnd };
        (active_word.next, active_word.is_child) = (link, false);
        if link == INSIDE {
            // This state is always in the cache.
            (active_word.state, active_word.current) = (link, self.at(link));
            if active_word.at == active_word.end {
                return Outcome::Done;
            }
            self.prefetch_child(active_word, bytes);
        } else {
            self.prefetch(link);
        }
        Outcome::Continue
    }
}
