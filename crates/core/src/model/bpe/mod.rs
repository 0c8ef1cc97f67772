//! BPE: merges adjacent symbols, the pair of the lowest rank first, the leftmost of equal ones.
//!
//! ```text
//! symbols          the tokens of a word while it is merged, and the lookup of their merges
//! initial_symbols  the first symbols of a word
//! merges           the token ids of all merges
//! merge_ranks      pairs of tokens to the ranks of their merges
//! scored           merges by the scores of SentencePiece's pieces
//! backtracking     linear time, from left to right, for merges in order
//! byte_level       byte-level words by backtracking
//! char_level       words of characters by backtracking
//! merge_by_scan    merges of a short word
//! merge_by_heap    merges of any word, O(n log n)
//! merge_by_rank    merges of any word, rank by rank, for merges in order
//! dropout          BPE-dropout, and the order of pairs that it selects from
//! ```
//!
//! Sennrich, Haddow and Birch 2016, "Neural Machine Translation of Rare Words with Subword Units".

mod backtracking;
mod byte_level;
mod char_level;
mod dropout;
mod initial_symbols;
mod merge_by_heap;
mod merge_by_rank;
mod merge_by_scan;
mod merge_ranks;
mod merges;
mod scored;
mod symbols;

use self::backtracking::{BacktrackingBpe, BacktrackingScratch, MergeBatches};
use self::char_level::CharLevel;
use self::dropout::PairOrder;
use self::initial_symbols::InitialSymbols;
use self::merge_by_heap::MergeQueue;
use self::merge_by_rank::RankQueue;
use self::merge_ranks::MergeRanks;
use self::merges::Merges;
pub use self::scored::ScoredBpe;
pub(crate) use self::scored::ScoredBpeScratch;
use self::symbols::{push_all, rank_all, Symbol, SymbolLinks};
use super::sampling::SamplingRng;
use super::{BatchWord, ByteAdjacency, TokenSink, TokenSpan};
use crate::error::{Error, ErrorKind};
use crate::spec::BpeSpec;
use crate::table_sections::TableSections;
use crate::text::byte_of_printable;
use crate::vocab::Vocab;

/// The longest word, in symbols, that is scanned for the best pair; a heap is faster for longer ones.
const SHORT: usize = 24;

/// The compiled BPE model.
#[derive(Clone, Debug)]
pub struct Bpe {
    initial_symbols: InitialSymbols,
    pairs: MergeRanks,
    /// For byte-level vocabularies whose merges are in order.
    bytes: Option<Box<BacktrackingBpe>>,
    /// For vocabularies of characters whose merges are in order.
    chars: Option<Box<CharLevel>>,
    /// Whether a word that is a token needs no merges.
    ignore_merges: bool,
}

/// The buffers of one word.
#[derive(Clone, Debug, Default)]
pub(super) struct BpeScratch {
    symbols: Vec<Symbol>,
    merging: MergeScratch,
    backtracking: BacktrackingScratch,
    interleaved: MergeBatches,
    bytes: Vec<u8>,
}

/// The buffers of the merges of one word.
#[derive(Clone, Debug, Default)]
struct MergeScratch {
    links: SymbolLinks,
    queue: MergeQueue,
    rank_queue: RankQueue,
    pair_order: PairOrder,
}

impl Bpe {
    /// Look up all merges; each must merge two tokens to a token.
    pub fn compile(spec: &BpeSpec, vocab: &Vocab) -> Result<Self, Error> {
        Self::restore(spec, vocab, &TableSections::default())
    }

    /// Return the id of the unknown token.
    pub(super) fn unk_id(&self) -> Option<u32> {
        self.initial_symbols.unk_id()
    }

    /// Return the same, with the tables that `sections` contains.
    pub(super) fn restore(spec: &BpeSpec, vocab: &Vocab, sections: &TableSections) -> Result<Self, Error> {
        check_dropout(spec.dropout)?;
        let merges = Merges::compile(spec, vocab, sections)?;
        let chars = CharLevel::compile(spec, vocab, &merges.list, sections);
        let bytes =
            if chars.is_none() { byte_level::compile(spec, vocab, &merges.list, sections) } else { None };
        Ok(Self {
            initial_symbols: InitialSymbols::compile(spec, vocab)?,
            bytes: bytes.map(Box::new),
            chars: chars.map(Box::new),
            pairs: MergeRanks::new(merges),
            ignore_merges: spec.ignore_merges,
        })
    }

    /// Return the ranks of the first merge that occurs twice. The second one counts.
    pub(super) fn duplicate_merge(&self) -> Option<(usize, usize)> {
        self.pairs.duplicate()
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
    ///
    /// Dropout begins with characters even if `ignore_merges` is set and the word is a token, as in `tokenizers`.
    pub(super) fn run(
        &self,
        word: &str,
        vocab: &Vocab,
        scratch: &mut BpeScratch,
        rng: Option<&mut SamplingRng>,
        out: &mut impl TokenSink,
    ) {
        let mut done = 0;
        if rng.is_none() {
            if let Some(id) = self.ignore_merges.then(|| vocab.id_of(word)).flatten() {
                return out.push(TokenSpan { id, start: 0, end: word.len() as u32 });
            }
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

    /// Return where byte-level words can be split before segmentation, if the model has such positions.
    #[must_use]
    pub fn byte_adjacency(&self) -> Option<&ByteAdjacency> {
        self.bytes.as_ref()?.byte_adjacency()
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
            self.initial_symbols.push_symbols(unknown, &mut scratch.symbols);
            push_all(&scratch.symbols, at, out);
            at += unknown.len();
        }
        at
    }

    /// Apply all merges.
    fn merge(&self, symbols: &mut Vec<Symbol>, merging: &mut MergeScratch) {
        if symbols.len() <= SHORT && !self.pairs.may_repeat() {
            merge_by_scan::merge(symbols, &self.pairs);
        } else {
            self.merge_long(symbols, merging);
        }
    }

    fn merge_long(&self, symbols: &mut Vec<Symbol>, merging: &mut MergeScratch) {
        let MergeScratch { links, queue, rank_queue, .. } = merging;
        if self.pairs.are_in_order() {
            merge_by_rank::merge(symbols, &mut &self.pairs, links, (rank_queue, self.pairs.len()));
        } else {
            merge_by_heap::merge(symbols, &mut &self.pairs, (links, queue), || false);
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
