//! BPE by scores, as in SentencePiece: merges adjacent symbols whose text is a piece, the highest score first, the
//! leftmost of equal ones; splits unused pieces again. O(n log n).
//!
//! This is the definition. [`backtracking`] segments most models in linear time.
//!
//! ```text
//! backtracking  the merges in linear time, from left to right
//! equal_scores  the last merges, if several pieces have the lowest score
//! ascii_merges  batches of short words
//! piece_trie    pieces by their text
//! ```

mod ascii_merges;
mod backtracking;
mod equal_scores;
mod piece_trie;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;

use self::backtracking::{ScoredBacktracking, ScoredBacktrackingScratch};
use self::piece_trie::PieceTrie;
use super::merge_by_heap::{self, MergeQueue};
use super::merges::NO_RANK;
use super::symbols::{rank_all, MergeLookup, Symbol, SymbolLinks};
use crate::error::Error;
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
    left_lengths: FxHashMap<u32, usize>,
    pending: Vec<(usize, usize)>,
    backtracking: ScoredBacktrackingScratch,
}

/// The id of a user-defined piece while the others are merged: it merges with nothing.
const FIXED: u32 = u32::MAX;

impl ScoredBpe {
    /// Check the pieces and build the tables; read those that `sections` contains.
    pub(in crate::model) fn restore(
        spec: &SentencePieceSpec,
        vocab: &Vocab,
        sections: &TableSections,
    ) -> Result<Self, Error> {
        let pieces = Pieces::compile(spec, vocab)?;
        let (ranks, trie) = (ranks(&spec.pieces), PieceTrie::build(&spec.pieces)?);
        Ok(Self {
            pieces,
            longest: spec.pieces.iter().map(|piece| piece.text.len()).max().unwrap_or(0),
            has_unused: spec.pieces.iter().any(|piece| piece.kind == PieceType::Unused),
            backtracking: ScoredBacktracking::compile(&spec.pieces, &ranks, &trie, sections),
            ranks,
            trie,
        })
    }

    /// Return the pieces of the model.
    #[must_use]
    pub fn pieces(&self) -> &Pieces {
        &self.pieces
    }

    /// Add the table sections of tables that take long to build.
    pub(in crate::model) fn store(&self, sections: &mut TableSections) {
        if let Some(backtracking) = &self.backtracking {
            backtracking.store(sections);
        }
    }

    /// Return the bytes of memory of the other tables of backtracking.
    pub(in crate::model) fn derived_bytes(&self) -> usize {
        self.backtracking.as_ref().map_or(0, ScoredBacktracking::bytes)
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
        if rng.is_none() {
            if let Some(backtracking) = &self.backtracking {
                let symbols = (&self.pieces, vocab);
                done = backtracking.run(text, symbols, &mut scratch.backtracking, &mut writer);
            }
        }
        if done < text.len() {
            self.merge_all((text, done), vocab, scratch, rng, &mut writer);
        }
        writer.finish();
    }

    /// Return whether short words can be merged in batches.
    #[must_use]
    pub fn merges_in_batches(&self) -> bool {
        self.backtracking.as_ref().is_some_and(ScoredBacktracking::merges_in_batches)
    }

    /// Merge up to `MAX_WORDS` words, given as ASCII with spaces instead of metaspaces, of at most
    /// `ShortWordBatch::MAX_BYTES`.
    pub(crate) fn merge_batch(&self, words: &[&[u8]], scratch: &mut ScoredBpeScratch) {
        if let Some(backtracking) = &self.backtracking {
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
        let backtracking = self.backtracking.as_ref();
        backtracking
            .is_some_and(|backtracking| backtracking.push_merged(row, &mut scratch.backtracking, out))
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
        let mut merges = ScoredMerges { model: self, text, left_lengths };
        rank_all(symbols, &mut merges);
        let skips = || rng.as_mut().is_some_and(|rng| rng.drops());
        merge_by_heap::merge(symbols, &mut merges, (links, queue), skips);
        for symbol in symbols {
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

/// The merges of a text. The number of a merge is the id of the piece that it makes; its priority is the rank of the
/// score.
struct ScoredMerges<'a> {
    model: &'a ScoredBpe,
    text: &'a str,
    left_lengths: &'a mut FxHashMap<u32, usize>,
}

impl MergeLookup for ScoredMerges<'_> {
    #[inline]
    fn rank(&mut self, left: &Symbol, right: &Symbol) -> u32 {
        let (start, end) = (left.start as usize, right.end as usize);
        if left.id == FIXED || right.id == FIXED || end - start > self.model.longest {
            return NO_RANK;
        }
        let Some(id) = self.model.trie.id_of(&self.text[start..end]) else { return NO_RANK };
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
