//! BPE in linear time by backtracking, from left to right, the longest token first.
//!
//! The BPE segmentation of a text is the only sequence of tokens in which every token is the segmentation of its own
//! bytes, and every two adjacent tokens are the segmentation of theirs. Proof: if a merge crosses a boundary of such
//! a sequence, take the first one. Until then both sides are merged as they are alone, so this merge also crosses the
//! boundary in the segmentation of the pair. And without a crossing merge every token is segmented as it is alone.
//!
//! So a valid sequence that ends with the text is the segmentation. A position from which no token continues is a
//! dead end: the walk goes back and tries the next shorter prefix of the previous token. By the same argument a
//! position is reached in one way only, so a dead end stays one.
//!
//! Source: the documentation of GitHub's `bpe` crate (van Antwerpen and Neubeck 2024, "So many tokens, so little
//! time"). Short byte-level words are merged in batches instead (`piecework_kernels::merges`), with the same result.
//!
//! ```text
//! compile           builds the tables
//! split_table       the two sides of each token, what two tokens merge to, and which pairs are valid
//! token_trie        the longest token that a text begins with, and its next shorter prefix; built after the first words or
//!                   read from table sections
//! scratch           the state of walks, and recent decisions about pairs
//! streaming         the decided prefix of a long word
//! fallback          merges the rest of words that take too many steps
//! ```
//!
//! Requirements:
//! - The merge of the lowest rank comes first, the leftmost of equal ones, without dropout.
//! - The first symbols of a word are tokens, and none is a prefix of another. A word ends before an unknown symbol.
//! - Merges are ordered by rank. If several make one token, the first that can be applied counts, as no other can be.
//!   Tokens that no merge makes are not matched.
//! - No merge occurs twice, and none needs a token that only a later merge makes. `compile` checks both.

mod compile;
mod fallback;
mod scratch;
mod split_table;
#[cfg(test)]
mod splitting_tests;
mod streaming;
#[cfg(test)]
mod test_models;
mod token_trie;

use piecework_kernels::merges::{BytePairMap, InterleavedWords, LongWordBatch, ShortWordBatch, MAX_WORDS};

pub(in crate::model) use self::compile::MergeRules;
pub(in crate::model) use self::scratch::BacktrackingScratch;
pub(in crate::model) use self::split_table::SplitTable;
pub(in crate::model) use self::token_trie::sections as stored_sections;
use self::token_trie::{LateTrie, TokenMatch, TokenTrie};
use super::merges::MergeIds;
use crate::interrupt;
use crate::model::{BatchWord, ByteAdjacency};
use crate::table_sections::TableSections;

/// The tokens of a model with their merges.
#[derive(Clone, Debug)]
pub(in crate::model) struct BacktrackingBpe {
    split_table: SplitTable,
    trie: LateTrie,
    /// The ids of tokens by number.
    entries: Vec<u32>,
    /// The pairs of bytes that merge, for byte-level models: their short words are merged in batches.
    byte_pairs: Option<BytePairMap>,
    /// Where words of such a model can be split, and its tokens that only match whole words.
    byte_adjacency: Option<ByteAdjacency>,
    /// The length of the longest token in bytes.
    longest: usize,
    /// The number of bytes of a word after which the walk emits the decided tokens.
    chunk_len: usize,
}

impl BacktrackingBpe {
    /// Segment a word up to an unknown symbol; call `found` with the id and the bytes of each token. Return the
    /// number of segmented bytes. If segmentation takes too many steps, it stops earlier, and the tokens up to there
    /// are right. Before the trie is built, it segments nothing of the first words of a byte-level model.
    pub(in crate::model) fn segment(
        &self,
        word: &[u8],
        scratch: &mut BacktrackingScratch,
        mut found: impl FnMut(u32, usize),
    ) -> usize {
        if let Some(id) = self.whole_word(word) {
            found(id, word.len());
            return word.len();
        }
        if self.trie.counts_as_first(word.len()) {
            return 0;
        }
        let Some(trie) = self.trie() else { return 0 };
        let (longest, _) = trie.longest(word);
        if longest.len as usize == word.len() {
            found(self.entries[longest.entry as usize], word.len());
            return word.len();
        }
        let emit = |token: TokenMatch| found(self.entries[token.entry as usize], token.len as usize);
        self.segment_from(word, longest, scratch, emit)
    }

