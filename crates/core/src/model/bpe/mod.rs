//! BPE: characters merged pair by pair, the pair of the lowest rank first, the leftmost of equals.
//!
//! alphabet  characters and their bytes to entries
//! merges    the entries of all merges
//! pairs     two entries to the rank of their merge
//! backtracking    words from left to right, where merges are in order
//! bytes     the same for words printable by their bytes
//! chars     the same for words printable by their characters
//! short     the merges of a short word, by looking for the best pair again and again
//! long      the merges of any word, by a heap: O(n log n)
//! merge_by_rank    the same rank by rank, without a heap, where merges are in order
//! dropout   the merges of a word when some are left out at random
//! order     the pairs that dropout chooses from
//!
//! Sennrich, Haddow and Birch 2016, "Neural Machine Translation of Rare Words with Subword Units".

mod alphabet;
mod backtracking;
mod byte_level;
mod char_level;
mod dropout;
mod merge_by_heap;
mod merge_by_rank;
mod merge_by_scan;
mod merge_ranks;
mod merges;
mod pair_order;

use self::alphabet::Alphabet;
use self::backtracking::MergeBatches;
pub(super) use self::backtracking::{BacktrackingBpe, BacktrackingScratch, MergeRules, SplitTable};
use self::char_level::CharLevel;
use self::merge_by_heap::SymbolLinks;
use self::merge_by_rank::RankQueue;
use self::merge_ranks::{MergeRanks, RankLookup, NO_RANK};
pub(super) use self::merges::Merge;
use self::merges::Merges;
use self::pair_order::PairOrder;
use super::{ByteAdjacency, ModelScratch, Piece, PieceSink};
use crate::error::{Error, ErrorKind};
use crate::spec::BpeSpec;
use crate::table_sections::TableSections;
use crate::text::byte_of_printable;
use crate::vocab::Vocab;

/// Up to so many symbols are scanned for the best pair; beyond, a heap is faster.
const SHORT: usize = 24;

/// The compiled BPE model.
#[derive(Clone, Debug)]
pub struct Bpe {
    alphabet: Alphabet,
    pairs: MergeRanks,
    /// Where every byte has an entry and merges are in order.
    bytes: Option<Box<BacktrackingBpe>>,
    /// Where characters have entries instead, and merges are in order.
    chars: Option<Box<CharLevel>>,
    /// A word that is an entry is that entry.
    ignore_merges: bool,
}

/// A part of the word that is an entry, on its way to being merged.
#[derive(Clone, Copy, Debug)]
struct Symbol {
    id: u32,
    /// Rank of the merge with the next symbol, `NO_RANK` if there is none.
    rank: u32,
    /// Byte span of the word.
    start: u32,
    end: u32,
}

impl Symbol {
    /// Become the join of this symbol and its right neighbour.
    fn merge(&mut self, right: Self, id: u32) {
        self.id = id;
        self.start = self.start.min(right.start);
        self.end = self.end.max(right.end);
    }
}

/// Memory for the symbols of one word.
#[derive(Clone, Debug, Default)]
pub(crate) struct BpeScratch {
    symbols: Vec<Symbol>,
    links: SymbolLinks,
    pair_order: PairOrder,
    rank_queue: RankQueue,
    backtracking: BacktrackingScratch,
    interleaved: MergeBatches,
    bytes: Vec<u8>,
}

impl Bpe {
    /// Look up all merges; each must join two entries to an entry.
    pub fn compile(spec: &BpeSpec, vocab: &Vocab) -> Result<Self, Error> {
        Self::restore(spec, vocab, &TableSections::default())
    }

    /// The same, with the tables that `parts` has.
    pub(super) fn restore(spec: &BpeSpec, vocab: &Vocab, parts: &TableSections) -> Result<Self, Error> {
        check_dropout(spec.dropout)?;
        let merges = Merges::compile(spec, vocab)?;
        let chars = CharLevel::compile(spec, vocab, &merges.list, parts);
        let bytes =
            if chars.is_none() { byte_level::compile(spec, vocab, &merges.list, parts) } else { None };
        Ok(Self {
            alphabet: Alphabet::compile(spec, vocab)?,
            bytes: bytes.map(Box::new),
            chars: chars.map(Box::new),
            pairs: MergeRanks::new(merges),
            ignore_merges: spec.ignore_merges,
        })
    }

    /// The ranks of the first merge that is there twice, of which the second counts.
    pub(super) fn duplicate_merge(&self) -> Option<(usize, usize)> {
        self.pairs.duplicate()
    }

    /// Take the tables apart that take long to make.
    pub(super) fn store(&self, parts: &mut TableSections) {
        if let Some(backtracking) = &self.bytes {
            backtracking.store(parts);
        }
        if let Some(chars) = &self.chars {
            chars.store(parts);
        }
    }

    /// The memory of the other tables of merges.
    pub(super) fn derived_bytes(&self) -> usize {
        self.pairs.bytes()
            + self.bytes.as_ref().map_or(0, |backtracking| backtracking.bytes())
            + self.chars.as_ref().map_or(0, |chars| chars.bytes())
    }

