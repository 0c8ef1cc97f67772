//! BPE: merges adjacent symbols, the pair of the lowest rank first, the leftmost of equal ones.
//!
//! ```text
//! symbols          the tokens of a word while it is merged, and the lookup of their merges
//! initial_symbols  the first symbols of a word
//! merges           the token ids of all merges
//! first_words      words by rank, without the merges of ranks
//! merge_ranks      pairs of tokens to the ranks of their merges
//! scored           merges by the scores of SentencePiece's pieces
//! backtracking     linear time, from left to right, for merges in order
//! char_level       words of characters, or of bytes, by backtracking
//! merge            merges of a short word, of any word, and of any word if merges are in order
//! scratch          the buffers of one word, and of its merges
//! dropout          BPE-dropout, and the order of pairs that it selects from
//! ```
//!
//! Sennrich, Haddow and Birch 2016, "Neural Machine Translation of Rare Words with Subword Units".

mod backtracking;
mod char_level;
mod dropout;
mod first_words;
mod initial_symbols;
mod merge;
mod merge_ranks;
mod merges;
mod scored;
mod scratch;
mod symbols;
#[cfg(test)]
mod tests;

use self::backtracking::BacktrackingBpe;
use self::char_level::{compile_bytes, CharLevel};
use self::initial_symbols::InitialSymbols;
use self::merge::{merge_by_heap, merge_by_rank, merge_by_scan};
use self::merge_ranks::MergeRanks;
use self::merges::Merges;
pub(crate) use self::scored::CharCodes;
pub use self::scored::ScoredBpe;
pub(crate) use self::scored::ScoredBpeScratch;
pub(super) use self::scratch::BpeScratch;
use self::scratch::MergeScratch;
use self::symbols::{push_all, rank_all, Symbol};
use super::late_tables::LateTables;
use super::sampling::SamplingRng;
use super::{BatchWord, ByteAdjacency, TokenSink, TokenSpan};
use crate::error::{Error, ErrorKind};
use crate::interrupt;
use crate::spec::BpeSpec;
use crate::table_sections::{TableSections, RANKS};
use crate::text::byte_of_printable;
use crate::vocab::Vocab;

/// The number of words, other than tokens, that are merged by lookups before the tables of ranks are built: a tenth of the
/// time that these take.
const LOOKUPS: u32 = 2048;
/// A longer word, in bytes, builds these tables.
const MAX_FIRST_WORD: usize = 256;
/// The longest text, in bytes, whose words are not split before segmentation while these tables are not built.
const MAX_FIRST_BYTES: usize = 1 << 16;

/// The compiled BPE model.
#[derive(Clone, Debug)]
pub struct Bpe {
    tables: LateTables<MergeTables>,
    unk_id: Option<u32>,
    /// Whether a word that is a token needs no merges.
    ignore_merges: bool,
    /// Whether the merges are those of the ids as ranks. Their tables are built late.
    is_ranked: bool,
}

impl Bpe {
    /// Look up all merges, each of which must merge two tokens to a token. Use the tables that `sections` contains, and the
    /// merges of ids as ranks if it says so.
    pub(super) fn compile(spec: &BpeSpec, vocab: &Vocab, sections: &TableSections) -> Result<Self, Error> {
        check_dropout(spec.dropout)?;
        if sections.has(RANKS) {
            return Ok(Self::ranked(spec, sections));
        }
        let merges = Merges::compile(spec, vocab, sections)?;
        let unk = spec.unk_token.as_ref().map(|token| vocab.require(token, "model.unk_token"));
        let unk_id = unk.transpose()?;
        let tables = MergeTables::build(spec, vocab, (merges, unk_id), sections);
        Ok(Self {
            tables: LateTables::built(tables),
            unk_id,
            ignore_merges: spec.ignore_merges,
            is_ranked: false,
        })
    }

    /// Return the model whose merges are those of its ids as ranks.
    fn ranked(spec: &BpeSpec, sections: &TableSections) -> Self {
        Self {
            tables: LateTables::unbuilt(LOOKUPS, backtracking::stored_sections(sections)),
            unk_id: None,
            ignore_merges: spec.ignore_merges,
            is_ranked: true,
        }
    }

    /// Return the id of the unknown token.
    pub(super) fn unk_id(&self) -> Option<u32> {
        self.unk_id
    }

    /// Return the ranks of the first merge that occurs twice. The second one counts.
    pub(super) fn duplicate_merge(&self) -> Option<(usize, usize)> {
        // Pairs of ranks make different tokens.
        self.tables.get()?.pairs.duplicate()
    }

    /// Add the table sections of tables that take long to build.
    pub(super) fn store(&self, vocab: &Vocab, sections: &mut TableSections) {
        if self.is_ranked {
            sections.put(RANKS, &Vec::<u8>::new().into());
        }
        self.made_tables(vocab).store(sections);
    }

    /// Build every table that is not built yet.
    pub(super) fn warm_up(&self, vocab: &Vocab) {
        self.made_tables(vocab).warm_up();
    }

    /// Return the bytes of memory of the other tables.
    pub(super) fn derived_bytes(&self) -> usize {
        self.tables.get().map_or(0, MergeTables::derived_bytes)
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
        if rng.is_none() {
            if let Some(id) = self.ignore_merges.then(|| vocab.id_of(word)).flatten() {
                return out.push(TokenSpan { id, start: 0, end: word.len() as u32 });
            }
        }
        match self.tables.get() {
            Some(tables) => tables.run(word, scratch, rng, out),
            None => self.run_early(word, vocab, scratch, rng, out),
        }
    }