    /// Return where words can be split before segmentation, if the model has such positions.
    pub(in crate::model) fn byte_adjacency(&self) -> Option<&ByteAdjacency> {
        self.byte_adjacency.as_ref()
    }

    /// Return the id of a token that only matches whole words.
    #[inline]
    fn whole_word(&self, word: &[u8]) -> Option<u32> {
        self.byte_adjacency.as_ref()?.whole_word(word)
    }

    /// Return whether a word begins with a symbol of the model.
    pub(in crate::model) fn starts_with_symbol(&self, word: &[u8]) -> bool {
        self.trie().is_some_and(|trie| trie.longest(word).0.len > 0)
    }

    /// Return the trie; `None` while another thread builds it.
    #[inline]
    fn trie(&self) -> Option<&TokenTrie> {
        self.trie.get(&self.split_table)
    }

    /// Segment a word from its longest first token on.
    fn segment_from(
        &self,
        word: &[u8],
        first: TokenMatch,
        scratch: &mut BacktrackingScratch,
        mut emit: impl FnMut(TokenMatch),
    ) -> usize {
        scratch.begin(word.len());
        let (mut at, mut emitted) = (first.len as usize, 0);
        scratch.tokens.extend((first.len > 0).then_some(first));
        loop {
            let end = word.len().min(at.saturating_add(self.chunk_len));
            match self.extend_to(end, word, at, scratch) {
                None => return emitted,
                Some(reached) => at = reached,
            }
            if at < end || at == word.len() {
                scratch.tokens.drain(..).for_each(emit);
                return at;
            }
            interrupt::check(self.chunk_len);
            let decided_count = self.decided_count(word, at, scratch);
            for token in scratch.tokens.drain(..decided_count) {
                emitted += token.len as usize;
                emit(token);
            }
        }
    }

    /// Push tokens until they reach byte `end` or an unknown symbol; return where they end. `None` if that takes too
    /// many steps.
    #[inline]
    fn extend_to(
        &self,
        end: usize,
        word: &[u8],
        mut at: usize,
        scratch: &mut BacktrackingScratch,
    ) -> Option<usize> {
        let trie = self.trie()?;
        while at < end {
            let (longest, read_len) = trie.longest(&word[at..]);
            if longest.len == 0 {
                break;
            }
            at = self.push_longest(longest, at, scratch)?;
            scratch.spend(read_len)?;
        }
        Some(at)
    }

    /// Push the longest valid token at byte `at` that is `next` or a prefix of it. At a dead end, goes back to the
    /// previous token. Return where the token ends; `None` if that takes too many steps.
    #[inline]
    fn push_longest(
        &self,
        mut next: TokenMatch,
        mut at: usize,
        scratch: &mut BacktrackingScratch,
    ) -> Option<usize> {
        let trie = self.trie()?;
        loop {
            let end = at + next.len as usize;
            if !scratch.is_dead_end(end) && self.is_valid_next(next, scratch) {
                scratch.tokens.push(next);
                return Some(end);
            }
            scratch.spend(1)?;
            next = trie.next_prefix(next.entry);
            while next.len == 0 {
                scratch.set_dead_end(at)?;
                let last = scratch.tokens.pop()?;
                scratch.spend(1)?;
                at -= last.len as usize;
                next = trie.next_prefix(last.entry);
            }
        }
    }

    /// Return whether a token and the last one are a valid pair.
    #[inline]
    fn is_valid_next(&self, next: TokenMatch, scratch: &mut BacktrackingScratch) -> bool {
        let BacktrackingScratch { tokens, steps_left, valid_pairs, .. } = scratch;
        let Some(&last) = tokens.last() else { return true };
        valid_pairs.get_or_compute(last.entry, next.entry, || {
            *steps_left = steps_left.saturating_sub((last.len + next.len) as usize);
            self.split_table.is_valid_token_pair(last.entry, next.entry)
        })
    }

    /// Add the table sections of the trie.
    pub(in crate::model) fn store(&self, sections: &mut TableSections) {
        token_trie::store(self.trie.get_or_make(&self.split_table), sections);
    }

