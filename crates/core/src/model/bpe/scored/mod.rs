//! BPE by scores, as in SentencePiece: merges adjacent symbols whose text is a piece, the highest score first, the
//! leftmost of equal ones; splits unused pieces again. O(n log n).
//!
//! This is the definition. [`backtracking`] segments most models in linear time.
//!
//! ```text
//! backtracking  the merges in linear time, from left to right
//! equal_scores  the last merges, if several pieces have the lowest score
//! short_words   batches of short words
//! piece_trie    pieces with their texts, and by their text
//! ```

mod backtracking;
mod equal_scores;
mod piece_trie;
mod short_words;
#[cfg(test)]
mod tests;

use foldhash::HashMap;

use self::backtracking::{ScoredBacktracking, ScoredBacktrackingScratch};
use self::piece_trie::{PieceTexts, PieceTrie};
pub(crate) use self::short_words::CharCodes;
use super::backtracking::stored_sections;
use super::merge::{merge_by_heap, MergeQueue};
use super::merges::NO_RANK;
use super::symbols::{rank_all, MergeLookup, Symbol, SymbolLinks};
use crate::error::Error;
use crate::interrupt;
use crate::model::late_tables::LateTables;
use crate::model::pieces::{PieceWriter, Pieces};
use crate::model::sampling::SamplingRng;
use crate::model::TokenSink;
use crate::spec::{PieceType, ScoredPiece, SentencePieceSpec};
use crate::table_sections::TableSections;
use crate::vocab::Vocab;

/// The compiled BPE model of SentencePiece.
#[derive(Clone, Debug)]
pub struct ScoredBpe {
    pieces: Pieces,
    /// By id: the rank of its score, the highest first.
    ranks: Vec<u32>,
    longest: usize,
    has_unused: bool,
    tables: LateTables<ScoredTables>,
}

/// The tables that the first words do without: they are merged by lookups in the vocabulary.
#[derive(Clone, Debug)]
struct ScoredTables {
    trie: PieceTrie,
    backtracking: Option<ScoredBacktracking>,
}

/// The buffers of one text.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScoredBpeScratch {
    symbols: Vec<Symbol>,
    links: SymbolLinks,
    queue: MergeQueue,
    /// The byte length of the left side of each unused piece when it was last merged.
    left_lengths: HashMap<u32, usize>,
    pending: Vec<(usize, usize)>,
    backtracking: ScoredBacktrackingScratch,
}

/// The number of texts that are merged by lookups before the tables are built: a tenth of the time that these take.
const LOOKUPS: u32 = 512;
/// Models of more bytes have their trie built when they are loaded, so that errors are raised there.
const MAX_BYTES: usize = 1 << 22;
/// The longest text, in bytes, that is merged by lookups.
const MAX_FIRST_BYTES: usize = 256;

/// The id of a user-defined piece while the others are merged: it merges with nothing.
const FIXED: u32 = u32::MAX;

impl ScoredBpe {
    /// Check the pieces and build the tables; read those that `sections` contains.
    pub(in crate::model) fn compile(
        spec: &SentencePieceSpec,
        vocab: &Vocab,
        sections: &TableSections,
    ) -> Result<Self, Error> {
        let pieces = Pieces::compile(spec, vocab)?;
        let (texts, ranks) = (PieceTexts { pieces: &pieces, vocab }, ranks(&spec.pieces));
        let lens = || spec.pieces.iter().map(|piece| piece.text.len());
        let tables = match lens().sum::<usize>() <= MAX_BYTES {
            true => LateTables::unbuilt(LOOKUPS, stored_sections(sections)),
            false => LateTables::built(ScoredTables::build(texts, &ranks, sections)?),
        };
        let (longest, has_unused) = (lens().max().unwrap_or(0), texts.has(PieceType::Unused));
        Ok(Self { pieces, ranks, longest, has_unused, tables })
    }

    /// Return the pieces of the model.
    #[must_use]
    pub fn pieces(&self) -> &Pieces {
        &self.pieces
    }

