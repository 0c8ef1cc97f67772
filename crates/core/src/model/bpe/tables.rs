//! The tables of the merges of a model, and the words that are merged by them.

use super::backtracking::BacktrackingBpe;
use super::char_level::{compile_bytes, CharLevel};
use super::dropout;
use super::initial_symbols::InitialSymbols;
use super::merge::{merge_by_heap, merge_by_rank, merge_by_scan};
use super::merge_ranks::MergeRanks;
use super::merges::Merges;
use super::scratch::{BpeScratch, MergeScratch};
use super::symbols::{push_all, rank_all, Symbol};
use crate::interrupt;
use crate::model::sampling::SamplingRng;
use crate::model::{BatchWord, TokenSink, TokenSpan};
use crate::spec::BpeSpec;
use crate::table_sections::TableSections;
use crate::text::byte_of_printable;
use crate::vocab::Vocab;

/// The longest word, in symbols, that is scanned for the best pair; a heap is faster for longer ones.
const SHORT: usize = 24;

/// The tables of the merges of a model.
#[derive(Clone, Debug)]
pub(super) struct MergeTables {
    pub(super) initial_symbols: InitialSymbols,
    pub(super) pairs: MergeRanks,
    /// For byte-level vocabularies whose merges are in order.
    pub(super) bytes: Option<Box<BacktrackingBpe>>,
    /// For vocabularies of characters whose merges are in order.
    pub(super) chars: Option<Box<CharLevel>>,
}

impl MergeTables {
    /// Build the tables of these merges, with those that `sections` contains.
    pub(super) fn build(
        spec: &BpeSpec,
        vocab: &Vocab,
        (merges, unk_id): (Merges, Option<u32>),
        sections: &TableSections,
    ) -> Self {
        let chars = CharLevel::compile(spec, vocab, &merges.list, sections);
        let bytes = if chars.is_none() { compile_bytes(spec, vocab, &merges.list, sections) } else { None };
        let tables = Self {
            initial_symbols: InitialSymbols::compile(spec, vocab, unk_id),
            bytes: bytes.map(Box::new),
            chars: chars.map(Box::new),
            pairs: MergeRanks::new(merges, vocab.id_bound()),
        };
        if tables.bytes.is_none() && tables.chars.is_none() {
            // Every word needs it.
            tables.pairs.warm_up();
        }
        tables
    }

    /// Build the tables that few words need.
    pub(super) fn warm_up(&self) {
        self.pairs.warm_up();
        if let Some(backtracking) = &self.bytes {
            backtracking.warm_up();
        }
    }

    /// Add the table sections of tables that take long to build.
    pub(super) fn store(&self, sections: &mut TableSections) {
        if let Some(backtracking) = &self.bytes {
            backtracking.store(sections);
        }
        if let Some(chars) = &self.chars {
            chars.store(sections);
        }
    }

    /// Return the bytes of memory of the other tables.
    pub(super) fn derived_bytes(&self) -> usize {
        self.pairs.bytes()
            + self.bytes.as_ref().map_or(0, |backtracking| backtracking.bytes())
            + self.chars.as_ref().map_or(0, |chars| chars.bytes())
    }

    /// Segment one non-empty word; with dropout if there are random numbers.
    pub(super) fn run(
        &self,
        word: &str,
        scratch: &mut BpeScratch,
        rng: Option<&mut SamplingRng>,
        out: &mut impl TokenSink,
    ) {
        let mut done = 0;
        if rng.is_none() {
            if self.run_printable(word, scratch, out) {
                return;
            }
            done = self.run_chars(word, scratch, out);
        }
        let BpeScratch { symbols, merging, .. } = scratch;
        self.initial_symbols.push_symbols(&word[done..], symbols);
        rank_all(symbols, &mut &self.pairs);
        match rng {
            Some(rng) => {
                dropout::merge(symbols, &self.pairs, (&mut merging.links, &mut merging.pair_order), rng);
            }
            None => self.merge(symbols, merging),
        }
        push_all(symbols, done, out);
    }