    /// Build the trie.
    pub(in crate::model) fn warm_up(&self) {
        self.trie.get_or_make(&self.split_table);
    }

    /// Return the bytes of memory of the other tables.
    pub(in crate::model) fn bytes(&self) -> usize {
        self.split_table.bytes()
            + self.byte_pairs.as_ref().map_or(0, BytePairMap::bytes)
            + self.byte_adjacency.as_ref().map_or(0, ByteAdjacency::bytes)
            + size_of_val(self.entries.as_slice())
    }
}

// Merge the words of a text in batches of interleaved words, short and longer words separately.
//
// Words are emitted in their order. When the next word of its length class is not merged yet, a batch of the
// following words of this class is, since all words of the previous batch have been emitted.

/// The batches of both length classes.
#[derive(Clone, Debug, Default)]
pub(in crate::model::bpe) struct MergeBatches {
    /// Whether there is a trie for the longer words of characters of three bytes: a token has many of their bytes.
    has_trie: bool,
    short: LengthClass<16, 32>,
    long: LengthClass<32, 64>,
}

/// A batch of words of one length class.
#[derive(Clone, Debug, Default)]
struct LengthClass<const SYMBOLS: usize, const CAPACITY: usize> {
    /// Allocated when the first word comes.
    rows: Option<Box<InterleavedWords<SYMBOLS, CAPACITY>>>,
    /// The next word of the batch to emit, and the size of the batch.
    next: usize,
    count: usize,
}

impl BacktrackingBpe {
    /// Begin the words of a text.
    pub(in crate::model::bpe) fn begin(&self, batches: &mut MergeBatches) {
        batches.has_trie = self.trie.is_built();
    }

    /// Append the ids of the first of `words`. Return `false` for words that are not merged in batches. The caller
    /// passes all words of the text in their order.
    #[inline]
    pub(in crate::model::bpe) fn push_next(
        &self,
        (text, words): (&[u8], &[BatchWord]),
        MergeBatches { has_trie, short, long }: &mut MergeBatches,
        out: &mut Vec<u32>,
    ) -> bool {
        let (Some(pairs), Some(first)) = (&self.byte_pairs, words.first()) else { return false };
        let (from, first) = (out.len(), &text[first.bytes.0..first.bytes.1]);
        let is_short = |word: &[u8]| word.len() <= ShortWordBatch::MAX_BYTES;
        let is_long = |word: &[u8]| {
            !is_short(word)
                && word.len() <= LongWordBatch::MAX_BYTES
                && !(*has_trie && word[word.len() - 3] >= 0xE0)
        };
        if is_short(first) {
            short.push_next(self, pairs, (text, words), is_short, out);
        } else if is_long(first) {
            long.push_next(self, pairs, (text, words), is_long, out);
        } else {
            return false;
        }
        if let Some(id) = self.whole_word(first) {
            out.truncate(from);
            out.push(id);
        }
        true
    }
}

impl<const SYMBOLS: usize, const CAPACITY: usize> LengthClass<SYMBOLS, CAPACITY> {
    #[inline]
    fn push_next(
        &mut self,
        model: &BacktrackingBpe,
        pairs: &BytePairMap,
        words: (&[u8], &[BatchWord]),
        is_one: impl Fn(&[u8]) -> bool,
        out: &mut Vec<u32>,
    ) {
        if self.next == self.count {
            self.fill(model, pairs, words, is_one);
        }
        if let Some(rows) = &self.rows {
            out.extend(rows.numbers(self.next).map(|number| model.entries[number as usize]));
        }
        self.next += 1;
    }

    /// Merge the first words of this class.
    fn fill(
        &mut self,
        model: &BacktrackingBpe,
        pairs: &BytePairMap,
        (text, words): (&[u8], &[BatchWord]),
        is_one: impl Fn(&[u8]) -> bool,
    ) {
        let all = words.iter().map(|word| &text[word.bytes.0..word.bytes.1]).filter(|word| is_one(word));
        let mut batch = [&[][..]; MAX_WORDS];
        (self.next, self.count) = (0, batch.iter_mut().zip(all).map(|(batch, word)| *batch = word).count());
        self.rows.get_or_insert_with(Box::default).merge_words(
            &batch[..self.count],
            pairs,
            model.split_table.pairs(),
        );
    }
}