    /// Segment one non-empty word; at random where the scratch has rng.
    ///
    /// A drawn segmentation begins with characters even where whole words need no merges, as in
    /// `tokenizers`.
    pub fn run(&self, word: &str, vocab: &Vocab, scratch: &mut ModelScratch, out: &mut impl PieceSink) {
        let mut done = 0;
        if scratch.rng.is_none() {
            if let Some(id) = self.ignore_merges.then(|| vocab.id_of(word)).flatten() {
                return out.push(Piece { id, start: 0, end: word.len() as u32 });
            }
            if self.run_printable(word, &mut scratch.bpe, out) {
                return;
            }
            done = self.run_chars(word, &mut scratch.bpe, out);
        }
        let ModelScratch { bpe: BpeScratch { symbols, links, pair_order, rank_queue, .. }, rng, .. } =
            scratch;
        self.alphabet.push_symbols(&word[done..], symbols);
        self.rank_all(symbols);
        match rng {
            Some(rng) => dropout::merge(symbols, &self.pairs, links, pair_order, rng),
            None => self.merge(symbols, links, rank_queue),
        }
        push_all(symbols, done, out);
    }

    /// Segment one non-empty word given as bytes that the entries push_symbols by printable characters, as `run`
    /// would with those and without rng; says whether it can.
    pub fn run_bytes(&self, word: &[u8], scratch: &mut ModelScratch, out: &mut Vec<u32>) -> bool {
        let Some(backtracking) = &self.bytes else { return false };
        segment_bytes(backtracking, word, &mut scratch.bpe, |id, _| out.push(id));
        true
    }

    /// Where words of bytes may be taken apart, if that is known.
    #[must_use]
    pub fn byte_adjacency(&self) -> Option<&ByteAdjacency> {
        self.bytes.as_ref()?.byte_adjacency()
    }

    /// Segment words of a text as `run_bytes` does, most of them at once; `ends` are where the entries of each end.
    /// Says whether it can.
    pub fn run_bytes_batch(
        &self,
        (text, spans): (&str, &[(usize, usize)]),
        scratch: &mut ModelScratch,
        out: &mut Vec<u32>,
        ends: &mut Vec<usize>,
    ) -> bool {
        let Some(backtracking) = &self.bytes else { return false };
        let (text, scratch) = (text.as_bytes(), &mut scratch.bpe);
        for (number, &(start, end)) in spans.iter().enumerate() {
            if !backtracking.push_next((text, &spans[number..]), &mut scratch.interleaved, out) {
                segment_bytes(backtracking, &text[start..end], scratch, |id, _| out.push(id));
            }
            ends.push(out.len());
        }
        true
    }

    /// Segment a word of nothing but characters that stand for bytes by those; says whether it can.
    fn run_printable(&self, word: &str, scratch: &mut BpeScratch, out: &mut impl PieceSink) -> bool {
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
                out.push(Piece { id, start: start as u32, end: end as u32 });
                start = end;
            });
        }
        scratch.bytes = bytes;
        is_printable
    }

    /// Segment a word by its characters as far as that can be done; says how many bytes that is.
    fn run_chars(&self, word: &str, scratch: &mut BpeScratch, out: &mut impl PieceSink) -> usize {
        let Some(chars) = &self.chars else { return 0 };
        let mut at = 0;
        while at < word.len() {
            at = chars.segment(word, at, &mut scratch.backtracking, out);
            let unknown = chars.unknown(&word[at..]);
            if unknown.is_empty() {
                break;
            }
            self.alphabet.push_symbols(unknown, &mut scratch.symbols);
            push_all(&scratch.symbols, at, out);
            at += unknown.len();
        }
        at
    }

    /// Apply all merges.
    fn merge(&self, symbols: &mut Vec<Symbol>, links: &mut SymbolLinks, rank_queue: &mut RankQueue) {
        if symbols.len() <= SHORT && !self.pairs.may_repeat() {
            merge_by_scan::merge(symbols, &self.pairs);
        } else {
            self.merge_long(symbols, links, rank_queue);
        }
    }

    fn merge_long(&self, symbols: &mut Vec<Symbol>, links: &mut SymbolLinks, rank_queue: &mut RankQueue) {
        if self.pairs.are_in_order() {
            merge_by_rank::merge(symbols, &self.pairs, links, rank_queue);
        } else {
            merge_by_heap::merge(symbols, &self.pairs, links);
        }
    }

    fn rank_all(&self, symbols: &mut [Symbol]) {
        for i in 1..symbols.len() {
            symbols[i - 1].rank = self.pairs.rank(symbols[i - 1].id, symbols[i].id);
        }
    }
}

/// Give `found` the entries of a word of bytes and how many bytes each has.
#[inline]
fn segment_bytes(
    backtracking: &BacktrackingBpe,
    word: &[u8],
    scratch: &mut BpeScratch,
    mut found: impl FnMut(u32, usize),
) {
    let BpeScratch { symbols, links, rank_queue, backtracking: state, .. } = scratch;
    let done = backtracking.segment(word, state, &mut found);
    if done < word.len() {
        backtracking.merge_rest(&word[done..], symbols, (links, rank_queue), found);
    }
}

/// Give out the symbols of a part of a word that begins at byte `start`.
fn push_all(symbols: &[Symbol], start: usize, out: &mut impl PieceSink) {
    for symbol in symbols {
        let [from, to] = [symbol.start, symbol.end].map(|at| start as u32 + at);
        out.push(Piece { id: symbol.id, start: from, end: to });
    }
}

fn check_dropout(dropout: Option<f64>) -> Result<(), Error> {
    match dropout {
        Some(share) if !(0.0..=1.0).contains(&share) => {
            Err(Error::new(ErrorKind::Format, "model.dropout", share.to_string(), "a number from 0 to 1"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