    /// Add the table sections of tables that take long to build.
    pub(in crate::model) fn store(&self, vocab: &Vocab, sections: &mut TableSections) {
        if let Some(backtracking) = self.made_tables(vocab).and_then(|tables| tables.backtracking.as_ref())
        {
            backtracking.store(sections);
        }
    }

    /// Build every table that is not built yet.
    pub(in crate::model) fn warm_up(&self, vocab: &Vocab) {
        self.made_tables(vocab);
    }

    /// Return the bytes of memory of the other tables of backtracking.
    pub(in crate::model) fn derived_bytes(&self) -> usize {
        let backtracking = self.tables.get().and_then(|tables| tables.backtracking.as_ref());
        backtracking.map_or(0, ScoredBacktracking::bytes)
    }

    /// Segment a text; with `rng` each candidate is dropped for good with its probability (BPE-dropout).
    pub(in crate::model) fn run(
        &self,
        text: &str,
        vocab: &Vocab,
        scratch: &mut ScoredBpeScratch,
        rng: Option<&mut SamplingRng>,
        out: &mut impl TokenSink,
    ) {
        let (mut done, mut writer) = (0, self.pieces.writer(text, out));
        if rng.is_none() && !self.is_among_first(text) {
            if let Some(backtracking) = self.backtracking(vocab) {
                let symbols = (&self.pieces, vocab);
                done = backtracking.run(text, symbols, &mut scratch.backtracking, &mut writer);
            }
        }
        if done < text.len() {
            self.merge_all((text, done), vocab, scratch, rng, &mut writer);
        }
        writer.finish();
    }

    /// Return the bytes that stand for characters in the short words that are merged in batches, if they can be; the first
    /// words are merged one by one.
    #[must_use]
    pub(crate) fn codes(&self, vocab: &Vocab) -> Option<&CharCodes> {
        if self.tables.can_wait() {
            return None;
        }
        self.backtracking(vocab)?.codes()
    }

    /// Merge up to `MAX_WORDS` words, given by the bytes for their characters, of at most `ShortWordBatch::MAX_BYTES`.
    pub(crate) fn merge_batch(&self, words: &[&[u8]], vocab: &Vocab, scratch: &mut ScoredBpeScratch) {
        if let Some(backtracking) = self.backtracking(vocab) {
            backtracking.merge_batch(words, &mut scratch.backtracking);
        }
    }

    /// Append the ids of one word of the last batch; return `false` if the batch cannot segment it.
    pub(crate) fn push_merged(
        &self,
        row: usize,
        scratch: &mut ScoredBpeScratch,
        out: &mut Vec<u32>,
    ) -> bool {
        let backtracking = self.tables.get().and_then(|tables| tables.backtracking.as_ref());
        backtracking
            .is_some_and(|backtracking| backtracking.push_merged(row, &mut scratch.backtracking, out))
    }

    /// Return whether a text is among those that are merged by lookups, and count it.
    #[inline]
    fn is_among_first(&self, text: &str) -> bool {
        text.len() <= MAX_FIRST_BYTES && self.tables.count_lookup()
    }

    /// Return the tables to merge in linear time, if the model has them; build them now if nobody does. `None` while
    /// another thread builds them.
    #[inline]
    fn backtracking(&self, vocab: &Vocab) -> Option<&ScoredBacktracking> {
        let tables = self.tables.get_or_build(|| self.build_tables(vocab));
        tables.and_then(|tables| tables.backtracking.as_ref())
    }

    /// Return the tables; build them now if they are not built, even if another thread builds them.
    fn made_tables(&self, vocab: &Vocab) -> Option<&ScoredTables> {
        let make = || self.build_tables(vocab).map(|tables| self.tables.get_or_make(|| tables));
        self.tables.get().or_else(make)
    }

    #[cold]
    fn build_tables(&self, vocab: &Vocab) -> Option<ScoredTables> {
        let texts = PieceTexts { pieces: &self.pieces, vocab };
        // A trie of so few bytes has no more states than its bound; lookups would replace it.
        ScoredTables::build(texts, &self.ranks, self.tables.stored()).ok()
    }