    /// Segment a word before the tables are built: by the definition if it is among the first ones, and while another
    /// thread builds the tables.
    #[cold]
    fn run_early(
        &self,
        word: &str,
        vocab: &Vocab,
        scratch: &mut BpeScratch,
        rng: Option<&mut SamplingRng>,
        out: &mut impl TokenSink,
    ) {
        let is_first = rng.is_none() && word.len() <= MAX_FIRST_WORD && self.tables.count_lookup();
        let tables = if is_first { None } else { self.tables(vocab) };
        match tables {
            None if rng.is_none() && first_words::merge(word, vocab, scratch, out) => {}
            tables => tables.unwrap_or_else(|| self.made_tables(vocab)).run(word, scratch, rng, out),
        }
    }

    /// Segment one non-empty byte-level word without dropout, with the ids that `run` gives for its printable
    /// characters. Return `false` if the model is not byte-level, and for the first words.
    pub(super) fn run_bytes(&self, word: &[u8], scratch: &mut BpeScratch, out: &mut Vec<u32>) -> bool {
        self.tables.get().is_some_and(|tables| tables.run_bytes(word, scratch, out))
    }

    /// Segment byte-level words of `bytes` like `run_bytes`, most of them interleaved, and set the span of the ids of
    /// each. Return `false` if the model is not byte-level, and for the first words.
    pub(super) fn run_bytes_batch(
        &self,
        bytes: &[u8],
        words: &mut [BatchWord],
        vocab: &Vocab,
        scratch: &mut BpeScratch,
        ids: &mut Vec<u32>,
    ) -> bool {
        // The words that are no tokens are counted when they are merged.
        let tables = if self.tables.can_wait() { None } else { self.tables(vocab) };
        tables.is_some_and(|tables| tables.run_bytes_batch(bytes, words, scratch, ids))
    }

    /// Return where words of a byte-level text of `len` bytes can be split before segmentation, if the model has such
    /// positions.
    pub(crate) fn byte_adjacency(&self, len: usize, vocab: &Vocab) -> Option<&ByteAdjacency> {
        let can_wait = self.tables.can_wait() && len <= MAX_FIRST_BYTES;
        let tables = if can_wait { None } else { self.tables(vocab) };
        tables?.bytes.as_ref()?.byte_adjacency()
    }

    /// Return the tables; build them now if nobody does. `None` while another thread builds them.
    #[inline]
    fn tables(&self, vocab: &Vocab) -> Option<&MergeTables> {
        self.tables.get_or_build(|| Some(self.build_ranked(vocab)))
    }

    /// Return the tables; build them now if they are not built, even if another thread builds them.
    fn made_tables(&self, vocab: &Vocab) -> &MergeTables {
        self.tables.get_or_make(|| self.build_ranked(vocab))
    }

    /// Build the tables of the merges of ids as ranks.
    fn build_ranked(&self, vocab: &Vocab) -> MergeTables {
        let spec = BpeSpec { ignore_merges: self.ignore_merges, ..BpeSpec::default() };
        MergeTables::build(&spec, vocab, (Merges::of_ranks(vocab), None), self.tables.stored())
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

/// The longest word, in symbols, that is scanned for the best pair; a heap is faster for longer ones.
const SHORT: usize = 24;

/// The tables of the merges of a model.
#[derive(Clone, Debug)]
struct MergeTables {
    initial_symbols: InitialSymbols,
    pairs: MergeRanks,
    /// For byte-level vocabularies whose merges are in order.
    bytes: Option<Box<BacktrackingBpe>>,
    /// For vocabularies of characters whose merges are in order.
    chars: Option<Box<CharLevel>>,
}

impl MergeTables {
    /// Build the tables of these merges, with those that `sections` contains.
    fn build(
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
    fn warm_up(&self) {
        self.pairs.warm_up();
        if let Some(backtracking) = &self.bytes {
            backtracking.warm_up();
        }
    }

    /// Add the table sections of tables that take long to build.
    fn store(&self, sections: &mut TableSections) {
        if let Some(backtracking) = &self.bytes {
            backtracking.store(sections);
        }
        if let Some(chars) = &self.chars {
            chars.store(sections);
        }
    }

    /// Return the bytes of memory of the other tables.
    fn derived_bytes(&self) -> usize {
        self.pairs.bytes()
            + self.bytes.as_ref().map_or(0, |backtracking| backtracking.bytes())
            + self.chars.as_ref().map_or(0, |chars| chars.bytes())
    }

    /// Segment one non-empty word; with dropout if there are random numbers.
    fn run(
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
    fn run_bytes(&self, word: &[u8], scratch: &mut BpeScratch, out: &mut Vec<u32>) -> bool {
        let Some(backtracking) = &self.bytes else { return false };
        segment_bytes(backtracking, word, scratch, |id, _| out.push(id));
        true
    }

    /// Segment byte-level words of `bytes` like `run_bytes`, most of them interleaved, and set the span of the ids of
    /// each. Return `false` if the model is not byte-level.
    fn run_bytes_batch(
        &self,
        bytes: &[u8],
        words: &mut [BatchWord],
        scratch: &mut BpeScratch,
        ids: &mut Vec<u32>,
    ) -> bool {
        let Some(backtracking) = &self.bytes else { return false };
        backtracking.begin(&mut scratch.interleaved);
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