    /// Segment one non-empty byte-level word without dropout, with the ids that `run` gives for its printable
    /// characters. Return `false` if the model is not byte-level.
    pub(super) fn run_bytes(&self, word: &[u8], scratch: &mut BpeScratch, out: &mut Vec<u32>) -> bool {
        let Some(backtracking) = &self.bytes else { return false };
        segment_bytes(backtracking, word, scratch, |id, _| out.push(id));
        true
    }

    /// Segment byte-level words of `bytes` like `run_bytes`, most of them interleaved, and set the span of the ids of
    /// each. Return `false` if the model is not byte-level.
    pub(super) fn run_bytes_batch(
        &self,
        bytes: &[u8],
        words: &mut [BatchWord],
        scratch: &mut BpeScratch,
        ids: &mut Vec<u32>,
    ) -> bool {
        let Some(backtracking) = &self.bytes else { return false };
        for number in 0..words.len() {
            let from = ids.len();
            if !backtracking.push_next((bytes, &words[number..]), &mut scratch.interleaved, ids) {
                let (start, end) = words[number].bytes;
                segment_bytes(backtracking, &bytes[start..end], scratch, |id, _| ids.push(id));
            }
            words[number].ids = (from, ids.len());
        }
        true
    }

    /// Segment a word whose characters all represent bytes. Return `false` for other words.
    fn run_printable(&self, word: &str, scratch: &mut BpeScratch, out: &mut impl TokenSink) -> bool {
        let Some(backtracking) = &self.bytes else { return false };
        let mut bytes = std::mem::take(&mut scratch.bytes);
        bytes.clear();
        bytes.extend(word.chars().map_while(byte_of_printable));
        let mut chars = word.chars();
        let is_printable = chars.clone().nth(bytes.len()).is_none();
        if is_printable {
            let mut start = 0;
            segment_bytes(backtracking, &bytes, scratch, |id, len| {
                let end = start + chars.by_ref().take(len).map(char::len_utf8).sum::<usize>();
                out.push(TokenSpan { id, start: start as u32, end: end as u32 });
                start = end;
            });
        }
        scratch.bytes = bytes;
        is_printable
    }

    /// Segment a word by its characters. Return the bytes that are segmented, which are fewer if it takes too many
    /// steps.
    fn run_chars(&self, word: &str, scratch: &mut BpeScratch, out: &mut impl TokenSink) -> usize {
        let Some(chars) = &self.chars else { return 0 };
        let mut at = 0;
        while at < word.len() {
            at = chars.segment(word, at, &mut scratch.backtracking, out);
            let unknown = chars.unknown(&word[at..]);
            if unknown.is_empty() {
                break;
            }
            interrupt::check(1);
            self.initial_symbols.push_symbols(unknown, &mut scratch.symbols);
            push_all(&scratch.symbols, at, out);
            at += unknown.len();
        }
        at
    }

    /// Apply all merges.
    fn merge(&self, symbols: &mut Vec<Symbol>, merging: &mut MergeScratch) {
        if symbols.len() <= SHORT && !self.pairs.may_repeat() {
            merge_by_scan(symbols, &self.pairs);
        } else {
            self.merge_long(symbols, merging);
        }
    }

    fn merge_long(&self, symbols: &mut Vec<Symbol>, merging: &mut MergeScratch) {
        let MergeScratch { links, queue, rank_queue, .. } = merging;
        if self.pairs.are_in_order() {
            merge_by_rank(symbols, &mut &self.pairs, links, (rank_queue, self.pairs.len()));
        } else {
            merge_by_heap(symbols, &mut &self.pairs, (links, queue), || false);
        }
    }
}

/// Segment a byte-level word; call `found` with the id and the bytes of each token.
#[inline]
fn segment_bytes(
    backtracking: &BacktrackingBpe,
    word: &[u8],
    scratch: &mut BpeScratch,
    mut found: impl FnMut(u32, usize),
) {
    let BpeScratch { symbols, merging, backtracking: state, .. } = scratch;
    let done = backtracking.segment(word, state, &mut found);
    if done < word.len() {
        backtracking.merge_rest(&word[done..], symbols, merging, found);
    }
}