    /// Segment a text of any length from a byte on by the heap.
    fn merge_all(
        &self,
        (text, from): (&str, usize),
        vocab: &Vocab,
        scratch: &mut ScoredBpeScratch,
        mut rng: Option<&mut SamplingRng>,
        writer: &mut PieceWriter<'_, impl TokenSink>,
    ) {
        let ScoredBpeScratch { symbols, links, queue, left_lengths, pending, .. } = scratch;
        symbols.clear();
        left_lengths.clear();
        self.pieces.for_each_symbol(text, from, |start, end, is_fixed| {
            let id = if is_fixed { FIXED } else { 0 };
            symbols.push(Symbol { id, rank: NO_RANK, start: start as u32, end: end as u32 });
        });
        let mut merges = ScoredMerges { model: self, text, vocab, left_lengths };
        rank_all(symbols, &mut merges);
        let skips = || rng.as_mut().is_some_and(|rng| rng.drops());
        merge_by_heap(symbols, &mut merges, (links, queue), skips);
        for symbol in symbols {
            interrupt::check(1);
            pending.push((symbol.start as usize, symbol.end as usize));
            while let Some((start, end)) = pending.pop() {
                let id = self.pieces.id_of(&text[start..end], vocab);
                match left_lengths.get(&id).filter(|_| self.pieces.is_unused(id)) {
                    Some(left) => pending.extend([(start + left, end), (start, start + left)]),
                    None => writer.push(id, start, end),
                }
            }
        }
    }
}

impl ScoredTables {
    /// Build the tables; read those that `sections` contains.
    fn build(pieces: PieceTexts<'_>, ranks: &[u32], sections: &TableSections) -> Result<Self, Error> {
        let trie = PieceTrie::build(pieces)?;
        Ok(Self { backtracking: ScoredBacktracking::compile(pieces, ranks, &trie, sections), trie })
    }
}

/// The merges of a text. The number of a merge is the id of the piece that it makes; its priority is the rank of the
/// score.
struct ScoredMerges<'a> {
    model: &'a ScoredBpe,
    text: &'a str,
    vocab: &'a Vocab,
    left_lengths: &'a mut HashMap<u32, usize>,
}

impl ScoredMerges<'_> {
    /// Return the id of the piece that matches a text.
    #[inline]
    fn id_of(&self, text: &str) -> Option<u32> {
        match self.model.tables.get() {
            Some(tables) => tables.trie.id_of(text),
            None => PieceTexts { pieces: &self.model.pieces, vocab: self.vocab }.id_of(text),
        }
    }
}

impl MergeLookup for ScoredMerges<'_> {
    #[inline]
    fn rank(&mut self, left: &Symbol, right: &Symbol) -> u32 {
        let (start, end) = (left.start as usize, right.end as usize);
        if left.id == FIXED || right.id == FIXED || end - start > self.model.longest {
            return NO_RANK;
        }
        let Some(id) = self.id_of(&self.text[start..end]) else { return NO_RANK };
        if self.model.has_unused && self.model.pieces.is_unused(id) {
            self.left_lengths.insert(id, left.end as usize - start);
        }
        id
    }

    #[inline]
    fn merged(&self, rank: u32) -> u32 {
        rank
    }

    #[inline]
    fn priority(&self, rank: u32) -> u32 {
        self.model.ranks[rank as usize]
    }
}

/// Return the ranks of scores, the highest first; equal scores have the same rank.
fn ranks(pieces: &[ScoredPiece]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    let score = |&at: &usize| pieces[at].score;
    // Scores are finite; adding 0 turns -0 into 0.
    order.sort_by(|one, other| (score(other) + 0.0).total_cmp(&(score(one) + 0.0)));
    let mut ranks = vec![0; pieces.len()];
    for (rank, equals) in (0..).zip(order.chunk_by(|one, other| score(one) == score(other))) {
        equals.iter().for_each(|&at| ranks[at] = rank);
    }
    ranks
}
